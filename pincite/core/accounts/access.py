"""Roles and permissions: the only place that decides who may do what."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pincite.errors import NotAllowed

Role = Literal["administrator", "editor", "reader", "metrics"]
ReaderRole = Literal["administrator", "editor", "reader"]
"""A role whose users can be the readers of a document."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The user who makes a request, however they authenticated."""

    person: str
    role: Role
    key_id: str | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """The documents one caller may read, as a set of realms; an empty scope admits no document.

    A realm is a set of documents with the same readers. Every database row with text or vectors of a document has its
    realm, so that one small predicate restricts each query. `revisions` are those of the realms' documents when the
    scope was read, in the same order; without them, nothing kept in memory is used. `position` is the primary's position
    in its log at that moment; without it, no replica is read. `built` are the engines that had data of any of these
    documents then; None where that was not looked up.
    """

    person: str
    realms: tuple[int, ...]
    revisions: tuple[int, ...] = field(default=(), compare=False)
    position: str = field(default="", compare=False)
    built: frozenset[str] | None = field(default=None, compare=False)


LOCAL = Caller(person="local", role="administrator")
"""The caller of the command line and the Python library: it has access to the data folder."""

PERMISSIONS: Mapping[Role, frozenset[str]] = {
    "reader": frozenset({"read"}),
    "editor": frozenset({"read", "write"}),
    "administrator": frozenset({"read", "write", "administer", "measure"}),
    "metrics": frozenset({"measure"}),
}
"""The permissions of each role."""


def require(caller: Caller, permission: str) -> None:
    """Raise `NotAllowed` unless the caller's role has a permission."""
    if permission not in PERMISSIONS[caller.role]:
        raise NotAllowed(f"the role '{caller.role}' may not {permission} here; use a key of another role")


def may_give(caller: Caller, role: Role) -> bool:
    """Whether a role has no permission that the caller lacks."""
    return PERMISSIONS[role] <= PERMISSIONS[caller.role]


@dataclass(frozen=True, slots=True)
class ShareRequest:
    """Whom to share with, as a user wrote it: ids or names of users and groups, and roles."""

    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    everyone: bool = False
    roles: tuple[ReaderRole, ...] = ()
