"""Any OpenAI-style server: completions, streamed, and embeddings."""

import json
import math
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2
from pydantic import SecretStr

from pincite.core.answers import Piece, Prompt, Usage
from pincite.core.protocols import LLM, Embedder
from pincite.errors import ProviderError, SettingsError


@dataclass(frozen=True, slots=True)
class Options:
    """Taken from the settings `llm.*` or `embedding.*`."""

    base_url: str = ""
    api_key: SecretStr | None = field(default=None, repr=False)
    model: str = ""
    temperature: float = 0.3
    max_tokens: int = 1000
    window: int = 8192
    timeout_s: float = 120.0
    dimensions: int = 0
    batch: int = 10


class _Server:
    """One server, spoken to over one client that is made when it is first needed."""

    def __init__(self, options: Options) -> None:
        if not options.base_url.startswith(("http://", "https://")):
            raise SettingsError("an OpenAI-style server needs a base URL such as http://127.0.0.1:11434/v1")
        self.base_url = options.base_url.rstrip("/")
        self.shown = re.sub(r"//[^/@]*@", "//", self.base_url)  # a password in the address stays there
        headers = {"authorization": f"Bearer {options.api_key.get_secret_value()}"} if options.api_key else {}
        self._headers = headers
        self._timeout = httpx2.Timeout(options.timeout_s, connect=10.0)
        self._client: httpx2.AsyncClient | None = None

    @property
    def client(self) -> httpx2.AsyncClient:
        if self._client is None:
            self._client = httpx2.AsyncClient(headers=self._headers, timeout=self._timeout)
        return self._client

    def failed(self, error: httpx2.HTTPError) -> ProviderError:
        """A transport error in words a person can act on."""
        what = "took too long to answer" if isinstance(error, httpx2.TimeoutException) else "cannot be reached"
        return ProviderError(f"the model server {self.shown} {what} ({type(error).__name__})")

    def refused(self, status: int, body: str, model: str) -> ProviderError:
        """An HTTP error in words a person can act on."""
        said = _message(body)
        if status in (401, 403):
            return ProviderError(
                f"{self.shown} refused the key (HTTP {status}); check llm.api_key or embedding.api_key"
            )
        if status == 404:
            return ProviderError(f"{self.shown} does not know the model '{model}' (HTTP 404): {said}")
        if status == 429:
            return ProviderError(f"{self.shown} is out of quota or too busy (HTTP 429): {said}")
        return ProviderError(f"{self.shown} answered HTTP {status}: {said}")

    async def close(self) -> None:
        """Let the connections go."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None


class OpenAICompatibleLLM:
    """Completions, streamed."""

    def __init__(self, options: Options) -> None:
        if not options.model:
            raise SettingsError("a model server needs a model's name: set llm.model (or LLM_MODEL)")
        self.name = options.model
        self.window = options.window
        self._options = options
        self._server = _Server(options)

    async def write(self, prompt: Prompt) -> AsyncIterator[Piece]:
        """Stream a completion; the last piece says why it ended."""
        body = self._body(prompt)
        url = f"{self._server.base_url}/chat/completions"
        try:
            async with self._server.client.stream("POST", url, json=body) as response:
                if response.status_code != 200:
                    text = (await response.aread()).decode(errors="replace")
                    raise self._server.refused(response.status_code, text, body["model"])
                finished = False
                async for piece in _pieces(response.aiter_lines()):
                    finished = finished or piece.finish_reason is not None
                    yield piece
        except httpx2.HTTPError as error:
            raise self._server.failed(error) from error
        if not finished:
            raise ProviderError(f"{self._server.shown} broke off in the middle of the answer")

    async def close(self) -> None:
        """Let the connections go."""
        await self._server.close()

    def _body(self, prompt: Prompt) -> dict[str, Any]:
        wish = prompt.sampling
        body: dict[str, Any] = {
            "model": wish.model or self._options.model,
            "messages": [{"role": message.role, "content": message.content} for message in prompt.messages],
            "temperature": self._options.temperature if wish.temperature is None else wish.temperature,
            "max_tokens": wish.max_tokens or self._options.max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if wish.top_p is not None:
            body["top_p"] = wish.top_p
        if wish.stop:
            body["stop"] = list(wish.stop)
        return body


class OpenAICompatibleEmbedder:
    """Embeddings, normalised to unit length."""

    local = False
    max_tokens = 8000

    def __init__(self, options: Options) -> None:
        if not options.model or not options.dimensions:
            raise SettingsError("an embedding server needs embedding.model and embedding.dimensions")
        self.name = f"{options.model}/{options.dimensions}"
        self.dimensions = options.dimensions
        self._options = options
        self._server = _Server(options)

    def windows(self, text: str, prefix: str = "") -> list[str]:
        """Parts of at most 8,000 characters: well inside the window of 8,000 tokens for most scripts."""
        size, shared = 8000, 400
        if len(text) <= size:
            return [prefix + text]
        return [prefix + text[start : start + size] for start in range(0, len(text) - shared, size - shared)]

    async def embed(self, texts: Sequence[str], *, as_query: bool) -> list[list[float]]:
        """One unit vector a text, in requests of at most `batch` texts."""
        vectors: list[list[float]] = []
        for start in range(0, len(texts), self._options.batch):
            vectors.extend(await self._request(texts[start : start + self._options.batch]))
        return vectors

    async def close(self) -> None:
        """Let the connections go."""
        await self._server.close()

    async def _request(self, texts: Sequence[str]) -> list[list[float]]:
        body = {"model": self._options.model, "input": [text or " " for text in texts]}
        try:
            response = await self._server.client.post(f"{self._server.base_url}/embeddings", json=body)
        except httpx2.HTTPError as error:
            raise self._server.failed(error) from error
        if response.status_code != 200:
            raise self._server.refused(response.status_code, response.text, self._options.model)
        try:
            data = sorted(response.json()["data"], key=lambda item: item["index"])
            vectors = [[float(x) for x in item["embedding"]] for item in data]
        except (ValueError, KeyError, TypeError) as error:
            raise ProviderError(f"{self._server.shown} sent no embeddings that can be read") from error
        return [self._checked(vector) for vector in self._counted(vectors, len(texts))]

    def _counted(self, vectors: list[list[float]], wanted: int) -> list[list[float]]:
        if len(vectors) != wanted:
            raise ProviderError(f"{self._server.shown} sent {len(vectors)} vectors for {wanted} texts")
        return vectors

    def _checked(self, vector: list[float]) -> list[float]:
        if len(vector) != self.dimensions:
            raise ProviderError(
                f"{self._options.model} gives {len(vector)} dimensions, embedding.dimensions says {self.dimensions}"
            )
        length = math.sqrt(sum(x * x for x in vector))
        if not math.isfinite(length) or length == 0:
            raise ProviderError(f"{self._options.model} gave a vector that is zero or not a number")
        return [x / length for x in vector]


async def _pieces(lines: AsyncIterator[str]) -> AsyncIterator[Piece]:
    """The events of a completion stream; what is not data is passed over."""
    async for line in lines:
        if not line.startswith("data:"):
            continue
        data = line[5:].strip()
        if data == "[DONE]":
            return
        try:
            event = json.loads(data)
        except ValueError as error:
            raise ProviderError("the model server sent an event that is not JSON") from error
        if isinstance(event, dict) and event.get("error"):
            raise ProviderError(f"the model server reported: {_message(data)}")
        try:
            piece = _piece(event)
        except (TypeError, AttributeError, KeyError, IndexError) as error:
            raise ProviderError("the model server sent an event that cannot be understood") from error
        yield piece


def _piece(event: dict[str, Any]) -> Piece:
    choice = (event.get("choices") or [{}])[0]
    usage = event.get("usage")
    return Piece(
        text=(choice.get("delta") or {}).get("content") or "",
        finish_reason=choice.get("finish_reason"),
        model=event.get("model"),
        usage=Usage(usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)) if usage else None,
    )


def _message(body: str) -> str:
    """What a server says went wrong, in one line."""
    try:
        error = json.loads(body).get("error", body)
        text = error.get("message", body) if isinstance(error, dict) else str(error)
    except (ValueError, AttributeError):
        text = body
    return " ".join(str(text).replace("\0", " ").split())[:300]


def make_llm(options: Options) -> LLM:
    """Called by `plugins.load`."""
    return OpenAICompatibleLLM(options)


def make_embedder(options: Options) -> Embedder:
    """Called by `plugins.load`."""
    return OpenAICompatibleEmbedder(options)
