"""The stub over real connections: what a client sees of each fault, and what the log says afterwards."""

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from pincite.errors import SettingsError
from pincite.stub import StubLLM, StubServer
from pincite.stub.faults import HARMLESS_FAULTS

TEXT = "Größe: 5 €, 🎉 — [Source 1]"


@pytest.fixture(scope="module")
def running() -> Iterator[StubLLM]:
    with StubLLM() as stub:
        yield stub


@pytest.fixture
def stub(running: StubLLM) -> StubLLM:
    running.play()
    return running


@pytest.fixture
def client(stub: StubLLM) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=stub.url, timeout=30) as client:
        yield client


def play(stub: StubLLM, *faults: str, **script: Any) -> None:
    stub.play(**{"answers": [TEXT], "faults": faults, **script})


def stream(client: httpx2.Client, **more: Any) -> bytes:
    body = {"model": "m", "messages": [{"role": "user", "content": "q"}], "stream": True, **more}
    with client.stream("POST", "chat/completions", json=body) as response:
        assert response.status_code == 200
        return b"".join(response.iter_raw())


def whole(client: httpx2.Client) -> httpx2.Response:
    return client.post("chat/completions", json={"model": "m", "messages": [{"role": "user", "content": "q"}]})


def events(data: bytes) -> list[Any]:
    lines = data.decode("utf-8-sig").splitlines()
    found = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
    return [json.loads(event) for event in found if event != "[DONE]"]


def text_of(data: bytes) -> str:
    choices = [choice for event in events(data) for choice in event["choices"]]
    return "".join(choice["delta"].get("content", "") for choice in choices)


def test_a_completion_is_the_same_streamed_and_whole(stub: StubLLM, client: httpx2.Client) -> None:
    play(stub, answers=[TEXT, TEXT])
    data = stream(client, stream_options={"include_usage": True})
    assert text_of(data) == TEXT
    assert data.endswith(b"data: [DONE]\n\n")
    assert events(data)[-2]["choices"][0]["finish_reason"] == "stop"
    assert events(data)[-1]["usage"]["completion_tokens"] == 7
    answer = whole(client).json()["choices"][0]
    assert (answer["message"]["content"], answer["finish_reason"]) == (TEXT, "stop")


@pytest.mark.parametrize("fault", HARMLESS_FAULTS)
def test_a_harmless_fault_changes_the_bytes_and_not_the_words(stub: StubLLM, client: httpx2.Client, fault: str) -> None:
    play(stub, fault)
    body = {"model": "m", "messages": [], "stream": True}
    with client.stream("POST", "chat/completions", json=body) as response:
        chunks = list(response.iter_raw())
    assert text_of(b"".join(chunks).replace(b"\r\n", b"\n")) == TEXT
    broken = [chunk for chunk in chunks if not _is_text(chunk)]
    expected = {
        "bytes": all(len(chunk) == 1 for chunk in chunks),
        "split": bool(broken),
        "crlf": any(chunk.endswith(b"\r") for chunk in chunks),
        "comments": any(chunk.startswith(b":") for chunk in chunks),
        "bom": chunks[0].startswith(b"\xef\xbb\xbf"),
    }
    assert expected[fault]


def _is_text(chunk: bytes) -> bool:
    try:
        chunk.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize("fault", ["cut", "reset", "cut:0"])
def test_a_cut_connection_is_reset(stub: StubLLM, client: httpx2.Client, fault: str) -> None:
    play(stub, fault)
    with pytest.raises(httpx2.ReadError):
        stream(client)
    with pytest.raises(httpx2.ReadError):
        whole(client)


def test_a_clean_end_without_a_finish(stub: StubLLM, client: httpx2.Client) -> None:
    play(stub, "eof:2")
    data = stream(client)
    assert text_of(data) == "Größe: 5"
    assert b"[DONE]" not in data
    with pytest.raises(httpx2.RemoteProtocolError):
        whole(client)


@pytest.mark.parametrize(
    ("fault", "rubbish"), [("malformed", b'[{"del\n\n'), ("shape", b'"none"}\n\n'), ("error", b'"stub_fault"}}\n\n')]
)
def test_an_invalid_payload_in_a_stream(stub: StubLLM, client: httpx2.Client, fault: str, rubbish: bytes) -> None:
    play(stub, fault)
    data = stream(client)
    assert data.endswith(rubbish)
    assert data.count(b"data: ") == 4
    assert "message" not in str(whole(client).text) or fault == "error"


@pytest.mark.parametrize("fault", ["silent", "hang", "hang:2"])
@pytest.mark.parametrize("ask", [stream, whole])
def test_a_server_that_hangs_and_a_client_that_leaves(
    stub: StubLLM, client: httpx2.Client, fault: str, ask: Any
) -> None:
    play(stub, fault)
    client.timeout = httpx2.Timeout(0.1)
    with pytest.raises(httpx2.ReadTimeout):
        ask(client)
    left = time.monotonic()
    assert stub.wait_for(lambda calls: bool(calls) and calls[0].ended is not None)
    [call] = stub.calls
    assert call.left
    assert call.ended is not None
    assert abs(call.ended - left) < 2
    assert call.tokens == (2 if fault == "hang:2" and ask is stream else 0)


def test_endless_talk_ends_when_the_client_leaves(stub: StubLLM, client: httpx2.Client) -> None:
    play(stub, "endless")
    body = {"messages": [], "stream": True, "max_tokens": 3}
    with client.stream("POST", "chat/completions", json=body) as response:
        for count, _ in enumerate(response.iter_raw()):
            if count > 50:
                break
    assert stub.wait_for(lambda calls: bool(calls) and calls[0].left)


