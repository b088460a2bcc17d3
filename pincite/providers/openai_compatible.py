"""Any OpenAI-compatible server: streamed completions, embeddings, and the list of models."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from pincite.core.protocols import LLM, Embedder, ServerModel
from pincite.core.query.prompt import StreamPart
from pincite.errors import SettingsError
from pincite.models.facts import facts_of
from pincite.outbound.client import Server
from pincite.outbound.embeddings import split, unit_vectors
from pincite.outbound.llm.hosted import CompletionRequest, Options, ServedLLM
from pincite.outbound.llm.openai_messages import messages_of, piece_of_event, response_format, tools_of
from pincite.outbound.llm.parse import text_of, window_of
from pincite.outbound.llm.tool_calls import Calls

__all__ = ["Options", "make_embedder", "make_llm"]


class OpenAICompatibleLLM(ServedLLM):
    """Streamed completions."""

    def __init__(self, options: Options) -> None:
        super().__init__(options, Server(options.base_url, options.section, options.timeout_s, options.api_key))

    async def list_models(self) -> list[ServerModel]:
        """List the models of the server."""
        found = await self._server.get("/models", _headers(self._server))
        try:
            return [ServerModel(text_of(one["id"]), _window(one)) for one in found["data"]]
        except (TypeError, KeyError, AttributeError) as error:
            raise self._server.invalid_answer("an unreadable list of models") from error

    async def _pieces(self, body: dict[str, Any]) -> AsyncGenerator[StreamPart, None]:
        calls = Calls()
        async with aclosing(self._server.stream("/chat/completions", body, _headers(self._server))) as events:
            async for event in events:
                if event.get("error"):
                    raise self._server.stream_error(event)
                try:
                    piece = piece_of_event(event, calls)
                except (TypeError, AttributeError, KeyError, IndexError) as error:
                    raise self._server.invalid_answer("an event of unknown form") from error
                yield piece

    def _body(self, order: CompletionRequest) -> dict[str, Any]:
        wish, facts, messages = order.prompt.sampling, facts_of(order.model), messages_of(order.prompt)
        plain = bool(messages) and isinstance(messages[-1]["content"], str)
        if facts.no_thinking and plain and wish.thinking is None:
            messages[-1]["content"] += f" {facts.no_thinking}"
        body: dict[str, Any] = {
            "model": order.model,
            "messages": messages,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if facts.sampling == "none":  # these models accept only the newer name of the limit, and no temperature
            chosen: dict[str, Any] = {"max_completion_tokens": order.max_tokens}
        else:
            chosen = {"max_tokens": order.max_tokens, "temperature": order.temperature, "top_p": order.top_p}
            chosen["top_k"] = wish.top_k
        chosen["stop"] = list(wish.stop) or None
        if wish.thinking is not None and facts.thinking in ("effort", "budget", "adaptive"):
            chosen["reasoning_effort"] = "high"
        chosen["tools"] = tools_of(order.prompt.tools) or None
        chosen["response_format"] = response_format(order.prompt.schema)
        return body | {name: value for name, value in chosen.items() if value is not None}


class OpenAICompatibleEmbedder:
    """Embeddings of unit length."""

    local = False
    max_tokens = 8000

    def __init__(self, options: Options) -> None:
        if not options.model or not options.dimensions:
            raise SettingsError("an embedding server needs embedding.model and embedding.dimensions; set both")
        self.name = f"{options.model}/{options.dimensions}"
        self.dimensions = options.dimensions
        self._options = options
        self._server = Server(options.base_url, "embedding", options.timeout_s, options.api_key)

    def windows(self, text: str, prefix: str = "") -> list[str]:
        """Split into parts of at most 8,000 characters, which fit 8,000 tokens in most scripts."""
        return split(text, prefix, size=8000, shared=400)

    async def embed(self, texts: Sequence[str], *, as_query: bool) -> list[list[float]]:
        """Return one unit vector per text, in requests of at most `batch` texts."""
        vectors: list[list[float]] = []
        for start in range(0, len(texts), self._options.batch):
            vectors.extend(await self._request(texts[start : start + self._options.batch]))
        return vectors

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()

    async def _request(self, texts: Sequence[str]) -> list[list[float]]:
        body = {"model": self._options.model, "input": [text or " " for text in texts]}
        answer = await self._server.post("/embeddings", body, _headers(self._server))
        try:
            found = {item["index"]: item["embedding"] for item in answer["data"]}
            vectors = [found[number] for number in range(len(answer["data"]))]
        except (KeyError, TypeError) as error:
            raise self._server.invalid_answer("unreadable embeddings") from error
        return unit_vectors(vectors, len(texts), self.dimensions, self._options.model)


def _headers(server: Server) -> dict[str, str]:
    return {"authorization": f"Bearer {server.key}"} if server.key else {}


def _window(model: dict[str, Any]) -> int | None:
    """Return the context window of a model, under the names used by vLLM, Groq, OpenRouter and llama.cpp.

    For llama.cpp the window it was started with precedes the one of the training.
    """
    about = model | (model.get("meta") or {})
    names = ("max_model_len", "context_window", "context_length", "n_ctx", "n_ctx_train")
    return next((window for name in names if (window := window_of(about.get(name)))), None)


def make_llm(options: Options) -> LLM:
    """Create the language model; called by `plugins.load`."""
    return OpenAICompatibleLLM(options)


def make_embedder(options: Options) -> Embedder:
    """Create the embedder; called by `plugins.load`."""
    return OpenAICompatibleEmbedder(options)
