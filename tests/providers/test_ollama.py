import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from pincite.core.protocols import ServerModel
from pincite.core.query.pictures import Picture
from pincite.core.query.prompt import Message, Prompt, StreamPart, Usage
from pincite.core.query.question import Sampling
from pincite.core.query.tools import Abilities, Tool, ToolCall
from pincite.errors import ProviderError, ProviderRefused, SettingsError
from pincite.providers import ollama
from pincite.providers.ollama import OllamaLLM, Options, make_embedder, make_llm, running_here
from tests.model_server import ModelServer, as_json, model_server, ollama_lines


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server("Hel", "lo ", "wörld 🎉") as started:
        yield started


def write(server: ModelServer, wish: Sampling = Sampling(), **more: Any) -> list[StreamPart]:  # noqa: B008
    async def go() -> list[StreamPart]:
        llm = make_llm(Options(**{"base_url": server.url, "model": "m", **more}))
        return [piece async for piece in llm.write(Prompt("q", (Message("user", "q"),), (), 1, wish))]

    return asyncio.run(go())


def test_a_completion_is_streamed_to_its_end(server: ModelServer) -> None:
    pieces = write(server)
    assert "".join(piece.text for piece in pieces) == "Hello wörld 🎉"
    assert pieces[-1] == StreamPart(finish_reason="stop", model="m-1", usage=Usage(7, 3))


def test_it_is_told_its_window_its_limit_and_not_to_think(server: ModelServer) -> None:
    wish = Sampling(temperature=0.1, top_k=40, max_tokens=7, stop=("END",))
    write(server, wish, model="llama3.1:8b")
    _, body, _ = server.requests[0]
    assert (body["model"], body["think"], body["stream"]) == ("llama3.1:8b", False, True)
    assert body["options"] == {
        "num_ctx": 8000,
        "num_predict": 7,
        "temperature": 0.1,
        "top_p": 0.8,
        "top_k": 40,
        "stop": ["END"],
    }


def test_window_and_top_k_are_those_of_the_model_that_is_asked(server: ModelServer) -> None:
    write(server, Sampling(model="qwen3:8b"), model="llama3.1:8b", window=4000)
    write(server, Sampling(model="qwen3:8b", top_k=7), model="llama3.1:8b", window=4000)
    write(server, model="llama3.1:8b", window=4000)
    sent = [body["options"] for path, body, _ in server.requests if path == "/api/chat"]
    assert [(one["num_ctx"], one.get("top_k")) for one in sent] == [(32_768, 20), (32_768, 7), (4000, None)]


def test_a_model_that_thinks_all_the_same_is_not_quoted_on_it(server: ModelServer) -> None:
    thought = b'{"message": {"content": "", "thinking": "hm"}, "done": false}\n'
    server.says("/api/chat", thought, ollama_lines("Yes."), kind="application/x-ndjson")
    pieces = write(server)
    assert ("".join(piece.text for piece in pieces), "".join(piece.thought for piece in pieces)) == ("Yes.", "hm")


def test_a_model_that_can_think_does_so_where_that_is_asked_for(server: ModelServer) -> None:
    for model in ("qwen3:8b", "gpt-oss:20b", "llama3.1:8b"):
        write(server, Sampling(thinking=2000), model=model)
    assert [body["think"] for path, body, _ in server.requests if path == "/api/chat"] == [True, "high", False]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (ollama_lines("half", finish=None), "stopped in the middle"),
        (b'{"error": "out of memory"}\n', "out of memory"),
        (b"{rubbish\n", "not a JSON object"),
        (b'{"message": "rubbish"}\n', "of unknown form"),
    ],
)
def test_a_stream_that_does_not_end_well_is_an_error(server: ModelServer, said: bytes, words: str) -> None:
    server.says("/api/chat", said, kind="application/x-ndjson")
    with pytest.raises(ProviderError, match=words):
        write(server)


def test_a_model_that_is_not_installed_is_named(server: ModelServer) -> None:
    server.replies["/api/chat"] = as_json({"error": "model 'm' not found"}, 404)
    with pytest.raises(ProviderRefused, match="does not know the model 'm'"):
        write(server)


def test_the_window_is_the_servers_word_within_reason(server: ModelServer) -> None:
    llm = OllamaLLM(Options(base_url=server.url))
    asyncio.run(llm.discover())
    assert (llm.name, llm.window) == ("m", 4096)
    server.replies["/api/show"] = as_json({"model_info": {"llama.context_length": 1_000_000}})
    llm = OllamaLLM(Options(base_url=server.url, model="strange"))
    asyncio.run(llm.discover())
    assert llm.window == ollama.MAX_DEFAULT_WINDOW
    assert OllamaLLM(Options(base_url=server.url, model="strange", window=100_000)).window == 100_000


