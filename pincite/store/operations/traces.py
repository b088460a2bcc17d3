"""Traces of requests, stored for their owner; administrators read all of them without their texts."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, LiteralString

from psycopg import sql
from psycopg.types.json import Jsonb

from pincite.concurrency import Batcher
from pincite.core.accounts.access import Scope
from pincite.core.query.answer import Degraded
from pincite.core.request_context import read_only
from pincite.core.traces import Content, Span, Trace, TraceFilter, TraceOutcome
from pincite.errors import NotFound
from pincite.store.cursors import cursor_of, place_of
from pincite.store.database import LONG_TIMEOUTS, Columns, Database, by_name, fetch_all, fetch_one, select_list

MAX_WAIT_S = 1.0
"""Seconds that a reader of traces waits at most for pending writes."""
PAUSE_S = 0.2
"""Seconds that a trace waits for others to be written with it."""


class TraceStore:
    """Stores traces for their owner; `pending_writes` are the tasks of this process that write one."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.pending_writes: set[asyncio.Task[None]] = set()
        self._writing = Batcher(self._write_all, pause_s=PAUSE_S)

    async def keep(self, owner: str, trace: Trace) -> None:
        """Write a finished trace with its spans; without texts if one of its documents was removed meanwhile.

        Traces that are finished while others are being written are written together.
        """
        if read_only.get():  # the database refuses it: nothing is written while another person's library is viewed
            await self._database.run_each(owner, _INSERT, [_values(owner, trace)], durable=False)
        else:
            await self._writing((owner, trace))

    async def _write_all(self, finished: Sequence[tuple[str, Trace]]) -> list[Exception | None]:
        by_owner: dict[str, list[Mapping[str, Any]]] = {}
        for owner, trace in finished:
            by_owner.setdefault(owner, []).append(_values(owner, trace))
        for owner, values in by_owner.items():
            await self._database.run_each(owner, _INSERT, values, durable=False)
        return [None] * len(finished)

    async def list(self, scope: Scope, wanted: TraceFilter) -> tuple[list[Trace], str | None]:
        """Return one page of traces without spans, newest first, and the cursor of the next page, if any."""
        await self._wait_for_writes()
        conditions, values = [_VISIBLE], [scope.person, wanted.everybody]
        for condition, value in _conditions(wanted):
            conditions.append(condition)
            values.extend(value)
        query = sql.SQL(_TRACE + " where {} order by started_at desc, id desc limit %s").format(
            sql.SQL(" and ").join(sql.SQL(condition) for condition in conditions)
        )
        async with self._database.transaction(scope.person) as connection:
            found = await fetch_all(connection, query, [*values, wanted.limit + 1])
        traces = [_to_trace(row, ()) for row in found[: wanted.limit]]
        return traces, cursor_of(traces[-1].started_at, traces[-1].id) if len(found) > wanted.limit else None

    async def get(self, scope: Scope, trace_id: str, *, everybody: bool = False) -> Trace:
        """Return a trace with its spans, by its id or, the newest, by the id of the client's trace."""
        await self._wait_for_writes()
        values = (scope.person, everybody, trace_id)
        async with self._database.transaction(scope.person) as connection:
            found = await fetch_one(connection, f"{_TRACE} where {_VISIBLE} and id = %s", values) or await fetch_one(
                connection,
                f"{_TRACE} where {_VISIBLE} and left(remote, 32) = %s order by started_at desc limit 1",
                values,
            )
            if found is None:
                raise NotFound(f"there is no trace '{trace_id}'")
            row = by_name(_COLUMNS, found)
            spans = await fetch_all(
                connection,
                "select name, parent, started_ms, duration_ms, error, attributes, id from told_span"
                " where trace_id = %s and owner = %s order by number",
                (row["id"], row["owner"]),
            )
        return _to_trace(found, [Span(*span) for span in spans])

    def write_now(self) -> None:
        """Write what is pending without waiting for more."""
        self._writing.hurry()

    async def _wait_for_writes(self) -> None:
        """Wait for pending writes, so that finished requests are visible."""
        if self.pending_writes:
            self.write_now()
            await asyncio.wait(set(self.pending_writes), timeout=MAX_WAIT_S)

    async def remove_old(self, days: int) -> int:
        """Remove traces older than `days`; return their number."""
        async with self._database.transaction("", local=LONG_TIMEOUTS) as connection:
            row = await fetch_one(connection, "select forget_old_traces(%s)", (days,))
        return int(row[0]) if row else 0


