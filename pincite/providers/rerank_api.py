"""Rerankers behind a server that speaks as text-embeddings-inference (TEI), Cohere or Jina do."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import SecretStr

from pincite.core.protocols import Reranker
from pincite.errors import ProviderRefused, SettingsError
from pincite.outbound.client import Server

Shape = Literal["tei", "cohere", "jina"]


@dataclass(frozen=True, slots=True)
class Options:
    """Where the server is, in which shape it is asked, and how many texts a request holds."""

    base_url: str = ""
    api_key: SecretStr | None = None
    model: str = ""
    shape: Shape = "tei"
    timeout_s: float = 30.0
    batch: int = 32


class RerankApi:
    """Scores as the server gives them; an answer that leaves any text without its own score is no answer."""

    def __init__(self, options: Options) -> None:
        if options.shape != "tei" and not options.model:
            raise SettingsError(f"a reranking server of the shape '{options.shape}' needs rerank.model")
        self._options = options
        self._server = Server(options.base_url, "rerank", options.timeout_s, options.api_key)

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score a text, in requests of at most `batch` texts."""
        scores: list[float] = []
        for start in range(0, len(texts), self._options.batch):
            scores += await self._request(query, texts[start : start + self._options.batch])
        return scores

    async def close(self) -> None:
        """Let the connections go."""
        await self._server.close()

    async def _request(self, query: str, texts: Sequence[str]) -> list[float]:
        headers = {"authorization": f"Bearer {self._server.key}"} if self._server.key else {}
        try:
            answer = await self._server.post("/rerank", self._body(query, texts), headers)
        except ProviderRefused as error:  # a server of another shape says no more than that it does not understand
            raise ProviderRefused(f"{error} (rerank.shape is {self._options.shape})", code=error.code) from error
        return self._scores(answer, len(texts))

    def _body(self, query: str, texts: Sequence[str]) -> dict[str, Any]:
        filled = [text or " " for text in texts]
        if self._options.shape == "tei":  # which refuses texts longer than its window unless it may cut them
            return {"query": query, "texts": filled, "truncate": True}
        body = {"model": self._options.model, "query": query, "documents": filled, "top_n": len(filled)}
        return body | {"return_documents": False} if self._options.shape == "jina" else body

    def _scores(self, answer: Any, count: int) -> list[float]:
        """The scores in the order of the texts: servers send the best first."""
        tei = self._options.shape == "tei"
        try:
            rows = answer if tei else answer["results"]
            pairs = [(_index(row["index"]), _number(row["score" if tei else "relevance_score"])) for row in rows]
        except (KeyError, TypeError, OverflowError) as error:
            raise self._server.rubbish("no scores that can be read; is rerank.shape right?") from error
        found = dict(pairs)
        if len(pairs) != count or set(found) != set(range(count)):
            raise self._server.rubbish(f"{len(pairs)} scores for {count} passages, not one for each")
        if not all(map(math.isfinite, found.values())):
            raise self._server.rubbish("a score that is not a number")
        return [found[place] for place in range(count)]


def _index(value: Any) -> int:
    if type(value) is not int:
        raise TypeError("an index is a whole number")
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("a score is a number")
    return float(value)


def make_reranker(options: Options) -> Reranker:
    """Called by `plugins.load`."""
    return RerankApi(options)
