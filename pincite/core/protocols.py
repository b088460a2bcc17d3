"""Protocols of the exchangeable parts: parsers, models, stores. Implementations never import each other."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from pincite.config.branches.retrieval import Cache as CacheLimits
from pincite.core.accounts.access import Scope
from pincite.core.accounts.conversations import KeptTurn
from pincite.core.documents.document import Parsed, ReadRequest
from pincite.core.documents.positions import PageText, TextSpan
from pincite.core.graph import GraphFact, Subgraph
from pincite.core.query.answer import Answer
from pincite.core.query.hits import RetrievedChunk
from pincite.core.query.pictures import Picture
from pincite.core.query.prompt import Prompt, StreamPart
from pincite.core.query.question import Exchange, Filters
from pincite.core.query.reading import ReadableText, Reading
from pincite.core.query.tools import Abilities

Vector = Sequence[float]


@runtime_checkable
class Parser(Protocol):
    """Parses the bytes of a file into text; runs in a child process with resource limits."""

    @property
    def reads(self) -> Mapping[str, str]:
        """MIME types → file extensions, separated by spaces."""
        ...

    def parse(self, data: bytes) -> Parsed: ...


@runtime_checkable
class Embedder(Protocol):
    """Embeds texts as unit vectors.

    `name` is the model and its variant; vectors of different names are never compared. `local` means that the model
    runs on this machine; bulk embedding then gets a process of its own. `windows` splits a text that exceeds
    `max_tokens` into overlapping parts that together hold all of it, each with `prefix` in front.
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
    """Scores how well each text answers the query: one score per text, in the same order; higher is better."""

    async def score(self, query: str, texts: Sequence[str]) -> list[float]: ...


@runtime_checkable
class Reader(Protocol):
    """Reads a question or a claim together with a passage: whether and where it answers, supports or contradicts."""

    async def read(self, question: str, passages: Sequence[ReadableText]) -> list[Reading]: ...
    async def read_pairs(self, pairs: Sequence[tuple[str, ReadableText]]) -> list[Reading]: ...


@runtime_checkable
class LLM(Protocol):
    """Streams the completion of a prompt; the last part has the finish reason. `window` is the context window."""

    @property
    def name(self) -> str: ...
    @property
    def window(self) -> int: ...

    def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]: ...


@runtime_checkable
class HasCapabilities(Protocol):
    """A model whose capabilities are known, from itself or from its server."""

    @property
    def abilities(self) -> Abilities: ...


@dataclass(frozen=True, slots=True)
class ServerModel:
    """A model that a server offers; `window` is its context window in tokens, if the server states it."""

    name: str
    window: int | None = None


@runtime_checkable
class Discoverable(Protocol):
    """A model on a server that can list its models.

    `discover` asks the server once, if neither the settings nor the model table say which model it is or how large its
    context window is. It never fails: without a reply the defaults for an unknown model are used.
    """

    async def discover(self) -> None: ...
    async def list_models(self) -> list[ServerModel]: ...


@runtime_checkable
class ServesModels(Protocol):
    """A server of several models; `window_of` is the context window of one of them, by its name."""

    def window_of(self, model: str) -> int: ...


class Match(NamedTuple):
    """A chunk's key, its raw score in one search engine, and the maximum of that score (`most`)."""

    key: int
    score: float
    most: float = 1.0


class TermMatches(NamedTuple):
    """A term of a question: its weight in the corpus, and which of the chunks asked about contain it."""

    weight: float
    keys: frozenset[int]


@dataclass(frozen=True, slots=True)
class Fetched:
    """Chunks fetched by key, and the best cosine of each to the query vectors, if there are any.

    `strangers` is the number of searched documents that were embedded with another model than the query. `outdated`
    means that the documents changed since the keys were found in memory: the search is to be repeated.
    """

    chunks: Mapping[int, RetrievedChunk]
    similarities: Mapping[int, float]
    strangers: int = 0
    outdated: bool = False


@dataclass(frozen=True, slots=True)
class TitleMatch:
    """A document whose title or name matches `name`, and its chunk nearest to the query."""

    name: str
    document_id: str
    nearest: Match


@dataclass(frozen=True, slots=True)
class NamedDocument:
    """A document by its id, with its title and its file name."""

    document_id: str
    title: str
    name: str


@dataclass(frozen=True, slots=True)
class DocumentExtract:
    """A part of a document: its passages in order, its first and last line, and the document's number of lines.

    After a text search, `places` are the lines with a match and `found` is the number of matches in the document.
    """

    document_id: str
    version: str
    title: str
    passages: tuple[RetrievedChunk, ...]
    start_line: int
    end_line: int
    total_lines: int
    section: str | None = None
    places: tuple[int, ...] = ()
    found: int = 0


