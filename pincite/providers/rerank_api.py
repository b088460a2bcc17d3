"""Rerank servers with the API of text-embeddings-inference (TEI), Cohere or Jina."""

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
    """The address and API of the server, and the number of texts per request."""

    base_url: str = ""
    api_key: SecretStr | None = None
    model: str = ""
    shape: Shape = "tei"
    timeout_s: float = 30.0
    batch: int = 32


class RerankApi:
    """Returns the scores of the server; a response without exactly one score per text is an error."""

    def __init__(self, options: Options) -> None:
        if options.shape != "tei" and not options.model:
            raise SettingsError(f"a rerank server with rerank.shape={options.shape} needs a model; set rerank.model")
        self._options = options
        self._server = Server(options.base_url, "rerank", options.timeout_s, options.api_key)

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score per text, in requests of at most `batch` texts."""
        scores: list[float] = []
        for start in range(0, len(texts), self._options.batch):
            scores += await self._request(query, texts[start : start + self._options.batch])
        return scores

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()

    async def _request(self, query: str, texts: Sequence[str]) -> list[float]:
        headers = {"authorization": f"Bearer {self._server.key}"} if self._server.key else {}
        try:
            answer = await self._server.post("/rerank", self._body(query, texts), headers)
        except ProviderRefused as error:  # a server with another API does not report that
            raise ProviderRefused(f"{error} (rerank.shape is {self._options.shape})", code=error.code) from error
        return self._scores(answer, len(texts))

    def _body(self, query: str, texts: Sequence[str]) -> dict[str, Any]:
        filled = [text or " " for text in texts]
        if self._options.shape == "tei":  # TEI rejects texts longer than its window unless it may truncate them
            return {"query": query, "texts": filled, "truncate": True}
        body = {"model": self._options.model, "query": query, "documents": filled, "top_n": len(filled)}
        return body | {"return_documents": False} if self._options.shape == "jina" else body

    def _scores(self, answer: Any, count: int) -> list[float]:
        """Return the scores in the order of the texts; servers send the best first."""
        tei = self._options.shape == "tei"
        try:
            rows = answer if tei else answer["results"]
            pairs = [(_index(row["index"]), _number(row["score" if tei else "relevance_score"])) for row in rows]
        except (KeyError, TypeError, OverflowError) as error:
            raise self._server.invalid_answer("unreadable scores; check rerank.shape") from error
        found = dict(pairs)
        if len(pairs) != count or set(found) != set(range(count)):
            raise self._server.invalid_answer(f"{len(pairs)} scores for {count} passages, not one for each")
        if not all(map(math.isfinite, found.values())):
            raise self._server.invalid_answer("a score that is not a number")
        return [found[place] for place in range(count)]


def _index(value: Any) -> int:
    if type(value) is not int:
        raise TypeError("an index must be an integer")
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("a score must be a number")
    return float(value)


def make_reranker(options: Options) -> Reranker:
    """Create the reranker; called by `plugins.load`."""
    return RerankApi(options)
