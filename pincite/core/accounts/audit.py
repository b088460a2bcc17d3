"""The audit log: events in a hash chain, in which each event's hash covers the event before it."""

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
"""`refused` means not attempted, such as a login after too many failures."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An event to log: what was done, to what, with what outcome. Ids and numbers only; no content and no secrets."""

    event: EventName
    subject: str | None = None
    outcome: AuditOutcome = "done"
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """A logged event. `person` is the user who acted; None after a failed login."""

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
    """A position in the chain: the number of an event and its hash."""

    number: int
    hash: bytes

    def __str__(self) -> str:
        return f"{self.number}:{self.hash.hex()}"


CHAIN_START = Anchor(0, bytes(32))
"""The anchor before the first event."""


@dataclass(frozen=True, slots=True)
class Link:
    """One event as it is stored in the chain."""

    number: int
    content: str
    hash: bytes


@dataclass(frozen=True, slots=True)
class ChainCheck:
    """The result of verifying the chain: the last valid event, and the fault after it, if any."""

    reached: Anchor
    fault: str | None = None


def append_link(before: Anchor, content: str) -> Link:
    """Return the link of an event that follows an anchor."""
    number = before.number + 1
    return Link(number, content, hashlib.sha256(before.hash + number.to_bytes(8, "big") + content.encode()).digest())


def verify_links(anchor: Anchor, links: Iterable[Link], known: Anchor | None = None) -> ChainCheck:
    """Verify links after an anchor up to the first fault; the chain must contain the anchor `known`, if given."""
    for link in links:
        wanted = append_link(anchor, link.content)
        if link.number != wanted.number:
            return ChainCheck(anchor, f"event {wanted.number} is missing")
        if link.hash != wanted.hash:
            return ChainCheck(anchor, f"event {link.number} was changed, or one before it was removed")
        anchor = Anchor(link.number, link.hash)
        if known is not None and anchor.number == known.number and anchor.hash != known.hash:
            return ChainCheck(anchor, f"event {anchor.number} differs from the head you noted: the chain was rewritten")
    return ChainCheck(anchor)


def verify_end(reached: Anchor, head: Anchor, known: Anchor | None = None) -> ChainCheck:
    """Verify that a chain that is valid up to `reached` ends at its recorded head."""
    if reached.number < head.number:
        return ChainCheck(reached, f"the log ends after event {reached.number}, but {head.number} events were written")
    if reached != head:
        return ChainCheck(
            reached, f"the log continues after event {head.number} with events that pincite did not write"
        )
    if known is not None and known.number > reached.number:
        return ChainCheck(
            reached, f"the log ends after event {reached.number}, but the head you noted is event {known.number}"
        )
    return ChainCheck(reached)


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which events to list, newest first: by event name or its first part, by the user involved, by time."""

    event: str | None = None
    person: str | None = None
    since: datetime | None = None
    limit: int = 100
    cursor: str | None = None


def read_anchor(text: str) -> Anchor:
    """Parse an anchor in the form that a verification prints: `12:9f86d0…`."""
    number, _, digest = text.strip().partition(":")
    try:
        anchor = Anchor(int(number), bytes.fromhex(digest))
    except ValueError:
        anchor = Anchor(-1, b"")
    if anchor.number < 0 or len(anchor.hash) != len(CHAIN_START.hash):
        raise Invalid(
            "this is no head of the audit log; a check prints it as a number, a colon and 64 hexadecimal digits"
        )
    return anchor
