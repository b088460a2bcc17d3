"""Who may do what: the only place that decides."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pincite.errors import NotAllowed

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


LOCAL = Caller(person="local", role="administrator")
"""Whoever can read the data folder: the command line and the library act as this one."""

MAY: Mapping[Role, frozenset[str]] = {
    "reader": frozenset({"read"}),
    "editor": frozenset({"read", "write"}),
    "administrator": frozenset({"read", "write", "administer", "measure"}),
    "metrics": frozenset({"measure"}),
}


def require(caller: Caller, what: str) -> None:
    """Raise `NotAllowed` unless the caller's role may do this."""
    if what not in MAY[caller.role]:
        raise NotAllowed(f"a key of the role '{caller.role}' may not {what} here; use one with a wider role")


@dataclass(frozen=True, slots=True)
class ShareRequest:
    """Whom to share with, as somebody wrote it: ids or names of people and groups."""

    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    everyone: bool = False
