"""The audit log: events recorded in the transaction they describe, listed, and verified for gaps and changes."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from psycopg.types.json import Jsonb

from pincite.core.accounts.audit import (
    CHAIN_START,
    Anchor,
    AuditEntry,
    AuditEvent,
    AuditFilter,
    ChainCheck,
    Link,
    verify_end,
    verify_links,
)
from pincite.core.request_context import RequestOrigin, origin
from pincite.errors import Invalid, NotAllowed
from pincite.store.cursors import INVALID_CURSOR
from pincite.store.database import LONG_TIMEOUTS, Connection, Database, fetch_all, fetch_one

EVENTS_PER_PAGE = 5000
"""Events that are read at a time while the hash chain is verified."""
MAX_EVENT_NUMBER = 2**63 - 1
"""The largest value of the database's `bigint`, to which larger cursors are clipped."""


async def record(connection: Connection, *entries: AuditEntry) -> None:
    """Record events of this transaction; its last statement, because other recorders wait until it ends."""
    await record_from(connection, [(origin(), entry) for entry in entries])


async def record_from(connection: Connection, entries: Sequence[tuple[RequestOrigin, AuditEntry]]) -> None:
    """Record events of several requests that share this transaction."""
    events = [asdict(entry) | asdict(request) for request, entry in entries]
    await connection.execute("select note_events(%s)", (Jsonb(events),))


class AuditLog:
    """Lists and verifies the audit log; the database admits administrators only."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, person: str, entry: AuditEntry) -> None:
        """Record an event in its own transaction."""
        async with self._database.transaction(person) as connection:
            await record(connection, entry)

    async def list(self, by: str, wanted: AuditFilter) -> tuple[list[AuditEvent], str | None]:
        """Return one page of events, newest first, and the cursor of the next page, if any."""
        before = None if wanted.cursor is None else _from_cursor(wanted.cursor)
        values = asdict(wanted) | {"before": before, "limit": wanted.limit + 1}
        [found] = await self._database.run_batch(by, _LIST, values=values)
        events = [_to_event(row) for row in found[: wanted.limit]]
        return events, str(events[-1].number) if len(found) > wanted.limit else None

    async def verify(self, by: str, known: Anchor | None = None) -> ChainCheck:
        """Verify the hash chain from its beginning; `known` is the end of an earlier check, stored elsewhere."""
        async with self._database.transaction(by, local=LONG_TIMEOUTS) as connection:
            row = await fetch_one(connection, _HEAD)
            if row is None:
                raise NotAllowed("only an administrator may read the audit log")
            head, last = Anchor(row[0], bytes(row[1])), row[2] or 0
            verdict = ChainCheck(CHAIN_START)
            while verdict.fault is None:
                page = await fetch_all(connection, _PAGE, (verdict.reached.number, last, EVENTS_PER_PAGE))
                verdict = verify_links(verdict.reached, [Link(n, content, bytes(h)) for n, content, h in page], known)
                if len(page) < EVENTS_PER_PAGE:
                    break
        return verdict if verdict.fault else verify_end(verdict.reached, head, known)


_LIST = """
    select number, content, hash, at from audit_event
    where (%(event)s::text is null or event = %(event)s or starts_with(event, %(event)s || '.'))
      and (%(person)s::text is null or person = %(person)s or subject = 'user:' || %(person)s)
      and (%(since)s::timestamptz is null or at >= %(since)s) and (%(before)s::bigint is null or number < %(before)s)
    order by number desc limit %(limit)s
"""
_HEAD = "select number, hash, (select max(number) from audit_event) from audit_head"
_PAGE = "select number, content, hash from audit_event where number > %s and number <= %s order by number limit %s"


def _from_cursor(cursor: str) -> int:
    if not (cursor.isascii() and cursor.isdecimal()):
        raise Invalid(INVALID_CURSOR)
    return min(int(cursor), MAX_EVENT_NUMBER)


_CONTENT = ("event", "outcome", "person", "subject", "address", "key_id", "request_id", "details")
"""Fields of `AuditEvent` that are stored in its JSON content."""


def _to_event(row: tuple[Any, ...]) -> AuditEvent:
    number, content, digest, at = row
    stored = json.loads(content)
    return AuditEvent(number=number, at=at, hash=bytes(digest).hex(), **{name: stored[name] for name in _CONTENT})
