"""Ollama's own API: it sets the window, switches thinking on and off, and says what each model can see."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from pincite.core.protocols import LLM, Embedder, ServerModel
from pincite.core.query.prompt import Message, StreamPart
from pincite.core.query.tools import Abilities
from pincite.errors import ProviderError, SettingsError
from pincite.models.facts import facts_of
from pincite.outbound.client import Server
from pincite.outbound.embeddings import split, unit_vectors
from pincite.outbound.llm.hosted import Options, Order, ServedLLM
from pincite.outbound.llm.openai_messages import tools_of
from pincite.outbound.llm.parse import piece_of, text_of, usage_of, window_of
from pincite.outbound.llm.tool_calls import Calls, arguments_of

__all__ = ["HOME", "Options", "make_embedder", "make_llm", "running_here"]

HOME = "http://127.0.0.1:11434"
"""Where Ollama listens unless told otherwise."""
MOST_WINDOW = 32_768
"""Ollama sets memory aside for the whole window: more than this is taken only where `llm.window` asks for it."""
LOOK_S = 1.0


class OllamaLLM(ServedLLM):
    """Completions, streamed one JSON object a line."""

    def __init__(self, options: Options) -> None:
        super().__init__(options, _server(options, options.section), MOST_WINDOW)

    async def list_models(self) -> list[ServerModel]:
        """What is installed there."""
        found = await self._server.get("/api/tags")
        try:
            return [ServerModel(text_of(one["name"])) for one in found["models"]]
        except (TypeError, KeyError) as error:
            raise self._server.rubbish("no list of models that can be read") from error

    async def _offers(self) -> list[ServerModel]:
        """The model in question with its window; without a name, the first that is installed."""
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
            self._abilities = Abilities(tools="tools" in said, vision="vision" in said)

    async def _pieces(self, body: dict[str, Any]) -> AsyncGenerator[StreamPart, None]:
        calls = Calls()
        async with aclosing(self._server.stream("/api/chat", body)) as events:
            async for event in events:
                if event.get("error"):
                    raise self._server.reported(event)
                try:
                    piece = _piece(event, calls)
                except (TypeError, AttributeError) as error:
                    raise self._server.rubbish("an event that cannot be understood") from error
                yield piece

    def _body(self, order: Order) -> dict[str, Any]:
        wish = order.prompt.sampling
        chosen = {
            "num_ctx": self.window,
            "num_predict": order.max_tokens,
            "temperature": order.temperature,
            "top_p": order.top_p,
            "top_k": wish.top_k,
            "stop": list(wish.stop) or None,
        }
        return {
            "model": order.model,
            "messages": [_message(message) for message in order.prompt.messages],
            "stream": True,
            "think": _think(order),
            "options": {name: value for name, value in chosen.items() if value is not None},
        } | ({"tools": tools_of(order.prompt.tools)} if order.prompt.tools else {})


class OllamaEmbedder:
    """Embeddings, normalised to unit length; a text too long for the model is an error, never cut."""

    local = False
    max_tokens = 2048

    def __init__(self, options: Options) -> None:
        if not options.model or not options.dimensions:
            raise SettingsError("Ollama needs embedding.model and embedding.dimensions")
        self.name = f"{options.model}/{options.dimensions}"
        self.dimensions = options.dimensions
        self._options = options
        self._server = _server(options, "embedding")

    def windows(self, text: str, prefix: str = "") -> list[str]:
        """Parts of at most 4,000 characters: inside a window of 2,048 tokens for most scripts."""
        return split(text, prefix, size=4000, shared=200)

    async def embed(self, texts: Sequence[str], *, as_query: bool) -> list[list[float]]:
        """One unit vector a text, in requests of at most `batch` texts."""
        vectors: list[list[float]] = []
        for start in range(0, len(texts), self._options.batch):
            part = texts[start : start + self._options.batch]
            body = {"model": self._options.model, "input": [text or " " for text in part], "truncate": False}
            answer = await self._server.post("/api/embed", body)
            if not isinstance(answer, dict) or not isinstance(answer.get("embeddings"), list):
                raise self._server.rubbish("no embeddings that can be read")
            vectors += unit_vectors(answer["embeddings"], len(part), self.dimensions, self._options.model)
        return vectors

    async def close(self) -> None:
        """Let the connections go."""
        await self._server.close()


async def running_here() -> list[ServerModel]:
    """The models of an Ollama on this machine; empty where none runs. Nothing but the list is asked for."""
    llm = OllamaLLM(Options(timeout_s=LOOK_S))
    try:
        return await llm.list_models()
    except ProviderError:
        return []
    finally:
        await llm.close()


def _server(options: Options, section: str) -> Server:
    """Its own API lies beside the OpenAI-style one, whose address is the better known."""
    address = (options.base_url or HOME).rstrip("/").removesuffix("/v1")
    return Server(address, section, options.timeout_s, options.api_key)


def _think(order: Order) -> bool | str:
    """Whether to think before the answer; models that only take an effort have no other switch."""
    way = facts_of(order.model).thinking
    if order.prompt.sampling.thinking is None or not way:
        return False
    return "high" if way == "effort" else True


def _message(message: Message) -> dict[str, Any]:
    """A message as Ollama takes it: pictures beside the words, a call's arguments as an object, no ids."""
    told: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.pictures:
        told["images"] = [picture.base64 for picture in message.pictures]
    if message.calls:
        told["tool_calls"] = [
            {"function": {"name": call.name, "arguments": arguments_of(call.arguments)}} for call in message.calls
        ]
    if message.answers:
        told["tool_name"] = message.answers.name
    return told


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
    """Called by `plugins.load`."""
    return OllamaLLM(options)


def make_embedder(options: Options) -> Embedder:
    """Called by `plugins.load`."""
    return OllamaEmbedder(options)