def test_embeddings_are_never_cut_silently(server: ModelServer) -> None:
    embedder = make_embedder(Options(base_url=server.url, model="nomic-embed-text", dimensions=8, batch=2))
    assert len(asyncio.run(embedder.embed(["a", "b", ""], as_query=False))) == 3
    assert server.calls("/api/embed") == 2
    assert all(body["truncate"] is False for _, body, _ in server.requests)
    server.replies["/api/embed"] = as_json({"embeddings": "rubbish"})
    with pytest.raises(ProviderError, match="unreadable embeddings"):
        asyncio.run(embedder.embed(["a"], as_query=False))
    with pytest.raises(SettingsError):
        make_embedder(Options(model="m"))


def test_an_ollama_on_this_machine_is_found_and_asked_for_its_list_only(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ollama, "HOME", server.url)
    assert asyncio.run(running_here()) == [ServerModel("m")]
    assert [path for path, _, _ in server.requests] == ["/api/tags"]
    server.replies["/api/tags"] = as_json({"nothing": "like it"})
    assert asyncio.run(running_here()) == []
    monkeypatch.setattr(ollama, "HOME", "http://127.0.0.1:9")
    assert asyncio.run(running_here()) == []


@pytest.mark.parametrize("told", [[], "rubbish", {"model_info": ["a"]}, {"model_info": {"llama.context_length": -1}}])
def test_a_window_that_is_told_in_no_known_way_is_not_known(server: ModelServer, told: Any) -> None:
    server.replies["/api/show"] = as_json(told)
    llm = OllamaLLM(Options(base_url=server.url, model="m"))
    asyncio.run(llm.discover())
    assert llm.window == 8192


def test_tools_are_offered_and_their_calls_heard_its_way(server: ModelServer) -> None:
    call = {"function": {"name": "rag_search", "arguments": {"queries": ["ä"]}}}
    lines = [
        {"model": "m-1", "message": {"content": "", "tool_calls": [call, call]}, "done": False},
        {"model": "m-1", "message": {"content": ""}, "done": True, "done_reason": "stop"},
    ]
    server.says("/api/chat", "".join(json.dumps(line) + "\n" for line in lines).encode())
    made, picture = ToolCall("c1", "rag_search", '{"queries": ["a"]}'), Picture("image/png", b"abc")
    messages = (
        Message("user", "q", pictures=(picture,)),
        Message("assistant", "", calls=(made,)),
        Message("tool", "found", answers=made),
    )

    async def go() -> list[StreamPart]:
        asked = Prompt("q", messages, (), 1, tools=(Tool("rag_search", "search", {"type": "object"}),))
        return [piece async for piece in make_llm(Options(base_url=server.url, model="m")).write(asked)]

    pieces = asyncio.run(go())
    assert [(one.id, one.name, one.arguments) for one in pieces[-1].calls] == [
        ("call_1", "rag_search", '{"queries": ["ä"]}'),
        ("call_2", "rag_search", '{"queries": ["ä"]}'),
    ]
    _, body, _ = server.requests[0]
    assert body["tools"][0]["function"]["name"] == "rag_search"
    assert body["messages"] == [
        {"role": "user", "content": "q", "images": ["YWJj"]},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": "rag_search", "arguments": {"queries": ["a"]}}}],
        },
        {"role": "tool", "content": "found", "tool_name": "rag_search"},
    ]


def test_the_server_says_whether_its_model_calls_tools_and_sees(server: ModelServer) -> None:
    server.replies["/api/show"] = as_json({"capabilities": ["completion", "vision"], "model_info": {}})
    llm = OllamaLLM(Options(base_url=server.url, model="m"))
    assert llm.abilities == Abilities()
    asyncio.run(llm.discover())
    assert llm.abilities == Abilities(tools=False, vision=True)


def test_output_is_asked_for_by_a_schema_its_way(server: ModelServer) -> None:
    schema = {"type": "object", "properties": {"1": {"enum": ["yes", "no"]}}}

    async def go() -> None:
        llm = make_llm(Options(base_url=server.url, model="m"))
        async for _ in llm.write(Prompt("q", (Message("user", "q"),), (), 1, schema=schema)):
            pass

    asyncio.run(go())
    assert next(body for path, body, _ in server.requests if path == "/api/chat")["format"] == schema
