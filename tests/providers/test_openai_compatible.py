import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from pincite.core.protocols import ServerModel
from pincite.core.query.prompt import Message, Prompt, StreamPart, Usage
from pincite.core.query.question import Sampling
from pincite.core.query.tools import Tool, ToolCall
from pincite.errors import ProviderBusy, ProviderError, ProviderRefused, SettingsError
from pincite.models.resilient import abilities_of
from pincite.providers.openai_compatible import OpenAICompatibleLLM, Options, make_embedder, make_llm
from tests.model_server import ModelServer, Reply, as_json, model_server, openai_events, sse

COMPLETIONS = "/v1/chat/completions"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server("Hel", "lo ", "wörld 🎉") as started:
        yield started


def options(server: ModelServer, **more: Any) -> Options:
    return Options(**{"base_url": f"{server.url}/v1", "model": "m", "dimensions": 8, "batch": 2, **more})


def write(server: ModelServer, wish: Sampling = Sampling(), **more: Any) -> list[StreamPart]:  # noqa: B008
    async def go() -> list[StreamPart]:
        asked = Prompt("q", (Message("system", "s"), Message("user", "q")), (), 1, wish)
        return [piece async for piece in make_llm(options(server, **more)).write(asked)]

    return asyncio.run(go())


def text_of(pieces: list[StreamPart]) -> str:
    return "".join(piece.text for piece in pieces)


def test_a_completion_is_streamed_to_its_end(server: ModelServer) -> None:
    pieces = write(server)
    assert text_of(pieces) == "Hello wörld 🎉"
    assert pieces[-1] == StreamPart(finish_reason="stop", model="m-1", usage=Usage(7, 3))


def test_a_completion_cut_into_single_bytes_is_the_same(server: ModelServer) -> None:
    said = "\ufeff: hi\r\n".encode() + sse(*openai_events("Größe ", "🎉")).replace(b"\n", b"\r\n")
    server.says(COMPLETIONS, *(bytes([byte]) for byte in said))
    assert text_of(write(server)) == "Größe 🎉"


def test_what_the_caller_wishes_is_sent(server: ModelServer) -> None:
    wish = Sampling(model="other", temperature=0.0, top_p=0.5, top_k=40, max_tokens=7, stop=("END",))
    write(server, wish, api_key=SecretStr("k"))
    path, body, headers = server.requests[0]
    assert (path, headers["authorization"]) == (COMPLETIONS, "Bearer k")
    assert body == {
        "model": "other",
        "temperature": 0.0,
        "top_p": 0.5,
        "top_k": 40,
        "max_tokens": 7,
        "stop": ["END"],
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "q"}],
    }


def test_what_nobody_wishes_comes_from_the_model_table(server: ModelServer) -> None:
    write(server, Sampling(model="meta-llama/Llama-3.2-3B-Instruct"))
    write(server, Sampling(model="gpt-5-mini", temperature=0.2))
    write(server, Sampling(model="qwen3:8b"))
    llama, gpt, qwen = (body for _, body, _ in server.requests)
    assert (llama["temperature"], llama["top_p"]) == (0.3, 0.7)
    assert gpt["max_completion_tokens"] == 1000
    assert {"temperature", "top_p", "max_tokens"}.isdisjoint(gpt)
    assert qwen["messages"][-1]["content"] == "q /no_think"


def test_who_is_to_think_is_told_how_hard_and_nobody_else(server: ModelServer) -> None:
    for model in ("gpt-5", "anthropic/claude-sonnet-4.5", "qwen3:8b", "gpt-4o"):
        write(server, Sampling(model=model, thinking=2000))
    gpt, claude, qwen, cannot = (body for _, body, _ in server.requests)
    assert (gpt["reasoning_effort"], claude["reasoning_effort"]) == ("high", "high")
    assert "reasoning_effort" not in qwen | cannot
    assert qwen["messages"][-1]["content"] == "q"


def test_thoughts_and_tool_calls_are_no_part_of_the_answer(server: ModelServer) -> None:
    call = {"index": 0, "function": {"name": "rm", "arguments": "{}"}}
    events = [
        {"choices": [{"delta": {"reasoning_content": "hm", "content": None}}]},
        {"choices": [{"delta": {"tool_calls": [call]}}]},
        *openai_events("Yes."),
    ]
    server.says(COMPLETIONS, sse(*events))
    pieces = write(server)
    assert (text_of(pieces), "".join(piece.thought for piece in pieces)) == ("Yes.", "hm")
    server.says(COMPLETIONS, sse(*events[:2], {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}))
    with pytest.raises(ProviderError, match="wrote nothing"):
        write(server)


def test_a_server_that_does_not_stream_is_understood(server: ModelServer) -> None:
    choice = {"message": {"content": "All at once."}, "finish_reason": "stop"}
    server.replies[COMPLETIONS] = as_json({"model": "m-1", "choices": [choice]})
    assert text_of(write(server)) == "All at once."


