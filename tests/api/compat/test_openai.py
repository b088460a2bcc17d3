"""The routes compatible with OpenAI's API, as its clients use them."""

import base64
import json
import struct
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from pincite.api.compat.openai_requests import MODEL_NAME
from pincite.core.query.prompt import Prompt, StreamPart
from pincite.errors import ProviderError
from pincite.providers.scripted import Options, ScriptedLLM
from pincite.serialize.answers import footnotes
from tests.api.live_server import LiveServer
from tests.api.models import speaking

LEAVE = "# Leave\n\n## Carrying over\n\nUp to five vacation days carry over into the next year.\n"
ASKED = "How many vacation days carry over?"
PATH = "/v1/chat/completions"


@pytest.fixture(scope="module")
def leave(live_server: LiveServer) -> str:
    live_server.add("openai", leave=LEAVE)
    return "openai"


def asked(*said: str, **more: Any) -> dict[str, Any]:
    """What the official client sends for a conversation: every other message is the assistant's."""
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(said or (ASKED,))]
    return {"model": MODEL_NAME, "messages": messages, "folder": "openai", "no_cache": True, **more}


def chunks(response: httpx2.Response) -> list[dict[str, Any]]:
    """The chunks of a stream, which ends with [DONE] and has no names of events."""
    lines = [line for line in response.iter_lines() if line]
    assert all(line.startswith("data: ") for line in lines)
    assert lines[-1] == "data: [DONE]"
    return [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]


def assert_error(response: httpx2.Response, status: int, kind: str, code: str | None = None) -> str:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    error = response.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["type"] == kind
    assert code in (None, error["code"])
    return str(error["message"])


def test_a_question_is_answered_as_a_completion(client: httpx2.Client, leave: str) -> None:
    told = client.post(PATH, json=asked()).json()
    assert told["id"].startswith("chatcmpl-")
    assert (told["object"], told["model"]) == ("chat.completion", MODEL_NAME)
    assert isinstance(told["created"], int)
    [choice] = told["choices"]
    assert (choice["index"], choice["finish_reason"], choice["message"]["role"]) == (0, "stop", "assistant")
    assert set(told["usage"]) == {"prompt_tokens", "completion_tokens", "total_tokens"}


def test_sources_are_footnotes_and_a_field_of_their_own(client: httpx2.Client, leave: str) -> None:
    told = client.post(PATH, json=asked()).json()
    content = told["choices"][0]["message"]["content"]
    answer, _, notes = content.partition("\n\nSources:\n")
    assert "Up to five vacation days carry over into the next year. [Source 1]" in answer
    assert notes == "- [Source 1] Leave > Carrying over (leave.md, lines 1–5)"
    [cited] = [source for source in told["sources"] if source["cited"]]
    assert cited["document_name"] == "leave.md"
    [citation] = told["citations"]
    assert answer[citation["start"] : citation["end"]] == "[Source 1]"
    assert citation["quote"] == "Up to five vacation days carry over into the next year."