class Index(Protocol):
    """Searches the chunks of served versions. Every search requires a `scope`."""

    async def dense(self, vector: Vector, *, scope: Scope, filters: Filters, limit: int) -> list[Match]: ...
    async def lexical(self, text: str, *, scope: Scope, filters: Filters, limit: int) -> list[Match]: ...
    async def terms_in(
        self, text: str, keys: Sequence[int], *, scope: Scope, filters: Filters
    ) -> list[TermMatches]: ...
    async def fetch(
        self, keys: Sequence[int], vectors: Sequence[Vector], *, scope: Scope, filters: Filters
    ) -> Fetched: ...
    def answers_at_once(self, scope: Scope, filters: Filters) -> bool: ...
    def remembered(self, keys: Sequence[int], *, scope: Scope, filters: Filters) -> Mapping[int, RetrievedChunk]: ...
    async def documents_named(
        self, names: Sequence[str], vector: Vector, *, scope: Scope, filters: Filters
    ) -> list[TitleMatch]: ...
    async def documents_with_names_like(
        self, parts: Sequence[str], *, scope: Scope, filters: Filters, limit: int
    ) -> list[NamedDocument]: ...
    async def nearest_in_documents(
        self, documents: Sequence[str], vector: Vector, *, scope: Scope, filters: Filters, limit: int
    ) -> list[Match]: ...
    async def parents(self, keys: Sequence[int], level: int, *, scope: Scope) -> dict[int, RetrievedChunk]: ...
    async def has_documents(self, scope: Scope) -> bool: ...
    async def pages(self, extracts: Sequence[TextSpan], *, scope: Scope) -> list[list[PageText]]: ...


class GraphIndex(Protocol):
    """Searches the graph of what the caller may read; every statement compares the realm at every hop."""

    async def subgraph(
        self, names: Sequence[int], chunks: Sequence[int], *, scope: Scope, filters: Filters
    ) -> Subgraph: ...
    async def facts_in(self, chunks: Sequence[int], *, scope: Scope) -> list[GraphFact]: ...
    async def has_vectors(self, *, scope: Scope) -> bool: ...
    async def nearest(
        self, vector: Vector, *, entities: bool, scope: Scope, filters: Filters, limit: int
    ) -> list[Match]: ...


class TreeSearch(Protocol):
    """Searches the summary tree; returns the passages below the best nodes, with scores from 0 to 1."""

    async def search(self, text: str, vector: Vector, *, scope: Scope, filters: Filters, limit: int) -> list[Match]: ...


class TokenVectors(Protocol):
    """Reads packed token vectors of one model, and searches their centroids; `near` is None in too large a library."""

    async def tokens(self, keys: Sequence[int], model: str, *, scope: Scope, filters: Filters) -> dict[int, bytes]: ...
    async def near(
        self, question: Sequence[Vector], model: str, *, scope: Scope, filters: Filters, limit: int
    ) -> list[int] | None: ...


class DocumentReader(Protocol):
    """Reads documents that the caller may read and the filters admit; any other is reported as not found.

    `read` returns a part of a document as passages in order; their text is literally the document's and does not
    overlap. `find` returns the passages that contain a text, and the line of every match.
    """

    async def read(self, reading: ReadRequest, *, scope: Scope, filters: Filters) -> DocumentExtract: ...
    async def find(self, reading: ReadRequest, text: str, *, scope: Scope, filters: Filters) -> DocumentExtract: ...


class PictureReader(Protocol):
    """Reads the text in a picture (OCR); raises `Unavailable` or `Unreadable` on failure."""

    async def text_in(self, picture: Picture) -> str: ...


class Vocabulary(Protocol):
    """The words of the documents in a scope.

    `known_words` returns the words that occur in any document of the scope, in this form or another of the same stem;
    `words_in` returns the words that occur in documents that the filters admit.
    """

    async def known_words(self, words: Collection[str], *, scope: Scope) -> frozenset[str]: ...
    async def words_in_scope(self, words: Collection[str], *, scope: Scope, filters: Filters) -> frozenset[str]: ...


class Memory(Protocol):
    """Stores the conversations of users; a session of another user is reported as not found.

    `begin_turn` stores a question before its answer and returns the turn's number; `save_turn` completes that turn, also
    if the waiting task is cancelled; `drop_turn` removes it.
    """

    async def recent(
        self, scope: Scope, session_id: str, turns: int, *, before: str | None = None
    ) -> tuple[Exchange, ...]: ...
    async def begin_turn(self, scope: Scope, session_id: str, question: str, trace_id: str) -> int: ...
    async def save_turn(self, scope: Scope, session_id: str, turn: KeptTurn, begun: int | None) -> None: ...
    async def drop_turn(self, scope: Scope, session_id: str, begun: int) -> None: ...


@dataclass(frozen=True, slots=True)
class CacheLookup:
    """The result of a cache lookup: the entry of the identical question, and whether there are other entries.

    `state` identifies the state of all documents in the scope. It is None while they change: the cache is bypassed
    then.
    """

    state: str | None
    same: int | None = None
    others: bool = False


@dataclass(frozen=True, slots=True)
class SimilarQuestion:
    """A cached question and its cosine to the question asked."""

    id: int
    question: str
    similarity: float


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """An answer to cache, with its question, the cache key, and the state of the documents it was made from."""

    key: bytes
    state: str
    question: str
    vector: Vector
    answer: Answer


class QueryVectors(Protocol):
    """The vectors of a person's earlier queries, by one embedder."""

    async def find(self, person: str, texts: Sequence[str]) -> dict[str, Vector]: ...
    async def save(self, person: str, vectors: Mapping[str, Vector]) -> None: ...


class Cache(Protocol):
    """Cached answers: returned only to the user who asked, and only while no document in their scope changes."""

    async def look_up(self, scope: Scope, key: bytes, question: str) -> CacheLookup: ...
    async def similar(self, scope: Scope, key: bytes, vector: Vector, least: float) -> list[SimilarQuestion]: ...
    async def read(self, scope: Scope, entry: int) -> Answer | None: ...
    async def save(self, scope: Scope, entry: CacheEntry, limits: CacheLimits) -> bool: ...
