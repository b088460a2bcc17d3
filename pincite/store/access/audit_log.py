"""The audit log: events noted in the transaction of what they tell, listed, and checked for gaps and changes."""

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
from pincite.store.database import LONG_WORK, Connection, Database, one, rows

PAGE = 5000
"""Events that are in memory at a time while the chain is checked."""
LAST = 2**63 - 1


async def record(connection: Connection, *told: AuditEntry) -> None:
    """Note what this transaction does; its last statement, for others who note something wait until it ends."""
    await note_from(connection, [(origin(), one_told) for one_told in told])


async def note_from(connection: Connection, told: Sequence[tuple[RequestOrigin, AuditEntry]]) -> None:
    """The same for what came from several places and is done together."""
    events = [asdict(one_told) | asdict(place) for place, one_told in told]
    await connection.execute("select note_events(%s)", (Jsonb(events),))


class AuditLog:
    """Lists and checks what was noted; for administrators, says the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, person: str, told: AuditEntry) -> None:
        """Note something that has no transaction of its own."""
        async with self._database.transaction(person) as connection:
            await record(connection, told)

    async def list(self, by: str, wanted: AuditFilter) -> tuple[list[AuditEvent], str | None]:
        """Events, newest first, and the cursor of the next page where there is one."""
        before = None if wanted.cursor is None else _number(wanted.cursor)
        values = asdict(wanted) | {"before": before, "limit": wanted.limit + 1}
        [found] = await self._database.at_once(by, _LIST, values=values)
        events = [_event(row) for row in found[: wanted.limit]]
        return events, str(events[-1].number) if len(found) > wanted.limit else None

    async def verify(self, by: str, known: Anchor | None = None) -> ChainCheck:
        """Check the chain from its beginning to its end; `known` is what an earlier check brought, kept elsewhere."""
        async with self._database.transaction(by, local=LONG_WORK) as connection:
            row = await one(connection, _HEAD)
            if row is None:
                raise NotAllowed("only an administrator may look at the audit log")
            head, last = Anchor(row[0], bytes(row[1])), row[2] or 0
            verdict = ChainCheck(CHAIN_START)
            while verdict.fault is None:
                page = await rows(connection, _PAGE, (verdict.reached.number, last, PAGE))
                verdict = verify_links(verdict.reached, [Link(n, content, bytes(h)) for n, content, h in page], known)
                if len(page) < PAGE:
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


def _number(cursor: str) -> int:
    if not (cursor.isascii() and cursor.isdecimal()):
        raise Invalid("cursor: this is not one that a list gave out; start again without it")
    return min(int(cursor), LAST)


def _event(row: tuple[Any, ...]) -> AuditEvent:
    number, content, digest, at = row
    told = json.loads(content)
    return AuditEvent(
        number, at, told["event"], told["outcome"], told["person"], told["subject"], told["address"], told["key_id"],
        told["request_id"], told["details"], bytes(digest).hex(),
    )  # fmt: skip
