"""What was done, by whom and from where, as a chain: each event's hash covers the one before it."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from pincite.errors import Invalid

EventName = Literal[
    "setup", "login", "logout", "password.change",
    "key.create", "key.revoke",
    "user.add", "user.role", "user.limit", "user.suspend", "user.resume", "user.remove", "user.hand_over",
    "group.add", "group.remove", "group.join", "group.leave",
    "document.add", "document.change", "document.share", "document.remove",
    "folder.share", "folder.move",
    "answer.share", "answer.unshare",
    "settings.set", "settings.reset", "settings.undo", "settings.apply",
    "index.switch", "index.rollback", "index.discard",
    "library.backup", "library.restore", "library.purge",
    "content.read",
]  # fmt: skip
AuditOutcome = Literal["done", "failed", "refused"]
"""Refused is what was not even tried, as a login after too many that failed."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """Something to be noted: what was done, to what, and how it went. Ids and numbers; never content, never a secret."""

    event: EventName
    subject: str | None = None
    outcome: AuditOutcome = "done"
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """Something that was noted. `person` is who did it: nobody known, where a login failed."""

    number: int
    at: datetime
    event: str
    outcome: str
    person: str | None
    subject: str | None
    address: str
    key_id: str | None
    request_id: str
    details: Mapping[str, Any]
    hash: str


@dataclass(frozen=True, slots=True)
class Anchor:
    """How long a chain is, and the hash it ends with there."""

    number: int
    hash: bytes

    def __str__(self) -> str:
        return f"{self.number}:{self.hash.hex()}"


BEGINNING = Anchor(0, bytes(32))


@dataclass(frozen=True, slots=True)
class Link:
    """One event as it is kept."""

    number: int
    content: str
    hash: bytes


@dataclass(frozen=True, slots=True)
class ChainCheck:
    """What checking the chain brought: how far it holds, and what is wrong, if anything is."""

    reached: Anchor
    fault: str | None = None


def chained(before: Anchor, content: str) -> Link:
    """An event with its place in the chain."""
    number = before.number + 1
    return Link(number, content, hashlib.sha256(before.hash + number.to_bytes(8, "big") + content.encode()).digest())


def followed(anchor: Anchor, links: Iterable[Link], known: Anchor | None = None) -> ChainCheck:
    """Go on from an anchor as far as the chain holds; it must pass through `known`, where one kept that elsewhere."""
    for link in links:
        wanted = chained(anchor, link.content)
        if link.number != wanted.number:
            return ChainCheck(anchor, f"event {wanted.number} is missing")
        if link.hash != wanted.hash:
            return ChainCheck(anchor, f"event {link.number} was changed, or one before it was removed")
        anchor = Anchor(link.number, link.hash)
        if known is not None and anchor.number == known.number and anchor.hash != known.hash:
            return ChainCheck(
                anchor, f"event {anchor.number} is not the one that was noted: the chain was written anew"
            )
    return ChainCheck(anchor)


def ended(reached: Anchor, head: Anchor, known: Anchor | None = None) -> ChainCheck:
    """Whether a chain that holds so far ends where it should."""
    if reached.number < head.number:
        return ChainCheck(reached, f"it ends after event {reached.number}, and {head.number} were written")
    if reached != head:
        return ChainCheck(reached, f"it goes on after event {head.number}, with what was not written by pincite")
    if known is not None and known.number > reached.number:
        return ChainCheck(reached, f"it ends after event {reached.number}, and you noted {known.number}")
    return ChainCheck(reached)


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which events a list is about, newest first: of a name or its first part, by or about somebody, since a time."""

    event: str | None = None
    person: str | None = None
    since: datetime | None = None
    limit: int = 100
    cursor: str | None = None


def read_anchor(given: str) -> Anchor:
    """An anchor as a check prints it: `12:9f86d0…`."""
    number, _, digest = given.strip().partition(":")
    try:
        anchor = Anchor(int(number), bytes.fromhex(digest))
    except ValueError:
        anchor = Anchor(-1, b"")
    if anchor.number < 0 or len(anchor.hash) != len(BEGINNING.hash):
        raise Invalid("a head is what an earlier check printed: a number, a colon and 64 hexadecimal digits")
    return anchor
