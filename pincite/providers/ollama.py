"""Ollama's own API, which sets the context window, controls thinking and reports the capabilities of models."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from pincite.core.protocols import LLM, Embedder, ServerModel
from pincite.core.query.prompt import Message, StreamPart
from pincite.errors import ProviderError, SettingsError
from pincite.models.facts import facts_of
from pincite.outbound.client import Server
from pincite.outbound.embeddings import split, unit_vectors
from pincite.outbound.llm.hosted import CompletionRequest, Options, ServedLLM
from pincite.outbound.llm.openai_messages import tools_of
from pincite.outbound.llm.parse import piece_of, text_of, usage_of, window_of
from pincite.outbound.llm.tool_calls import Calls, arguments_of

__all__ = ["HOME", "Options", "make_embedder", "make_llm", "running_here"]

HOME = "http://127.0.0.1:11434"
"""Default address of Ollama."""

MAX_DEFAULT_WINDOW = 32_768
"""Maximum context window unless `llm.window` is larger, since Ollama allocates memory for the whole window."""

LIST_TIMEOUT_S = 1.0


class OllamaLLM(ServedLLM):
    """Completions, streamed as one JSON object per line."""

    def __init__(self, options: Options) -> None:
        super().__init__(options, _server(options, options.section), MAX_DEFAULT_WINDOW)

    async def list_models(self) -> list[ServerModel]:
        """List the installed models."""
        found = await self._server.get("/api/tags")
        try:
            return [ServerModel(text_of(one["name"])) for one in found["models"]]
        except (TypeError, KeyError) as error:
            raise self._server.invalid_answer("an unreadable list of models") from error

    async def _offers(self) -> list[ServerModel]:
        """Return the configured model with its context window, or the first installed one."""
        model = self._known.model or next((one.name for one in await self.list_models()), "")
        if not model:
            return []
        about = await self._server.post("/api/show", {"model": model})
        facts = about.get("model_info") if isinstance(about, dict) else None
        self._learn_abilities(about.get("capabilities") if isinstance(about, dict) else None)
        named = facts.items() if isinstance(facts, dict) else ()
        windows = (window_of(value) for key, value in named if key.endswith(".context_length"))
        return [ServerModel(model, next((window for window in windows if window), None))]

    def _learn_abilities(self, said: object) -> None:
        if isinstance(said, list):
            self._abilities = replace(self._abilities, tools="tools" in said, vision="vision" in said)

    async def _pieces(self, body: dict[str, Any]) -> AsyncGenerator[StreamPart, None]:
        calls = Calls()
        async with aclosing(self._server.stream("/api/chat", body)) as events:
            async for event in events:
                if event.get("error"):
                    raise self._server.stream_error(event)
                try:
                    piece = _piece(event, calls)
                except (TypeError, AttributeError) as error:
                    raise self._server.invalid_answer("an event of unknown form") from error
                yield piece

    def _body(self, order: CompletionRequest) -> dict[str, Any]:
        wish = order.prompt.sampling
        chosen = {
            "num_ctx": self.window_of(order.model),
            "num_predict": order.max_tokens,
            "temperature": order.temperature,
            "top_p": order.top_p,
            "top_k": wish.top_k or facts_of(order.model).top_k,
            "stop": list(wish.stop) or None,
        }
        return {
            "model": order.model,
            "messages": [_message(message) for message in order.prompt.messages],
            "stream": True,
            "think": _think(order),
            "options": {name: value for name, value in chosen.items() if value is not None},
        } | self._extra(order)

    def _extra(self, order: CompletionRequest) -> dict[str, Any]:
        prompt = order.prompt
        tools = {"tools": tools_of(prompt.tools)} if prompt.tools else {}
        return tools | ({"format": prompt.schema} if prompt.schema else {})


class OllamaEmbedder:
    """Embeddings of unit length; a text that is too long for the model is an error and never truncated."""

    local = False
    max_tokens = 2048

    def __init__(self, options: Options) -> None:
        if not options.model or not options.dimensions:
            raise SettingsError("Ollama needs embedding.model and embedding.dimensions; set both")
        self.name = f"{options.model}/{options.dimensions}"
        self.dimensions = options.dimensions
        self._options = options
        self._server = _server(options, "embedding")

    def windows(self, text: str, prefix: str = "") -> list[str]:
        """Split into parts of at most 4,000 characters, which fit 2,048 tokens in most scripts."""
        return split(text, prefix, size=4000, shared=200)

    async def embed(self, texts: Sequence[str], *, as_query: bool) -> list[list[float]]:
        """Return one unit vector per text, in requests of at most `batch` texts."""
        vectors: list[list[float]] = []
        for start in range(0, len(texts), self._options.batch):
            part = texts[start : start + self._options.batch]
            body = {"model": self._options.model, "input": [text or " " for text in part], "truncate": False}
            answer = await self._server.post("/api/embed", body)
            if not isinstance(answer, dict) or not isinstance(answer.get("embeddings"), list):
                raise self._server.invalid_answer("unreadable embeddings")
            vectors += unit_vectors(answer["embeddings"], len(part), self.dimensions, self._options.model)
        return vectors

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()


async def running_here() -> list[ServerModel]:
    """Return the models of an Ollama on this machine; empty if none is running. Only the list is requested."""
    llm = OllamaLLM(Options(timeout_s=LIST_TIMEOUT_S))
    try:
        return await llm.list_models()
    except ProviderError:
        return []
    finally:
        await llm.close()


def _server(options: Options, section: str) -> Server:
    """Return the server; `/v1`, the path of its OpenAI-compatible API, is removed from the address."""
    address = (options.base_url or HOME).rstrip("/").removesuffix("/v1")
    return Server(address, section, options.timeout_s, options.api_key)


def _think(order: CompletionRequest) -> bool | str:
    """The value of `think`: an effort for models that accept only an effort, otherwise true or false."""
    way = facts_of(order.model).thinking
    if order.prompt.sampling.thinking is None or not way:
        return False
    return "high" if way == "effort" else True


def _message(message: Message) -> dict[str, Any]:
    """Convert a message: images in a separate field, call arguments as an object, no ids."""
    converted: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.pictures:
        converted["images"] = [picture.base64 for picture in message.pictures]
    if message.calls:
        converted["tool_calls"] = [
            {"function": {"name": call.name, "arguments": arguments_of(call.arguments)}} for call in message.calls
        ]
    if message.answers:
        converted["tool_name"] = message.answers.name
    return converted


def _piece(event: dict[str, Any], calls: Calls) -> StreamPart:
    said, done = event.get("message") or {}, bool(event.get("done"))
    for call in said.get("tool_calls") or ():
        function = call.get("function") or {}
        given = function.get("arguments")
        written = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        calls.add(len(calls.whole()), call.get("id"), function.get("name"), written)
    counted = usage_of(event.get("prompt_eval_count", 0), event.get("eval_count")) if done else None
    piece = piece_of(
        said.get("content"), event.get("done_reason"), event.get("model"), counted, thought=said.get("thinking")
    )
    if not done:
        return replace(piece, finish_reason=None)
    return replace(piece, finish_reason=piece.finish_reason or "stop", calls=calls.whole())


def make_llm(options: Options) -> LLM:
    """Create the language model; called by `plugins.load`."""
    return OllamaLLM(options)


def make_embedder(options: Options) -> Embedder:
    """Create the embedder; called by `plugins.load`."""
    return OllamaEmbedder(options)
