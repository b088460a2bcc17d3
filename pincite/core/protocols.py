"""What the outside must look like to us. Implementations never import each other."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pincite.core.answers import Filters, Found, Piece, Prompt
from pincite.core.callers import Scope
from pincite.core.documents import Parsed

Vector = Sequence[float]


@runtime_checkable
class Parser(Protocol):
    """Turns the bytes of a file into text; runs in a child process with limits."""

    @property
    def reads(self) -> Mapping[str, str]:
        """MIME type → file name endings, separated by blanks."""
        ...

    def parse(self, data: bytes) -> Parsed: ...


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into unit vectors.

    `name` says model and variant: vectors of different names never meet. `local` means that it computes
    on this machine, so that bulk work belongs in a process of its own. `windows` splits a text that is
    longer than the model can see into overlapping parts that lose nothing, each led by `prefix`.
    """

    @property
    def name(self) -> str: ...
    @property
    def dimensions(self) -> int: ...
    @property
    def max_tokens(self) -> int: ...
    @property
    def local(self) -> bool: ...

    def windows(self, text: str, prefix: str = "") -> list[str]: ...
    async def embed(self, texts: Sequence[str], *, as_query: bool) -> list[list[float]]: ...


@runtime_checkable
class Reranker(Protocol):
    """Scores how well each text answers the query: same length, same order, higher is better."""

    async def score(self, query: str, texts: Sequence[str]) -> list[float]: ...


@runtime_checkable
class LLM(Protocol):
    """Streams what a model writes for a prompt; the last piece carries the finish reason."""

    @property
    def name(self) -> str: ...
    @property
    def window(self) -> int: ...

    def write(self, prompt: Prompt) -> AsyncIterator[Piece]: ...


@dataclass(frozen=True, slots=True)
class Match:
    """A chunk's key and the raw score one engine gave it."""

    key: int
    score: float


@dataclass(frozen=True, slots=True)
class Fetched:
    """Chunks read back by key, and the best cosine of each to the query where there was a vector."""

    chunks: Mapping[int, Found]
    similarities: Mapping[int, float]


class Index(Protocol):
    """Finds chunks of served versions. `scope` is required: no search is possible without it."""

    async def dense(self, vector: Vector, *, scope: Scope, filters: Filters, limit: int) -> list[Match]: ...
    async def lexical(self, text: str, *, scope: Scope, filters: Filters, limit: int) -> list[Match]: ...
    async def fetch(self, keys: Sequence[int], vectors: Sequence[Vector], *, scope: Scope) -> Fetched: ...
