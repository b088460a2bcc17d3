"""What the outside must look like to us. Implementations never import each other."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pincite.config.branches.retrieval import Cache as CacheLimits
from pincite.core.accounts.access import Scope
from pincite.core.accounts.conversations import KeptTurn
from pincite.core.documents.document import Parsed, ReadRequest
from pincite.core.documents.positions import PageText, TextSpan
from pincite.core.query.answer import Answer
from pincite.core.query.hits import RetrievedChunk
from pincite.core.query.pictures import Picture
from pincite.core.query.prompt import Prompt, StreamPart
from pincite.core.query.question import Exchange, Filters
from pincite.core.query.tools import Abilities

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

    def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]: ...


@runtime_checkable
class HasCapabilities(Protocol):
    """A model that can say, or was told by its server, what it can do besides writing."""

    @property
    def abilities(self) -> Abilities: ...


@dataclass(frozen=True, slots=True)
class Offered:
    """A model that a server has, and how many tokens it can see where the server says so."""

    name: str
    window: int | None = None


@runtime_checkable
class Discoverable(Protocol):
    """A model behind a server that can be asked what it has.

    `meet` asks once, where the settings and the model table leave open which model it is or how much it sees;
    it never fails: who cannot be asked is met as a stranger.
    """

    async def meet(self) -> None: ...
    async def list_models(self) -> list[Offered]: ...


@dataclass(frozen=True, slots=True)
class Match:
    """A chunk's key, the raw score one engine gave it, and the most it could have given."""

    key: int
    score: float
    most: float = 1.0


@dataclass(frozen=True, slots=True)
class Fetched:
    """Chunks read back by key, and the best cosine of each to the query where there was a vector.

    `strangers` counts the documents searched whose vectors are of another model than the query's.
    """

    chunks: Mapping[int, RetrievedChunk]
    similarities: Mapping[int, float]
    strangers: int = 0


@dataclass(frozen=True, slots=True)
class Titled:
    """A document that carries a name, and its chunk nearest to the query."""

    name: str
    document_id: str
    nearest: Match


@dataclass(frozen=True, slots=True)
class Opened:
    """What was read of a document: its passages in order, which lines these are, and of how many.

    `places` are the lines a text was found in, where one was looked for, `found` how often it stands there in all.
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
    """Finds chunks of served versions. `scope` is required: no search is possible without it."""

    async def dense(self, vector: Vector, *, scope: Scope, filters: Filters, limit: int) -> list[Match]: ...
    async def lexical(self, text: str, *, scope: Scope, filters: Filters, limit: int) -> list[Match]: ...
    async def fetch(
        self, keys: Sequence[int], vectors: Sequence[Vector], *, scope: Scope, filters: Filters
    ) -> Fetched: ...
    async def documents_named(
        self, names: Sequence[str], vector: Vector, *, scope: Scope, filters: Filters
    ) -> list[Titled]: ...
    async def nearest_in_documents(
        self, documents: Sequence[str], vector: Vector, *, scope: Scope, filters: Filters, limit: int
    ) -> list[Match]: ...
    async def parents(self, keys: Sequence[int], level: int, *, scope: Scope) -> dict[int, RetrievedChunk]: ...
    async def pages(self, extracts: Sequence[TextSpan], *, scope: Scope) -> list[list[PageText]]: ...


class DocumentReader(Protocol):
    """Documents that can be opened: those the caller may see and the filters admit. Any other is not there.

    `read` gives a part of one as passages in order, whose text is literally the document's and overlaps nowhere; `find`
    gives the passages a text stands in, and every place with its line.
    """

    async def read(self, reading: ReadRequest, *, scope: Scope, filters: Filters) -> Opened: ...
    async def find(self, reading: ReadRequest, text: str, *, scope: Scope, filters: Filters) -> Opened: ...


class PictureReader(Protocol):
    """Reads the text in a picture; `Unavailable` or `Unreadable` where that cannot be done."""

    async def text_in(self, picture: Picture) -> str: ...


class Vocabulary(Protocol):
    """The words of the documents a caller may see; `scope` is required, as for every search."""

    async def known_words(self, words: Collection[str], *, scope: Scope) -> frozenset[str]: ...
    async def words_in_scope(self, words: Collection[str], *, scope: Scope, filters: Filters) -> frozenset[str]: ...


class Memory(Protocol):
    """Conversations of one person at a time; a session that is not the caller's is not found.

    What it was given to keep it keeps, even if whoever waits for that is cancelled.
    """

    async def recent(self, scope: Scope, session_id: str, turns: int) -> tuple[Exchange, ...]: ...
    async def keep(self, scope: Scope, session_id: str, turn: KeptTurn) -> None: ...


@dataclass(frozen=True, slots=True)
class Looked:
    """What a first look at kept answers finds: the entry of the very same question, and whether there are others.

    `state` is that of all that may be read; None where it is changing, and then nothing is given or kept.
    """

    state: str | None
    same: int | None = None
    others: bool = False


@dataclass(frozen=True, slots=True)
class Alike:
    """A kept question, and its cosine to one that is asked."""

    id: int
    question: str
    similarity: float


@dataclass(frozen=True, slots=True)
class ToKeep:
    """An answer to be kept: to which question, under which key, and in which state of the documents it was made."""

    key: bytes
    state: str
    question: str
    vector: Vector
    answer: Answer


class Cache(Protocol):
    """Answers that may be given again: only to whoever asked, and only while nothing they may read has changed."""

    async def look(self, scope: Scope, key: bytes, question: str) -> Looked: ...
    async def alike(self, scope: Scope, key: bytes, vector: Vector, least: float) -> list[Alike]: ...
    async def read(self, scope: Scope, entry: int) -> Answer | None: ...
    async def keep(self, scope: Scope, entry: ToKeep, limits: CacheLimits) -> bool: ...
