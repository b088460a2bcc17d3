"""What every LLM in the folder must do."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from pincite import plugins
from pincite.core.protocols import LLM, Discoverable
from pincite.core.query.prompt import Message, Prompt, StreamPart
from pincite.outbound.llm.hosted import Options as ServedOptions
from pincite.providers.scripted import Options, make_embedder
from tests.builders import hit
from tests.model_server import ModelServer, as_json, model_server
from tests.providers.test_llama import small_model

NAMES = plugins.names("pincite.providers", "make_llm")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server("Cats ", "purr. ", "[Source 1]") as started:
        yield started


@pytest.fixture(params=NAMES)
def llm(request: pytest.FixtureRequest, server: ModelServer) -> LLM:
    settings: dict[str, Any] = {"base_url": f"{server.url}/v1", "model": "m"}
    if request.param == "llama":
        settings = small_model() | {"temperature": 0.0, "max_tokens": 12}
    return plugins.load(
        LLM, "pincite.providers", request.param, settings, embedder=make_embedder(Options()), reader=None
    )


def write(llm: LLM) -> list[StreamPart]:
    async def go() -> list[StreamPart]:
        sources = (hit("Cats purr when they are content."),)
        asked = Prompt("Why do cats purr?", (Message("user", "Why do cats purr?"),), sources, 10)
        return [piece async for piece in llm.write(asked)]

    return asyncio.run(go())


def test_there_are_some() -> None:
    assert {"anthropic", "extractive", "ollama", "openai_compatible", "scripted"} <= set(NAMES)


def test_it_has_a_name_and_a_window(llm: LLM) -> None:
    assert llm.name
    assert llm.window >= 512


def test_it_writes_text_and_says_why_it_stopped(llm: LLM) -> None:
    pieces = write(llm)
    assert "".join(piece.text for piece in pieces).strip()
    assert [piece.finish_reason for piece in pieces if piece.finish_reason] == ["stop"]
    assert json.dumps([piece.text for piece in pieces])


def test_it_can_be_asked_again(llm: LLM) -> None:
    assert [piece.text for piece in write(llm)] == [piece.text for piece in write(llm)]


def test_it_can_be_stopped_in_the_middle(llm: LLM) -> None:
    async def go() -> None:
        stream = llm.write(Prompt("Why do cats purr?", (Message("user", "q"),), (hit("Cats purr."),), 10))
        async for _ in stream:
            break
        await stream.aclose()  # type: ignore[attr-defined]
        assert [piece async for piece in stream] == []

    asyncio.run(go())


def test_one_behind_a_server_says_what_it_has_and_which_model_it_is(llm: LLM, server: ModelServer) -> None:
    if not isinstance(llm, Discoverable):
        return
    server.replies["/v1/models"] = as_json({"data": [{"id": "only"}]})
    server.replies["/api/tags"] = as_json({"models": [{"name": "only"}]})
    assert [one.name for one in asyncio.run(llm.list_models())] == ["only"]
    nameless = type(llm)(ServedOptions(base_url=f"{server.url}/v1"))  # type: ignore[call-arg]
    asyncio.run(nameless.discover())  # type: ignore[attr-defined]
    assert nameless.name == "only"
    assert "".join(piece.text for piece in write(nameless)) == "Cats purr. [Source 1]"
    assert server.requests[-1][1]["model"] == "only"