def test_a_stream_is_the_same_in_chunks(client: httpx2.Client, leave: str) -> None:
    whole = client.post(PATH, json=asked()).json()["choices"][0]["message"]["content"]
    with client.stream("POST", PATH, json=asked(stream=True)) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        told = chunks(response)
    assert {one["object"] for one in told} == {"chat.completion.chunk"}
    assert len({one["id"] for one in told}) == 1
    assert told[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert "".join(one["choices"][0]["delta"].get("content", "") for one in told) == whole
    assert [one["choices"][0]["finish_reason"] for one in told][-2:] == [None, "stop"]
    assert told[-1]["sources"]
    assert told[-1]["citations"]


def test_a_stream_reports_usage_on_request(client: httpx2.Client, leave: str) -> None:
    wished = asked(stream=True, stream_options={"include_usage": True})
    with client.stream("POST", PATH, json=wished) as response:
        last = chunks(response)[-1]
    assert last["choices"] == []
    assert set(last["usage"]) == {"prompt_tokens", "completion_tokens", "total_tokens"}


def test_an_answer_that_comes_at_once_is_streamed_whole(client: httpx2.Client, leave: str) -> None:
    with client.stream("POST", PATH, json=asked("Zebra quartz violin?", stream=True)) as response:
        told = chunks(response)
    assert "".join(one["choices"][0]["delta"].get("content", "") for one in told)
    assert not any(source["cited"] for source in told[-1]["sources"])


class Listener(ScriptedLLM):
    """Remembers what it was shown."""

    def __init__(self, *answers: str) -> None:
        super().__init__(Options(answers=answers))
        self.prompts: list[Prompt] = []

    def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        self.prompts.append(prompt)
        return super().write(prompt)


def test_system_messages_earlier_turns_and_sampling_reach_the_model(
    live_server: LiveServer, client: httpx2.Client, leave: str
) -> None:
    listener = Listener("Up to five. [Source 1]")
    body = asked(
        "Tell me about leave.",
        "There is a policy.",
        ASKED,
        temperature=0.2,
        top_p=0.5,
        max_completion_tokens=77,
        stop="END",
        model="some-model",
        frequency_penalty=0.1,
        logit_bias={"1": 2},
        user="u",
        seed=7,
        response_format={"type": "text"},
    )
    body["messages"].insert(0, {"role": "developer", "content": "Answer in rhymes."})
    body["messages"].insert(2, {"role": "tool", "tool_call_id": "x", "content": "ignored"})
    with speaking(live_server, listener):
        told = client.post(PATH, json=body).json()
    prompt = listener.prompts[-1]
    shown = "\n".join(message.content for message in prompt.messages)
    assert "Answer in rhymes." in shown
    assert "There is a policy." in shown
    assert "ignored" not in shown
    sampling = prompt.sampling
    assert (sampling.temperature, sampling.top_p, sampling.max_tokens) == (0.2, 0.5, 77)
    assert (sampling.stop, sampling.model) == (("END",), "some-model")
    assert told["model"] == "some-model"
    assert told["usage"]["total_tokens"] == told["usage"]["prompt_tokens"] + told["usage"]["completion_tokens"] > 0


def test_a_replaced_answer_follows_the_streamed_one(live_server: LiveServer, client: httpx2.Client, leave: str) -> None:
    with speaking(live_server, Listener("Up to 30 vacation days carry over. [Source 1]")):
        with client.stream("POST", PATH, json=asked(stream=True)) as response:
            told = chunks(response)
        whole = client.post(PATH, json=asked()).json()
    text = "".join(one["choices"][0]["delta"].get("content", "") for one in told)
    assert text.startswith("Up to 30 vacation days carry over. [Source 1]\n\n---\n\n**the sources do not support")
    assert "Up to five vacation days carry over into the next year. [Source 1]\n\nSources:\n" in text
    assert "30" not in whole["choices"][0]["message"]["content"]
    assert "scripted" in whole["warnings"][0]


def test_content_may_come_in_parts(client: httpx2.Client, leave: str) -> None:
    body = asked()
    body["messages"][0]["content"] = [
        {"type": "text", "text": "How many vacation days"},
        {"type": "text", "text": "carry over?"},
    ]
    assert "five vacation days" in client.post(PATH, json=body).json()["choices"][0]["message"]["content"]


def test_a_profile_is_chosen_by_the_models_name(client: httpx2.Client, leave: str) -> None:
    told = client.post(PATH, json=asked(model=f"{MODEL_NAME}:five-stage")).json()
    assert any(note["stage"] == "profile" for note in told["degraded"])
    assert "there is no profile 'nosuch'" in assert_error(
        client.post(PATH, json=asked(model=f"{MODEL_NAME}:nosuch")), 400, "invalid_request_error"
    )


def test_a_cut_answer_ends_for_length(live_server: LiveServer, client: httpx2.Client, leave: str) -> None:
    class Short(ScriptedLLM):
        async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
            yield StreamPart("Up to five vacation days")
            yield StreamPart(finish_reason="length", model="short")

    with speaking(live_server, Short(Options())):
        told = client.post(PATH, json=asked()).json()
    assert told["choices"][0]["finish_reason"] == "length"
    assert told["usage"] is None  # the model did not say


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "assistant", "content": "x"}]}, "must have the role user"),
        ({"messages": [{"role": "user", "content": "x"}], "n": 2}, "n"),
        ({"messages": [{"role": "user", "content": "x"}], "temperature": 9}, "temperature"),
        ({"messages": [{"role": "user", "content": " "}]}, "empty"),
        ({"messages": [{"role": "user", "content": "x"}], "max_tokens": 1, "max_completion_tokens": 2}, "max_tokens"),
    ],
)
def test_an_invalid_request_is_an_error_in_openais_format(
    client: httpx2.Client, body: dict[str, Any], said: str
) -> None:
    assert said in assert_error(client.post(PATH, json=body), 400, "invalid_request_error")


