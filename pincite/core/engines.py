"""Engines beside dense and lexical search: their names, and what is built for each document."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, Protocol

from pincite.core.accounts.access import Scope

BuiltEngine = Literal["graph", "tree", "late"]
"""Engines with data of their own, which is built in the background for each edition of a document."""
EngineName = Literal["graph", "dual", "tree", "late"]
"""Engines of a search; `dual` reads the data of the graph."""


@dataclass(frozen=True, slots=True)
class BuildTarget:
    """An edition that an engine's data is built for; `holder` is the token of the claim."""

    owner: str
    document_id: str
    edition: int
    holder: str


@dataclass(frozen=True, slots=True)
class BuildPassage:
    """A passage of the edition: its chunk, its place in the text of the version, and its text."""

    chunk: int
    ordinal: int
    start: int
    text: str
    heading_path: tuple[str, ...]
    content_type: str
    language: str


@dataclass(frozen=True, slots=True)
class BuildSource:
    """What an engine builds from: the title of the document, its type and its passages in order."""

    title: str
    mime: str
    passages: tuple[BuildPassage, ...]


@dataclass(frozen=True, slots=True)
class BuildProgress:
    """Of an engine: documents that can be built, built with the present settings, and those that could not be."""

    documents: int
    built: int
    failed: int


class BuildStates(Protocol):
    """Which engines have data for any document in a scope."""

    async def built(self, scope: Scope) -> Collection[BuiltEngine]: ...
