import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from pincite.core.query.pictures import Picture
from pincite.core.query.prompt import Message, Prompt, StreamPart, Usage
from pincite.core.query.question import Sampling
from pincite.core.query.tools import Tool, ToolCall
from pincite.errors import ProviderError, ProviderRefused
from pincite.providers.anthropic import Options, make_llm
from tests.model_server import ModelServer, anthropic_events, as_json, model_server, sse


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server("Hel", "lo ", "wörld 🎉") as started:
        yield started


def write(server: ModelServer, wish: Sampling = Sampling(), **more: Any) -> list[StreamPart]:  # noqa: B008
    async def go() -> list[StreamPart]:
        llm = make_llm(Options(**{"base_url": f"{server.url}/v1", "model": "claude-3-opus", **more}))
        messages = (Message("system", "s"), Message("user", "q"), Message("assistant", "a"), Message("user", "r"))
        return [piece async for piece in llm.write(Prompt("q", messages, (), 1, wish))]

    return asyncio.run(go())


def test_a_completion_is_streamed_to_its_end(server: ModelServer) -> None:
    pieces = write(server)
    assert "".join(piece.text for piece in pieces) == "Hello wörld 🎉"
    assert pieces[-1] == StreamPart(finish_reason="stop", model="m-1", usage=Usage(7, 3))


def test_what_is_asked_is_put_its_way(server: ModelServer) -> None:
    write(server, Sampling(top_k=5, max_tokens=9, stop=("END",), temperature=1.7), api_key=SecretStr("k"))
    path, body, headers = server.requests[0]
    assert (path, headers["x-api-key"], headers["anthropic-version"]) == ("/v1/messages", "k", "2023-06-01")
    assert body == {
        "model": "claude-3-opus",
        "max_tokens": 9,
        "stream": True,
        "system": "s",
        "temperature": 1.0,
        "top_p": 0.9,
        "top_k": 5,
        "stop_sequences": ["END"],
        "messages": [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "a"},
            {"role": "user", "content": "r"},
        ],
    }


def test_newer_models_get_one_kind_of_sampling(server: ModelServer) -> None:
    write(server, model="claude-sonnet-4-5")
    write(server, Sampling(top_p=0.4), model="claude-sonnet-4-5")
    plain, wished = (body for _, body, _ in server.requests)
    assert (plain["temperature"], "top_p" in plain) == (0.3, False)
    assert (wished["top_p"], "temperature" in wished) == (0.4, False)


def test_thoughts_and_tools_are_no_part_of_the_answer(server: ModelServer) -> None:
    deltas = [{"type": "thinking_delta", "thinking": "hm"}, {"type": "input_json_delta", "partial_json": "{"}]
    aside = sse(*({"type": "content_block_delta", "delta": delta} for delta in deltas))
    server.says("/v1/messages", aside, anthropic_events("Yes.", finish="max_tokens"))
    pieces = write(server)
    assert "".join(piece.text for piece in pieces) == "Yes."
    assert pieces[-1].finish_reason == "length"
    assert "".join(piece.thought for piece in pieces) == "hm"


def test_who_is_to_think_is_told_how_and_gets_no_wishes_for_sampling(server: ModelServer) -> None:
    wish = Sampling(thinking=2000, max_tokens=3000, temperature=0.2, top_k=5)
    for model in ("claude-sonnet-4-5", "claude-opus-4-6", "claude-3-opus"):
        write(server, wish, model=model)
    budget, adaptive, cannot = (body for _, body, _ in server.requests)
    assert (budget["thinking"], budget["max_tokens"]) == ({"type": "enabled", "budget_tokens": 2000}, 3000)
    assert adaptive["thinking"] == {"type": "adaptive"}
    assert {"temperature", "top_p", "top_k"}.isdisjoint(budget | adaptive)
    assert ("thinking" in cannot, cannot["temperature"]) == (False, 0.2)


def test_the_newest_models_take_no_sampling_at_all(server: ModelServer) -> None:
    write(server, Sampling(temperature=0.2, top_p=0.5, top_k=5), model="claude-opus-4-7")
    [(_, body, _)] = server.requests
    assert {"temperature", "top_p", "top_k", "thinking"}.isdisjoint(body)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (anthropic_events("half", finish=None), "stopped in the middle"),
        (sse({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}), "Overloaded"),
        (sse({"type": "message_start"}), "of unknown form"),
    ],
)
def test_a_stream_that_does_not_end_well_is_an_error(server: ModelServer, said: bytes, words: str) -> None:
    server.says("/v1/messages", said)
    with pytest.raises(ProviderError, match=words):
        write(server)


def test_a_wrong_key_is_told_without_the_key(server: ModelServer) -> None:
    server.replies["/v1/messages"] = as_json({"error": {"message": "invalid x-api-key"}}, 401)
    with pytest.raises(ProviderRefused, match=r"rejected the API key .*llm\.api_key") as raised:
        write(server, api_key=SecretStr("sk-hush"))
    assert "hush" not in json.dumps(str(raised.value))


def test_tools_are_offered_and_their_calls_heard_its_way(server: ModelServer) -> None:
    events = [
        {"type": "message_start", "message": {"model": "m-1", "usage": {"input_tokens": 7}}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "I look."}},
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "tool_use", "id": "t1", "name": "rag_search", "input": {}},
        },
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": '{"queries": '},
        },
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '["a"]}'}},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}},
    ]
    server.says("/v1/messages", sse(*events))
    made, picture = ToolCall("t0", "rag_search", '{"queries": ["b"]}'), Picture("image/png", b"abc")
    other = ToolCall("t9", "read_document", "no JSON")
    messages = (
        Message("system", "s"),
        Message("user", "q", pictures=(picture,)),
        Message("assistant", "Hm.", calls=(made, other)),
        Message("tool", "found", answers=made),
        Message("tool", "refused", answers=other),
    )

    async def go() -> list[StreamPart]:
        llm = make_llm(Options(base_url=f"{server.url}/v1", model="claude-3-opus"))
        asked = Prompt("q", messages, (), 1, tools=(Tool("rag_search", "search", {"type": "object"}),))
        return [piece async for piece in llm.write(asked)]

    pieces = asyncio.run(go())
    assert "".join(piece.text for piece in pieces) == "I look."
    assert pieces[-1].finish_reason == "tool_calls"
    assert pieces[-1].calls == (ToolCall("t1", "rag_search", '{"queries": ["a"]}'),)
    _, body, _ = server.requests[0]
    assert body["tools"] == [{"name": "rag_search", "description": "search", "input_schema": {"type": "object"}}]
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "YWJj"}}
    assert body["messages"] == [
        {"role": "user", "content": [image, {"type": "text", "text": "q"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Hm."},
                {"type": "tool_use", "id": "t0", "name": "rag_search", "input": {"queries": ["b"]}},
                {"type": "tool_use", "id": "t9", "name": "read_document", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t0", "content": "found"},
                {"type": "tool_result", "tool_use_id": "t9", "content": "refused"},
            ],
        },
    ]