def test_all_errors_have_openais_format(client: httpx2.Client, anyone: httpx2.Client) -> None:
    refused = anyone.post(PATH, json=asked())
    assert_error(refused, 401, "authentication_error", "unauthorized")
    assert refused.headers["www-authenticate"] == "Bearer"
    assert_error(client.get("/v1/nothing"), 404, "not_found_error")
    assert_error(
        client.post(PATH, content=b"{", headers={"Content-Type": "application/json"}), 400, "invalid_request_error"
    )


def test_a_failed_stream_ends_with_an_error_in_openais_format(
    live_server: LiveServer, client: httpx2.Client, leave: str
) -> None:
    class Bug(ScriptedLLM):
        async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
            yield StreamPart("Up to five vacation days carry over into the next year, ")
            raise RuntimeError("a bug")

    with speaking(live_server, Bug(Options())), client.stream("POST", PATH, json=asked(stream=True)) as response:
        lines = [line for line in response.iter_lines() if line]
    assert json.loads(lines[-1].removeprefix("data: "))["error"]["type"] == "server_error"


def test_a_model_that_is_down_is_reported_and_the_answer_extracted(
    live_server: LiveServer, client: httpx2.Client, leave: str
) -> None:
    class Down(ScriptedLLM):
        async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
            raise ProviderError("gone")
            yield

    with speaking(live_server, Down(Options())):
        told = client.post(PATH, json=asked()).json()
    assert [note["stage"] for note in told["degraded"]] == ["llm_generation"]
    assert "five vacation days" in told["choices"][0]["message"]["content"]


def test_models_are_listed_and_shown(client: httpx2.Client, live_server: LiveServer) -> None:
    told = client.get("/v1/models").json()
    names = [one["id"] for one in told["data"]]
    assert told["object"] == "list"
    assert names[:2] == [MODEL_NAME, f"{MODEL_NAME}:default"]
    assert names[-1] == live_server.pincite.services.embedder.name
    for name in names:
        assert client.get(f"/v1/models/{name}").json() == {
            "id": name,
            "object": "model",
            "created": 0,
            "owned_by": MODEL_NAME,
        }
    assert_error(client.get("/v1/models/gpt-4"), 404, "not_found_error", "model_not_found")


def test_texts_become_vectors_as_numbers_or_packed(client: httpx2.Client, live_server: LiveServer) -> None:
    told = client.post("/v1/embeddings", json={"model": "any", "input": ["cats", "dogs"], "user": "u"}).json()
    assert (told["object"], told["model"]) == ("list", live_server.pincite.services.embedder.name)
    assert [(one["object"], one["index"]) for one in told["data"]] == [("embedding", 0), ("embedding", 1)]
    assert told["usage"]["prompt_tokens"] == told["usage"]["total_tokens"] > 0
    packed = client.post("/v1/embeddings", json={"model": "any", "input": "cats", "encoding_format": "base64"}).json()
    raw = base64.b64decode(packed["data"][0]["embedding"])
    assert struct.unpack(f"<{len(raw) // 4}f", raw) == pytest.approx(told["data"][0]["embedding"], abs=1e-6)


@pytest.mark.parametrize(
    "body",
    [{"input": ""}, {"input": []}, {"input": [[1, 2, 10**6]]}, {"input": [[]]}, {"input": "x", "dimensions": 3}, {}],
)
def test_what_cannot_be_embedded_is_an_error(client: httpx2.Client, body: dict[str, Any]) -> None:
    assert_error(client.post("/v1/embeddings", json=body), 400, "invalid_request_error")


def test_footnotes_name_what_was_cited_as_it_was_cited() -> None:
    source = {
        "number": 2,
        "title": "Leave",
        "heading_path": ("Leave", "Sick"),
        "document_id": "d",
        "document_name": "l.pdf",
        "folder": "hr",
        "start_line": 1,
        "end_line": 2,
        "page": 3,
        "place": None,
        "urls": ("https://example.org/l",),
    }
    citations = [{"source": 2, "text": "[Leave > Sick]"}, {"source": None, "text": "[Ghost]"}]
    assert footnotes({"sources": [source], "citations": citations}) == (
        "\n\nSources:\n- [Leave > Sick] Leave > Sick (l.pdf, page 3, lines 1–2, https://example.org/l)"
    )
    assert footnotes({"sources": [source], "citations": []}) == ""
