"""Traces: what each request did, kept for its owner; administrators see all of them without their words."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, LiteralString

from psycopg import sql
from psycopg.types.json import Jsonb

from pincite.core.accounts.access import Scope
from pincite.core.query.answer import Degraded
from pincite.core.traces import Content, Span, Trace, TraceFilter, TraceOutcome
from pincite.errors import NotFound
from pincite.store.cursors import cursor_of, place_of
from pincite.store.database import LONG_WORK, Database, one, rows

WAIT_S = 1.0
"""How long whoever looks traces up waits for those that are being written."""


class TraceStore:
    """Keeps traces for their owner; `on_their_way` are those of this process that are being written."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.on_their_way: set[asyncio.Task[None]] = set()

    async def keep(self, owner: str, trace: Trace) -> None:
        """Write a finished trace with its spans; never the words of a document that went meanwhile."""
        spans = [_row(number, span) for number, span in enumerate(trace.spans)]
        values = {
            **{name: getattr(trace, name) for name in _PLAIN}, "owner": owner,
            "degraded": Jsonb([asdict(note) for note in trace.degraded]),
            "options": Jsonb(trace.options), "settings": Jsonb(trace.settings),
            "outcome": Jsonb(asdict(trace.outcome)) if trace.outcome else None,
            "content": Jsonb(asdict(trace.content)) if trace.content else None,
            "documents": list(trace.documents), "spans": Jsonb(spans),
        }  # fmt: skip
        await self._database.run_batch(owner, _KEEP, values=values, durable=False)

    async def list(self, scope: Scope, wanted: TraceFilter) -> tuple[list[Trace], str | None]:
        """Traces without their spans, newest first, and the cursor of the next page where there is one."""
        await self._settled()
        conditions, values = [_WHOSE], [scope.person, wanted.everybody]
        for condition, value in _conditions(wanted):
            conditions.append(condition)
            values.extend(value)
        query = sql.SQL(_TRACE + " where {} order by started_at desc, id desc limit %s").format(
            sql.SQL(" and ").join(sql.SQL(condition) for condition in conditions)
        )
        async with self._database.transaction(scope.person) as connection:
            found = await rows(connection, query, [*values, wanted.limit + 1])
        traces = [_trace(row, ()) for row in found[: wanted.limit]]
        return traces, cursor_of(traces[-1].started_at, traces[-1].id) if len(found) > wanted.limit else None

    async def get(self, scope: Scope, trace_id: str, *, everybody: bool = False) -> Trace:
        """One trace with its spans, by its own id or by that of the client's trace it was part of (the newest)."""
        await self._settled()
        values = (scope.person, everybody, trace_id)
        async with self._database.transaction(scope.person) as connection:
            row = await one(connection, f"{_TRACE} where {_WHOSE} and id = %s", values) or await one(
                connection,
                f"{_TRACE} where {_WHOSE} and left(remote, 32) = %s order by started_at desc limit 1",
                values,
            )
            if row is None:
                raise NotFound(f"there is no trace '{trace_id}'")
            spans = await rows(
                connection,
                "select name, parent, started_ms, duration_ms, error, attributes, id from told_span"
                " where trace_id = %s and owner = %s order by number",
                (row[0], row[14]),
            )
        return _trace(row, [Span(*span) for span in spans])

    async def _settled(self) -> None:
        """Wait until what was asked before can be seen."""
        if self.on_their_way:
            await asyncio.wait(set(self.on_their_way), timeout=WAIT_S)

    async def forget_old(self, days: int) -> int:
        """Drop traces past their time."""
        async with self._database.transaction("", local=LONG_WORK) as connection:
            row = await one(connection, "select forget_old_traces(%s)", (days,))
        return int(row[0]) if row else 0


_PLAIN = ("id", "kind", "strategy", "started_at", "duration_ms", "error", "code", "request_id", "remote")
_SPAN = tuple(field.name for field in fields(Span))
_TRACE: LiteralString = (
    "select id, kind, started_at, duration_ms, strategy, error, code, degraded, request_id, remote, options, settings,"
    " outcome, case when exists (select from unnest(documents) named where not exists"
    " (select from document d where d.id = named)) then content - array['answer', 'thoughts', 'prompt'] else content end, owner from told_trace"
)
_WHOSE: LiteralString = "(owner = %s or %s)"
_KEEP = """
    with held as (
        select id from hold_documents(%(documents)s, readable())
    ), kept as (
        insert into trace (id, owner, kind, strategy, started_at, duration_ms, error, code, degraded, request_id, remote,
                           options, settings, outcome, content, documents)
        select %(id)s, %(owner)s, %(kind)s, %(strategy)s, %(started_at)s, %(duration_ms)s, %(error)s, %(code)s,
               %(degraded)s, %(request_id)s, %(remote)s, %(options)s, %(settings)s, %(outcome)s,
               case when (select count(*) from held) = cardinality(%(documents)s::text[])
                    then %(content)s::jsonb else %(content)s::jsonb - array['answer', 'thoughts', 'prompt'] end, %(documents)s
        returning id, owner
    )
    insert into span (trace_id, number, parent, owner, name, started_ms, duration_ms, error, attributes, id)
    select k.id, s.number, s.parent, k.owner, s.name, s.started_ms, s.duration_ms, s.error, s.attributes, s.id
    from kept k, jsonb_to_recordset(%(spans)s) as s (number int, parent int, name text, started_ms real,
         duration_ms real, error text, attributes jsonb, id text)
"""


def _row(number: int, span: Span) -> dict[str, Any]:
    """A span for the database; `asdict` would copy its attributes value by value."""
    return {"number": number, **{name: getattr(span, name) for name in _SPAN}}


def _conditions(wanted: TraceFilter) -> list[tuple[str, tuple[Any, ...]]]:
    found: list[tuple[str, tuple[Any, ...]]] = []
    if wanted.kind is not None:
        found.append(("kind = %s", (wanted.kind,)))
    if wanted.errors:
        found.append(("error is not null", ()))
    if wanted.degraded:
        found.append(("degraded <> '[]'", ()))
    if wanted.slower_than_ms is not None:
        found.append(("duration_ms >= %s", (wanted.slower_than_ms,)))
    if wanted.since is not None:
        found.append(("started_at >= %s", (wanted.since,)))
    if wanted.cursor is not None:
        found.append(("(started_at, id) < (%s::timestamptz, %s)", place_of(wanted.cursor)))
    return found


def _trace(row: tuple[Any, ...], spans: Sequence[Span]) -> Trace:
    return Trace(
        row[0], row[1], row[2], row[3], row[4], row[5], row[6], tuple(Degraded(**note) for note in row[7]), tuple(spans),
        row[8], row[9], row[10], row[11],
        outcome=TraceOutcome(**_tuples(row[12])) if row[12] else None,
        content=Content(**_tuples(row[13])) if row[13] else None,
        owner=row[14],
    )  # fmt: skip


def _tuples(kept: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in kept.items()}


async def sizes(database: Database) -> dict[str, Mapping[str, float]]:
    """Of each thing how many in which state."""
    found: dict[str, dict[str, float]] = {"documents": {}, "chunks": {}, "jobs": {}}
    async with database.transaction("") as connection:
        for thing, state, amount in await rows(connection, "select thing, state, amount from library_sizes()"):
            found[thing][state] = float(amount)
    return {**found, "connections": database.connections()}