_PLAIN_FIELDS = ("id", "kind", "strategy", "started_at", "duration_ms", "error", "code", "request_id", "remote")
_SPAN_FIELDS = tuple(field.name for field in fields(Span))
_COLUMNS: Columns = {
    "id": "id",
    "kind": "kind",
    "started_at": "started_at",
    "duration_ms": "duration_ms",
    "strategy": "strategy",
    "error": "error",
    "code": "code",
    "degraded": "degraded",
    "request_id": "request_id",
    "remote": "remote",
    "options": "options",
    "settings": "settings",
    "outcome": "outcome",
    "content": (
        "case when exists (select from unnest(documents) named"
        " where not exists (select from document d where d.id = named))"
        " then content - array['answer', 'thoughts', 'prompt'] else content end"
    ),
    "owner": "owner",
}
"""Field of `Trace` → its SQL; without texts if one of its documents was removed."""
_TRACE: LiteralString = "select " + select_list(_COLUMNS) + " from told_trace"  # noqa: S608 - constant columns
_VISIBLE: LiteralString = "(owner = %s or %s)"
_INSERT = """
    with held as (
        select id from hold_documents(%(documents)s, readable())
    ), kept as (
        insert into trace (id, owner, kind, strategy, started_at, duration_ms, error, code, degraded, request_id,
                           remote, options, settings, outcome, content, documents)
        select %(id)s, %(owner)s, %(kind)s, %(strategy)s, %(started_at)s, %(duration_ms)s, %(error)s, %(code)s,
               %(degraded)s, %(request_id)s, %(remote)s, %(options)s, %(settings)s, %(outcome)s,
               case when (select count(*) from held) = cardinality(%(documents)s::text[])
                    then %(content)s::jsonb
                    else %(content)s::jsonb - array['answer', 'thoughts', 'prompt'] end, %(documents)s
        returning id, owner
    )
    insert into span (trace_id, number, parent, owner, name, started_ms, duration_ms, error, attributes, id)
    select k.id, s.number, s.parent, k.owner, s.name, s.started_ms, s.duration_ms, s.error, s.attributes, s.id
    from kept k, jsonb_to_recordset(%(spans)s) as s (number int, parent int, name text, started_ms real,
         duration_ms real, error text, attributes jsonb, id text)
"""


def _values(owner: str, trace: Trace) -> dict[str, Any]:
    """Return the values of a trace for the database."""
    return {
        **{name: getattr(trace, name) for name in _PLAIN_FIELDS},
        "owner": owner,
        "degraded": Jsonb([asdict(note) for note in trace.degraded]),
        "options": Jsonb(trace.options),
        "settings": Jsonb(trace.settings),
        "outcome": Jsonb(asdict(trace.outcome)) if trace.outcome else None,
        "content": Jsonb(asdict(trace.content)) if trace.content else None,
        "documents": list(trace.documents),
        "spans": Jsonb([_span_values(number, span) for number, span in enumerate(trace.spans)]),
    }


def _span_values(number: int, span: Span) -> dict[str, Any]:
    """Return the values of a span for the database; `asdict` would be slow, it copies the attributes deeply."""
    return {"number": number, **{name: getattr(span, name) for name in _SPAN_FIELDS}}


def _conditions(wanted: TraceFilter) -> list[tuple[str, tuple[Any, ...]]]:
    found: list[tuple[str, tuple[Any, ...]]] = []
    if wanted.kind is not None:
        found.append(("kind = %s", (wanted.kind,)))
    if wanted.errors:
        found.append(("error is not null", ()))
    if not wanted.evaluations:
        found.append(("kind <> 'evaluation'", ()))
    if wanted.degraded:
        found.append(("degraded <> '[]'", ()))
    if wanted.slower_than_ms is not None:
        found.append(("duration_ms >= %s", (wanted.slower_than_ms,)))
    if wanted.since is not None:
        found.append(("started_at >= %s", (wanted.since,)))
    if wanted.cursor is not None:
        found.append(("(started_at, id) < (%s::timestamptz, %s)", place_of(wanted.cursor)))
    return found


def _to_trace(row: tuple[Any, ...], spans: Sequence[Span]) -> Trace:
    values = by_name(_COLUMNS, row)
    outcome, content = values.pop("outcome"), values.pop("content")
    return Trace(
        degraded=tuple(Degraded(**note) for note in values.pop("degraded")),
        spans=tuple(spans),
        outcome=TraceOutcome(**_with_tuples(outcome)) if outcome else None,
        content=Content(**_with_tuples(content)) if content else None,
        **values,
    )


def _with_tuples(stored: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()}


async def library_sizes(database: Database) -> dict[str, Mapping[str, float]]:
    """Return the numbers of documents, chunks, jobs and connections by state, the queue's age, and the replicas."""
    found: dict[str, dict[str, float]] = {"documents": {}, "chunks": {}, "jobs": {}, "queue": {}}
    async with database.transaction("") as connection:
        for thing, state, amount in await fetch_all(connection, "select thing, state, amount from library_sizes()"):
            found[thing][state] = float(amount)
    replicas = database.replicas.numbers() if database.replicas else {}
    return {**found, "connections": database.connections(), "replicas": replicas}