def test_a_status_comes_with_its_hint_at_the_calls_named(stub: StubLLM, client: httpx2.Client) -> None:
    play(stub, "429:7@2", "503@3")
    answers = [whole(client) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 429, 503, 200]
    assert [answer.headers.get("retry-after") for answer in answers] == [None, "7", "1", None]
    assert "429" in answers[1].json()["error"]["message"]
    assert [call.fault for call in stub.calls] == ["", "429", "503", ""]


def test_no_answer_a_tool_or_a_web_page_instead_of_one(stub: StubLLM, client: httpx2.Client) -> None:
    play(stub, "empty@1", "tools@2-3", "html@4")
    assert text_of(stream(client)) == ""
    [tool] = [call for event in events(stream(client)) for call in event["choices"][0]["delta"].get("tool_calls", ())]
    assert tool["function"] == {"name": "rag_search", "arguments": '{"queries": ["q"]}'}
    assert whole(client).json()["choices"][0]["message"]["tool_calls"][0]["id"] == "call_0"
    assert whole(client).headers["content-type"] == "text/html"


def test_tokens_take_the_time_they_are_told_to(stub: StubLLM, client: httpx2.Client) -> None:
    play(stub, first_token_ms=40, token_ms=10)
    began = time.monotonic()
    stream(client)
    assert time.monotonic() - began >= 0.09


def test_embeddings_of_similar_texts_are_near(stub: StubLLM, client: httpx2.Client) -> None:
    body = {"model": "m", "input": ["cats purr loudly", "cats purr", "quarterly tax report"]}
    vectors = [item["embedding"] for item in client.post("embeddings", json=body).json()["data"]]
    near, far = (sum(x * y for x, y in zip(vectors[0], other, strict=True)) for other in vectors[1:])
    assert near > far + 0.3
    assert len(client.post("embeddings", json={"input": "x", "dimensions": 8}).json()["data"][0]["embedding"]) == 8


def test_texts_are_reranked_in_every_servers_shape(stub: StubLLM, client: httpx2.Client) -> None:
    asked = {"query": "why cats purr", "texts": ["tax", "cats purr", "cats"]}
    rows = client.post("rerank", json=asked).json()
    assert [row["index"] for row in rows] == [1, 2, 0]
    assert rows[0]["score"] > rows[1]["score"] > rows[2]["score"] == 0
    named = {"model": "m", "query": "why cats purr", "documents": asked["texts"], "top_n": 2}
    results = client.post("rerank", json=named).json()["results"]
    assert results == [{"index": row["index"], "relevance_score": row["score"]} for row in rows[:2]]
    assert [call.prompt for call in stub.calls] == ["tax\n\ncats purr\n\ncats"] * 2


@pytest.mark.parametrize("fault", ["500", "malformed", "shape", "error"])
def test_embeddings_and_model_lists_go_wrong_too(stub: StubLLM, client: httpx2.Client, fault: str) -> None:
    play(stub, fault)
    reranked = client.post("rerank", json={"query": "x", "texts": ["x"]})
    for answer in (client.post("embeddings", json={"input": "x"}), reranked, client.get("models")):
        assert b"embedding" not in answer.content
        assert b"index" not in answer.content
        assert b"stub-1" not in answer.content


def test_the_log_says_what_was_asked_but_not_the_key(stub: StubLLM, client: httpx2.Client) -> None:
    client.post(
        "chat/completions",
        json={"model": "m", "messages": [{"role": "user", "content": "Why?"}]},
        headers={"authorization": "Bearer secret", "x-request-id": "r1"},
    )
    log = httpx2.get(stub.url.replace("/v1", "/stub/calls"))
    [call] = log.json()["calls"]
    assert (call["number"], call["model"], call["prompt"], call["request_id"]) == (1, "m", "Why?", "r1")
    assert (call["client_left"], call["stream"]) == (False, False)
    assert "secret" not in log.text
    assert stub.calls[0].headers["authorization"] == "Bearer secret"
    httpx2.delete(stub.url.replace("/v1", "/stub/calls"))
    assert stub.calls == []


def test_a_script_can_be_changed_while_it_runs(stub: StubLLM, client: httpx2.Client) -> None:
    place = stub.url.replace("/v1", "/stub/script")
    assert httpx2.put(place, json=["New."]).status_code == 200
    assert whole(client).json()["choices"][0]["message"]["content"] == "New."
    wrong = httpx2.put(place, json={"fault": "x"})
    assert (wrong.status_code, "fault" in wrong.json()["error"]["message"]) == (422, True)


@pytest.mark.parametrize(("path", "words"), [("/chat/completions", "the base URL is"), ("/stub/x", "GET and DELETE")])
def test_a_wrong_path_is_told_with_the_right_one(stub: StubLLM, path: str, words: str) -> None:
    answer = httpx2.post(stub.url.removesuffix("/v1") + path, json={})
    assert (answer.status_code, words in answer.json()["error"]["message"]) == (404, True)


def test_an_invalid_http_request_is_refused(stub: StubLLM) -> None:
    def body() -> Iterator[bytes]:
        yield b"{}"

    assert httpx2.post(f"{stub.url}/embeddings", content=body()).status_code == 400


def test_a_port_in_use_is_told(stub: StubLLM) -> None:
    import asyncio

    port = int(stub.url.split(":")[2].removesuffix("/v1"))
    with pytest.raises(SettingsError, match="choose another"):
        asyncio.run(StubServer(port=port).start())


def test_leaving_the_block_cancels_running_replies() -> None:
    with StubLLM(faults=["hang"]) as stub, httpx2.Client(base_url=stub.url) as client:
        client.timeout = httpx2.Timeout(0.1)
        with pytest.raises(httpx2.ReadTimeout):
            stream(client)
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(f"{stub.url}/models")