@pytest.mark.parametrize(("status", "kind"), [(401, ProviderRefused), (404, ProviderRefused), (500, ProviderBusy)])
def test_errors_say_whether_another_try_may_help(server: ModelServer, status: int, kind: type[ProviderError]) -> None:
    server.replies[COMPLETIONS] = server.replies["/v1/embeddings"] = as_json({"error": "model?"}, status)
    with pytest.raises(kind, match=str(status)):
        write(server)
    with pytest.raises(kind, match=str(status)):
        asyncio.run(make_embedder(options(server)).embed(["a"], as_query=False))


def test_an_embedding_servers_errors_name_its_own_settings(server: ModelServer) -> None:
    server.replies["/v1/embeddings"] = as_json({}, 401)
    with pytest.raises(ProviderRefused, match=r"embedding\.api_key"):
        asyncio.run(make_embedder(options(server)).embed(["a"], as_query=False))


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (sse(*openai_events("half an ans", finish=None)), "stopped in the middle"),
        (sse({"error": {"message": "overloaded"}}), "overloaded"),
        (sse({"choices": "rubbish"}), "of unknown form"),
        (sse({"choices": [{"delta": "rubbish"}]}), "of unknown form"),
        (sse({"choices": [{"delta": {"content": 5}}]}), "of unknown form"),
        (sse({"choices": [{"delta": {"content": ["a"]}}]}), "of unknown form"),
        (sse({"choices": [{"delta": {"content": {"a": 1}}}]}), "of unknown form"),
        (b"", "stopped in the middle"),
    ],
)
def test_a_stream_that_does_not_end_well_is_an_error(server: ModelServer, said: bytes, words: str) -> None:
    server.says(COMPLETIONS, said)
    with pytest.raises(ProviderError, match=words):
        write(server)


@pytest.mark.parametrize("usage", ["many", [1], {"prompt_tokens": "7"}, {"completion_tokens": float("nan")}])
def test_what_is_beside_the_words_cannot_spoil_them(server: ModelServer, usage: Any) -> None:
    said = [
        {"model": ["m"], "choices": [{"delta": {"content": "Yes\ud800."}, "finish_reason": {"why": 1}}]},
        {"choices": [], "usage": usage},
        "[DONE]",
    ]
    events = [one if isinstance(one, str) else json.dumps(one) for one in said]  # a lone half is sent escaped
    server.says(COMPLETIONS, sse(*events))
    pieces = write(server)
    assert text_of(pieces) == "Yes\ufffd."
    assert (pieces[-1].finish_reason, pieces[-1].model, pieces[-1].usage) == ("stop", None, None)


def test_two_vectors_for_one_text_and_none_for_the_other_are_refused(server: ModelServer) -> None:
    twice = [{"index": 0, "embedding": [1.0] * 8}] * 2
    server.replies["/v1/embeddings"] = as_json({"data": twice})
    with pytest.raises(ProviderError, match="unreadable embeddings"):
        asyncio.run(make_embedder(options(server)).embed(["a", "b"], as_query=False))


def test_the_end_of_the_stream_counts_where_no_reason_is_given(server: ModelServer) -> None:
    server.says(COMPLETIONS, sse(*openai_events("Yes.", finish=None), "[DONE]"))
    assert write(server)[-1].finish_reason == "stop"


@pytest.mark.parametrize(
    ("entry", "window"),
    [
        ({"id": "m", "max_model_len": 4096}, 4096),
        ({"id": "m", "context_window": 5000}, 5000),
        ({"id": "m", "context_length": 6000}, 6000),
        ({"id": "m", "meta": {"n_ctx_train": 8000, "n_ctx": 7000}}, 7000),
        ({"id": "m", "meta": None}, 8192),
        ({"id": "m", "max_model_len": 0, "n_ctx": -5, "context_length": True}, 8192),
    ],
)
def test_the_window_comes_from_the_server(server: ModelServer, entry: dict[str, Any], window: int) -> None:
    server.replies["/v1/models"] = as_json({"data": [{"id": "else"}, entry]})
    llm = OpenAICompatibleLLM(options(server))
    asyncio.run(llm.discover())
    asyncio.run(llm.discover())
    assert (llm.window, server.calls("/v1/models")) == (window, 1)


def test_a_server_without_a_model_list_has_default_properties(server: ModelServer) -> None:
    for reply in (as_json({}, 404), as_json({"data": 5}), as_json({"data": []})):
        server.replies["/v1/models"] = reply
        llm = OpenAICompatibleLLM(options(server))
        asyncio.run(llm.discover())
        assert (llm.name, llm.window) == ("m", 8192)


def test_a_server_that_offers_nothing_cannot_be_asked_without_a_name(server: ModelServer) -> None:
    server.replies["/v1/models"] = as_json({"data": []})
    with pytest.raises(ProviderRefused, match=r"offers no model; set llm\.model"):
        write(server, model="")


