"""Who asks, and what they may see."""

from dataclasses import dataclass
from typing import Literal

Role = Literal["administrator", "editor", "reader", "metrics"]


@dataclass(frozen=True, slots=True)
class Caller:
    """The person behind a request, however they came in."""

    person: str
    role: Role
    key_id: str | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """What one caller may read: the realms whose documents they see. Empty means nothing at all.

    A realm is a set of documents with the same readers; every row that holds a document's words or
    vectors carries its realm, so that one small predicate decides for all of them.
    """

    person: str
    realms: tuple[int, ...]
