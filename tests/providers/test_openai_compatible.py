import asyncio
import math
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from pincite.core.answers import Message, Piece, Prompt, Sampling
from pincite.errors import ProviderError, SettingsError
from pincite.providers.openai_compatible import Options, make_embedder, make_llm
from tests.stub_openai import Stub, stub_server


@pytest.fixture
def stub() -> Iterator[Stub]:
    with stub_server() as started:
        yield started


def options(stub: Stub, **more: Any) -> Options:
    return Options(base_url=stub.url, model="m", dimensions=2, batch=2, **more)


def write(stub: Stub, prompt: Prompt | None = None, **more: Any) -> list[Piece]:
    async def go() -> list[Piece]:
        asked = prompt or Prompt("q", (Message("user", "q"),), (), 1)
        return [piece async for piece in make_llm(options(stub, **more)).write(asked)]

    return asyncio.run(go())


def embed(stub: Stub, *texts: str) -> list[list[float]]:
    return asyncio.run(make_embedder(options(stub)).embed(texts, as_query=False))


def test_a_completion_is_streamed_to_its_end(stub: Stub) -> None:
    stub.says("Hel", "lo ", "wörld 🎉")
    pieces = write(stub)
    assert "".join(piece.text for piece in pieces) == "Hello wörld 🎉"
    assert [piece.finish_reason for piece in pieces if piece.finish_reason] == ["stop"]
    assert [piece.usage.completion_tokens for piece in pieces if piece.usage] == [3]


def test_what_the_caller_wishes_is_sent(stub: Stub) -> None:
    stub.says("x")
    wish = Sampling(model="other", temperature=0.0, top_p=0.5, max_tokens=7, stop=("END",))
    write(stub, Prompt("q", (Message("system", "s"), Message("user", "q")), (), 1, wish), api_key=SecretStr("k"))
    path, body, headers = stub.requests[0]
    assert path == "/v1/chat/completions"
    assert headers["authorization"] == "Bearer k"
    sent = {key: body[key] for key in ("model", "temperature", "top_p", "max_tokens", "stop", "stream")}
    assert sent == {
        "model": "other",
        "temperature": 0.0,
        "top_p": 0.5,
        "max_tokens": 7,
        "stop": ["END"],
        "stream": True,
    }
    assert body["messages"][0] == {"role": "system", "content": "s"}


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "refused the key"),
        (404, "does not know the model 'm'"),
        (429, "out of quota"),
        (500, "HTTP 500: out of cheese"),
    ],
)
def test_errors_are_told_in_words_to_act_on(stub: Stub, status: int, words: str) -> None:
    stub.status, stub.body = status, {"error": {"message": "out of cheese"}}
    with pytest.raises(ProviderError, match=words):
        write(stub)
    with pytest.raises(ProviderError, match=words):
        embed(stub, "a")


def test_a_stream_that_breaks_off_is_an_error(stub: Stub) -> None:
    stub.says("half an ans", finish=None)
    with pytest.raises(ProviderError, match="broke off"):
        write(stub)


@pytest.mark.parametrize(
    ("event", "words"), [("{not json", "not JSON"), ('{"error": {"message": "overloaded"}}', "overloaded")]
)
def test_a_stream_with_rubbish_in_it_is_an_error(stub: Stub, event: str, words: str) -> None:
    stub.events = [event]
    with pytest.raises(ProviderError, match=words):
        write(stub)


def test_a_server_that_hangs_or_is_not_there(stub: Stub) -> None:
    stub.events = [1.5, "[DONE]"]
    with pytest.raises(ProviderError, match="took too long"):
        write(stub, timeout_s=0.2)
    gone = Options(base_url="http://127.0.0.1:9", model="m", dimensions=2)
    with pytest.raises(ProviderError, match="cannot be reached"):
        asyncio.run(make_embedder(gone).embed(["a"], as_query=True))


def test_embeddings_keep_their_order_and_have_unit_length(stub: Stub) -> None:
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        data = [{"index": n, "embedding": [float(len(text)), 1.0]} for n, text in enumerate(body["input"])]
        return {"data": data[::-1]}

    stub.body = answer
    vectors = embed(stub, "a", "bbb", "cc")
    assert [round(x / y) for x, y in vectors] == [1, 3, 2]
    assert all(math.isclose(math.hypot(*vector), 1.0) for vector in vectors)
    assert len(stub.requests) == 2


@pytest.mark.parametrize(
    "data",
    [
        [],
        [{"index": 0, "embedding": [1.0]}],
        [{"index": 0, "embedding": [0.0, 0.0]}],
        [{"index": 0, "embedding": [float("nan"), 1.0]}],
        [{"index": 0}],
        "rubbish",
    ],
)
def test_embeddings_that_cannot_be_right_are_refused(stub: Stub, data: Any) -> None:
    stub.body = {"data": data}
    with pytest.raises(ProviderError):
        embed(stub, "a")


def test_long_texts_lose_nothing() -> None:
    embedder = make_embedder(Options(base_url="http://127.0.0.1:9", model="m", dimensions=2))
    text = "".join(str(n % 10) for n in range(20_000))
    windows = embedder.windows(text, "p:")
    assert all(len(window) <= 8002 and window.startswith("p:") for window in windows)
    assert windows[0][2:] + "".join(window[402:] for window in windows[1:]) == text


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (make_llm, Options(base_url="ftp://x", model="m")),
        (make_llm, Options(base_url="http://x")),
        (make_embedder, Options(base_url="http://x", model="m")),
    ],
)
def test_what_is_missing_is_said_at_start(make: Any, wrong: Options) -> None:
    with pytest.raises(SettingsError):
        make(wrong)