def test_the_models_of_a_server_are_listed(server: ModelServer) -> None:
    server.replies["/v1/models"] = as_json({"data": [{"id": "a"}, {"id": "b", "max_model_len": 9}]})
    llm = OpenAICompatibleLLM(options(server))
    assert asyncio.run(llm.list_models()) == [ServerModel("a"), ServerModel("b", 9)]


def test_embeddings_keep_their_order(server: ModelServer) -> None:
    def answer(body: dict[str, Any]) -> Any:
        data = [{"index": n, "embedding": [float(len(text)), 1.0]} for n, text in enumerate(body["input"])]
        return as_json({"data": data[::-1]})

    server.replies["/v1/embeddings"] = answer
    vectors = asyncio.run(make_embedder(options(server, dimensions=2)).embed(["a", "bbb", "cc"], as_query=False))
    assert [round(x / y) for x, y in vectors] == [1, 3, 2]
    assert server.calls("/v1/embeddings") == 2


@pytest.mark.parametrize(
    "data",
    [
        [],
        [{"index": 0}],
        "rubbish",
        [5],
        [{"index": 1, "embedding": [1.0] * 8}],
        [{"index": 0, "embedding": [10**400] * 8}],
    ],
)
def test_embeddings_that_cannot_be_read_are_refused(server: ModelServer, data: Any) -> None:
    server.replies["/v1/embeddings"] = as_json({"data": data})
    with pytest.raises(ProviderError):
        asyncio.run(make_embedder(options(server)).embed(["a"], as_query=False))


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (make_llm, Options(base_url="ftp://x", model="m")),
        (make_llm, Options(model="m")),
        (make_embedder, Options(base_url="http://x", model="m")),
        (make_embedder, Options(base_url="http://x", dimensions=3)),
    ],
)
def test_what_is_missing_is_said_at_start(make: Any, wrong: Options) -> None:
    with pytest.raises(SettingsError):
        make(wrong)


def test_tools_are_offered_and_their_calls_heard(server: ModelServer) -> None:
    call = {"index": 0, "id": "c1", "function": {"name": "rag_search", "arguments": '{"queries": ["a"]}'}}
    events = [
        {"choices": [{"delta": {"content": "I look."}}]},
        {"choices": [{"delta": {"tool_calls": [call]}}]},
        {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
    ]
    server.says(COMPLETIONS, sse(*events))
    pieces = offered(server)
    assert text_of(pieces) == "I look."
    assert pieces[-1].calls == (ToolCall("c1", "rag_search", '{"queries": ["a"]}'),)
    assert server.requests[0][1]["tools"][0]["function"]["name"] == "rag_search"


def test_a_model_without_tool_support_is_remembered(server: ModelServer) -> None:
    server.replies[COMPLETIONS] = as_json({"error": {"message": "m does not support tools"}}, 400)
    llm = make_llm(options(server))
    with pytest.raises(ProviderRefused, match="does not support tools"):
        offered(server, llm)
    assert abilities_of(llm).tools is False


def offered(server: ModelServer, llm: Any = None) -> list[StreamPart]:
    async def go() -> list[StreamPart]:
        asked = Prompt("q", (Message("user", "q"),), (), 1, tools=(Tool("rag_search", "search", {"type": "object"}),))
        return [piece async for piece in (llm or make_llm(options(server))).write(asked)]

    return asyncio.run(go())


SCHEMA = {"type": "object", "properties": {"1": {"enum": ["yes", "no"]}}}


def constrained(llm: Any) -> list[StreamPart]:
    async def go() -> list[StreamPart]:
        return [piece async for piece in llm.write(Prompt("q", (Message("user", "q"),), (), 1, schema=SCHEMA))]

    return asyncio.run(go())


def test_output_is_asked_for_by_a_schema(server: ModelServer) -> None:
    constrained(make_llm(options(server)))
    wanted = {"type": "json_schema", "json_schema": {"name": "output", "strict": True, "schema": SCHEMA}}
    assert server.requests[0][1]["response_format"] == wanted


def test_a_server_that_rejects_schemas_is_asked_without_and_remembered(server: ModelServer) -> None:
    llm = make_llm(options(server))
    usual = server.replies[COMPLETIONS]
    assert isinstance(usual, Reply)
    rejected = as_json({"error": {"message": "'response_format' is not supported"}}, 400)
    server.replies[COMPLETIONS] = lambda body: rejected if "response_format" in body else usual
    assert text_of(constrained(llm)) == "Hello wörld 🎉"
    assert abilities_of(llm).schemas is False
    assert text_of(constrained(llm)) == "Hello wörld 🎉"
    assert ["response_format" in body for _, body, _ in server.requests] == [True, False, False]


def test_another_refusal_is_no_reason_to_ask_again(server: ModelServer) -> None:
    server.replies[COMPLETIONS] = as_json({"error": {"message": "no such key"}}, 401)
    llm = make_llm(options(server))
    with pytest.raises(ProviderRefused):
        constrained(llm)
    assert (len(server.requests), abilities_of(llm).schemas) == (1, None)
