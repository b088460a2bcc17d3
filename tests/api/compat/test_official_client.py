"""OpenAI's own Python client against the compatible routes."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from pincite.api.compat.openai_requests import MODEL_NAME
from pincite.providers.scripted import Options, ScriptedLLM
from tests.api.live_server import LiveServer
from tests.api.models import speaking

if TYPE_CHECKING:
    import openai  # below where it is needed: it takes as long to load as a tenth of the tests to collect

LEAVE = "# Leave\n\n## Carrying over\n\nUp to five vacation days carry over into the next year.\n"
ASKED: Any = [{"role": "user", "content": "How many vacation days carry over?"}]
QUOTE = "Up to five vacation days carry over into the next year."
HERE = {"folder": "official", "no_cache": True}
TOOL: Any = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}


@pytest.fixture(scope="module")
def document(live_server: LiveServer) -> dict[str, Any]:
    return live_server.add("official", leave=LEAVE)["leave"]


@pytest.fixture
def official(live_server: LiveServer, document: dict[str, Any]) -> "Iterator[openai.OpenAI]":
    import openai

    with live_server.client() as plain:
        key, address = plain.headers["authorization"].removeprefix("Bearer "), str(plain.base_url)
    with openai.OpenAI(api_key=key, base_url=f"{address.rstrip('/')}/v1", max_retries=0) as client:
        yield client


def assert_cites(text: str, start: int, end: int, url: str, title: str, document: dict[str, Any]) -> None:
    assert text[start:end] == "[Source 1]"
    assert url.endswith(f"/documents/{document['id']}")
    assert title == "Leave"


def test_a_completion_has_its_citations_as_annotations(official: "openai.OpenAI", document: dict[str, Any]) -> None:
    told = official.chat.completions.create(model=MODEL_NAME, messages=ASKED, extra_body=HERE)
    message = told.choices[0].message
    assert QUOTE in (message.content or "")
    assert message.annotations
    [one] = [annotation.url_citation for annotation in message.annotations]
    assert_cites(message.content or "", one.start_index, one.end_index, one.url, one.title, document)
    assert told.warnings == []  # type: ignore[attr-defined]


def test_the_stream_helper_keeps_the_annotations(official: "openai.OpenAI", document: dict[str, Any]) -> None:
    with official.chat.completions.stream(model=MODEL_NAME, messages=ASKED, extra_body=HERE) as stream:
        final = stream.get_final_completion().choices[0].message
    assert final.annotations
    [one] = [annotation.url_citation for annotation in final.annotations]
    assert_cites(final.content or "", one.start_index, one.end_index, one.url, one.title, document)


def test_annotations_of_a_replaced_answer_point_into_the_streamed_text(
    live_server: LiveServer, official: "openai.OpenAI", document: dict[str, Any]
) -> None:
    llm = ScriptedLLM(Options(answers=("Up to 30 vacation days carry over. [Source 1]",)))
    with (
        speaking(live_server, llm),
        official.chat.completions.stream(model=MODEL_NAME, messages=ASKED, extra_body=HERE) as stream,
    ):
        final = stream.get_final_completion().choices[0].message
    assert final.annotations
    one = final.annotations[-1].url_citation
    assert "30 vacation days" in (final.content or "")[: one.start_index]
    assert_cites(final.content or "", one.start_index, one.end_index, one.url, one.title, document)


def test_a_response_has_text_and_annotations(official: "openai.OpenAI", document: dict[str, Any]) -> None:
    told = official.responses.create(model=MODEL_NAME, input=ASKED[0]["content"], extra_body=HERE)
    assert (told.status, told.model) == ("completed", MODEL_NAME)
    assert QUOTE in told.output_text
    [one] = told.output[0].content[0].annotations  # type: ignore[union-attr]
    assert_cites(told.output_text, one.start_index, one.end_index, one.url, one.title, document)  # type: ignore[union-attr,arg-type]
    assert told.usage is not None
    assert told.usage.total_tokens == 0


def test_a_response_is_streamed_with_the_same_text(official: "openai.OpenAI", document: dict[str, Any]) -> None:
    kinds, text = [], ""
    with official.responses.stream(model=MODEL_NAME, input=ASKED, extra_body=HERE) as stream:
        for event in stream:
            kinds.append(event.type)
            text += event.delta if event.type == "response.output_text.delta" else ""
        final = stream.get_final_response()
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds[-1] == "response.completed"
    assert "response.output_text.annotation.added" in kinds
    assert final.output_text == text
    [one] = final.output[0].content[0].annotations  # type: ignore[union-attr]
    assert_cites(text, one.start_index, one.end_index, one.url, one.title, document)  # type: ignore[union-attr,arg-type]


def test_a_response_takes_instructions_parts_and_earlier_messages(
    live_server: LiveServer, official: "openai.OpenAI"
) -> None:
    shown: list[str] = []

    class Listener(ScriptedLLM):
        def write(self, prompt: Any) -> Any:
            shown.append("\n".join(message.content for message in prompt.messages))
            return super().write(prompt)

    items: Any = [
        {"role": "user", "content": "Tell me about leave."},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "There is a policy."}]},
        {"role": "user", "content": [{"type": "input_text", "text": ASKED[0]["content"]}]},
    ]
    with speaking(live_server, Listener(Options(answers=("Up to five. [Source 1]",)))):
        told = official.responses.create(
            model=MODEL_NAME, input=items, instructions="Answer in rhymes.", max_output_tokens=50, extra_body=HERE
        )
    assert "Up to five" in told.output_text
    assert "Answer in rhymes." in shown[-1]
    assert "There is a policy." in shown[-1]


def test_what_is_ignored_is_told(official: "openai.OpenAI") -> None:
    told: Any = official.chat.completions.create(
        model="gpt-4o", messages=ASKED, tools=[TOOL], max_tokens=5, stop=["vacation"], seed=3, extra_body=HERE
    )
    assert told.model == MODEL_NAME
    said = "\n".join(told.warnings)
    assert all(name in said for name in ("tools:", "'gpt-4o'", "max_tokens:", "stop:", "are ignored: seed"))
    response: Any = official.responses.create(
        model=MODEL_NAME, input="How many vacation days?", reasoning={"effort": "low"}, extra_body=HERE
    )
    assert "these options are ignored: reasoning" in response.warnings


def test_results_of_tools_are_passed_over_with_a_warning(official: "openai.OpenAI") -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    messages: Any = [
        *ASKED,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "nothing"},
    ]
    told: Any = official.chat.completions.create(model=MODEL_NAME, messages=messages, extra_body=HERE)
    assert QUOTE in told.choices[0].message.content
    assert "results of tools are not used" in told.warnings[0]


@pytest.mark.parametrize(
    ("options", "param", "said"),
    [
        ({"temperature": 3}, "temperature", "temperature: must be at most 2"),
        ({"max_completion_tokens": 0}, "max_completion_tokens", "must be at least 1"),
        ({"response_format": {"type": "json_object"}}, "response_format", "never json_object"),
        ({"tools": [TOOL], "tool_choice": "required"}, "tool_choice", "calls no tools"),
        ({"messages": [{"role": "user", "content": "x" * 200_000}]}, "messages.0.content", "100,000 characters"),
        ({"messages": [{"role": "assistant", "content": "x"}]}, None, "role user"),
    ],
)
def test_wrong_values_are_bad_requests_with_the_name_that_was_sent(
    official: "openai.OpenAI", options: dict[str, Any], param: str | None, said: str
) -> None:
    import openai

    with pytest.raises(openai.BadRequestError) as raised:
        official.chat.completions.create(**{"model": MODEL_NAME, "messages": ASKED, **options})
    assert raised.value.param == param
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("options", "param"),
    [
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"text": {"format": {"type": "json_object"}}}, "text.format"),
        ({"temperature": 3}, "temperature"),
        ({"max_output_tokens": 0}, "max_output_tokens"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, "input.0.type"),
        ({"input": [{"role": "nobody", "content": "x"}]}, "input.0.role"),
    ],
)
def test_a_response_that_cannot_be_is_refused(official: "openai.OpenAI", options: dict[str, Any], param: str) -> None:
    import openai

    with pytest.raises(openai.BadRequestError) as raised:
        official.responses.create(**{"model": MODEL_NAME, "input": "x", **options})
    assert raised.value.param == param


def test_many_texts_and_tokens_become_vectors(official: "openai.OpenAI") -> None:
    import openai

    many = official.embeddings.create(model="any", input=["hello world"] * 300)
    assert len(many.data) == 300
    tokens = official.embeddings.create(model="any", input=[[15339, 1917], [15339, 1917]])  # cl100k_base
    assert tokens.data[1].embedding == pytest.approx(many.data[299].embedding)
    assert official.embeddings.create(model="any", input=[15339, 1917]).usage.total_tokens == 2
    with pytest.raises(openai.BadRequestError):
        official.embeddings.create(model="any", input=["x"] * 2049)


def test_models_and_errors_are_those_of_the_client(official: "openai.OpenAI") -> None:
    import openai

    assert MODEL_NAME in [one.id for one in official.models.list()]
    with pytest.raises(openai.NotFoundError):
        official.models.retrieve("gpt-4o")
    with pytest.raises(openai.AuthenticationError):
        official.with_options(api_key="wrong").models.list()
