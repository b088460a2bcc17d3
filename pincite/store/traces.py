"""Traces: what each request did, stage by stage."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from pincite.core.answers import Degraded
from pincite.core.callers import Scope
from pincite.core.run import Span
from pincite.errors import NotFound
from pincite.store.database import Database, one, rows


@dataclass(frozen=True, slots=True)
class Trace:
    """One request: how long it took, what was missing and, where asked for, its spans."""

    id: str
    kind: str
    question: str | None
    strategy: str | None
    started_at: datetime
    duration_ms: float
    error: str | None
    degraded: tuple[Degraded, ...]
    spans: tuple[Span, ...] = ()


class Traces:
    """Keeps traces for their owner."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep(self, owner: str, trace: Trace) -> None:
        """Write a finished trace with its spans."""
        async with self._database.transaction(owner, durable=False) as connection:
            await connection.execute(
                "insert into trace (id, owner, kind, question, strategy, started_at, duration_ms, error, degraded)"
                " values (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
                (trace.id, owner, trace.kind, trace.question, trace.strategy, trace.started_at, trace.duration_ms,
                 trace.error, Jsonb([asdict(note) for note in trace.degraded])),
            )  # fmt: skip
            await connection.execute(
                "insert into span (trace_id, number, parent, owner, stage, started_ms, duration_ms, error, attributes)"
                " select %s, s.number, s.parent, %s, s.stage, s.started_ms, s.duration_ms, s.error, s.attributes"
                " from jsonb_to_recordset(%s) as s (number int, parent int, stage text, started_ms real,"
                " duration_ms real, error text, attributes jsonb)",
                (trace.id, owner, Jsonb([{"number": n, **asdict(span)} for n, span in enumerate(trace.spans)])),
            )

    async def recent(self, scope: Scope, limit: int) -> list[Trace]:
        """The newest traces, without their spans."""
        async with self._database.transaction(scope.person) as connection:
            found = await rows(
                connection, _TRACE + " where owner = %s order by started_at desc limit %s", (scope.person, limit)
            )
        return [_trace(row, ()) for row in found]

    async def get(self, scope: Scope, trace_id: str) -> Trace:
        """One trace with its spans."""
        async with self._database.transaction(scope.person) as connection:
            row = await one(connection, _TRACE + " where owner = %s and id = %s", (scope.person, trace_id))
            spans = await rows(
                connection,
                "select stage, parent, started_ms, duration_ms, error, attributes from span"
                " where trace_id = %s and owner = %s order by number",
                (trace_id, scope.person),
            )
        if row is None:
            raise NotFound(f"there is no trace '{trace_id}'")
        return _trace(row, [Span(*span) for span in spans])

    async def forget_old(self, days: int) -> int:
        """Drop traces past their time."""
        async with self._database.transaction("") as connection:
            row = await one(connection, "select forget_old_traces(%s)", (days,))
        return int(row[0]) if row else 0


_TRACE = "select id, kind, question, strategy, started_at, duration_ms, error, degraded from trace"


def _trace(row: tuple[Any, ...], spans: Sequence[Span]) -> Trace:
    degraded = tuple(Degraded(**note) for note in row[7])
    return Trace(row[0], row[1], row[2], row[3], row[4], row[5], row[6], degraded, tuple(spans))
