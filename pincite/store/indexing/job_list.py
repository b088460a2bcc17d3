"""The queue as its owners see it: listed, counted, and left."""

import secrets
from collections.abc import Sequence
from typing import Any

from pincite.core.accounts.access import Scope
from pincite.core.documents.document import Failure
from pincite.core.documents.jobs import CancelledJob, EndedJob, JobState, PastJob, QueuedJob, QueueSummary
from pincite.errors import Invalid, NotFound
from pincite.store.cursors import cursor_of, place_of
from pincite.store.database import Database, one
from pincite.store.indexing.jobs import Job

KEPT_H = 24
"""Hours for which it is known how a job ended."""
TAKEN_S = 60.0
"""How long a job that is being cancelled is kept from workers, should the one who cancels it die halfway."""


class JobList:
    """Shows one person's jobs, and takes them away from whoever has them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self, scope: Scope, *, limit: int, cursor: str | None = None, state: JobState | None = None
    ) -> tuple[list[QueuedJob], str | None]:
        """Jobs in the order in which they come to an end, most likely, and the cursor of the next page."""
        after = _place(cursor) if cursor is not None else None
        values = {"person": scope.person, "limit": limit + 1, "after": list(after or (0, 0, 0)), "state": state}
        [found] = await self._database.run_batch(scope.person, _LIST_ON if after else _LIST, values=values)
        more = len(found) > limit
        return [_job(row) for row in found[:limit]], _cursor(found[limit - 1]) if more else None

    async def summary(self, scope: Scope) -> QueueSummary:
        """How much there is, how fast it goes, and how long that will take."""
        [[row]] = await self._database.run_batch(scope.person, _SUMMARY, values={"person": scope.person})
        running, waiting, held, stalled, ended, passages, seconds = row
        per_s = (ended - 1) / seconds if ended > 1 and seconds else None  # the first one opens the stretch of time
        left = running + waiting
        return QueueSummary(
            running, waiting, held, stalled,
            documents_per_s=round(per_s, 3) if per_s else None,
            passages_per_s=round(passages / seconds, 3) if per_s else None,
            remaining_s=round(left / per_s, 1) if per_s and left else None,
        )  # fmt: skip

    async def ended(self, scope: Scope, jobs: Sequence[QueuedJob]) -> list[EndedJob]:
        """Those of these jobs that are in the queue no more, and what became of their documents."""
        query = (
            "select w.id, w.document_id, d.status, d.error_code, d.error_message"
            " from unnest(%(ids)s::bigint[], %(documents)s::text[]) as w (id, document_id)"
            " left join document d on d.id = w.document_id and d.realm = any(%(realms)s)"
            " where not exists (select from job j where j.id = w.id)"
        )
        values = {"ids": [job.id for job in jobs], "documents": [job.document_id for job in jobs]}
        [found] = await self._database.run_batch(scope.person, query, values=values | {"realms": list(scope.realms)})
        return [EndedJob(r[0], r[1], r[2], Failure(r[3], r[4] or "") if r[3] else None) for r in found]

    async def past(self, scope: Scope, *, limit: int, cursor: str | None = None) -> tuple[list[PastJob], str | None]:
        """Jobs that have ended, the last one first, and the cursor of the next page."""
        before, last = place_of(cursor) if cursor is not None else (None, "0")
        if not (last.isascii() and last.isdecimal() and len(last) < 19):
            raise Invalid(_NO_CURSOR)
        values = {"person": scope.person, "limit": limit + 1, "before": before, "last": int(last)}
        [found] = await self._database.run_batch(scope.person, _PAST, values=values)
        jobs = [_past(row) for row in found[:limit]]
        return jobs, cursor_of(jobs[-1].ended_at, str(jobs[-1].id)) if len(found) > limit else None

    async def forget(self) -> None:
        """Forget jobs that ended long ago, whoever they belonged to."""
        await self._database.run_batch("", "select forget_ended_jobs(%(hours)s)", values={"hours": KEPT_H})

    async def take(self, scope: Scope, job_id: int) -> tuple[Job, CancelledJob]:
        """Take a job from whoever has it, so that it can be ended: they may no longer touch the document."""
        holder = f"cancelled:{secrets.token_hex(8)}"
        async with self._database.transaction(scope.person) as connection:
            found = await one(
                connection,
                "select d.id from job j join document d on d.id = j.document_id"
                " where j.id = %s and j.owner = %s for update of d",
                (job_id, scope.person),
            )
            row = found and await one(connection, _TAKE, {"id": job_id, "holder": holder, "lease_s": TAKEN_S})
        if not row:
            raise NotFound(f"there is no job '{job_id}'; it may have ended")
        job_id, document_id, version, attempts, was, name, serving = row
        job = Job(job_id, scope.person, document_id, version, attempts, holder)
        return job, CancelledJob(job_id, document_id, name, was, serving)


_NO_CURSOR = "cursor: this is not one that a list gave out; start again without it"

_JOB = """
    select j.id, j.document_id, d.name, d.folder, v.id, s.state, case when d.latest = j.version then d.stage end,
           case when s.state = 'running' and d.latest = j.version then d.progress else 0 end, j.priority, j.attempts,
           j.error_code, j.error_message,
           case when s.state = 'running' then regexp_replace(j.holder, ':[^:]*$', '') end, j.created_at, j.started_at,
           case when j.not_before > now() then j.not_before end,
           case when s.state = 'running' then extract(epoch from now() - j.started_at)::float8 end, s.place
    from job j join document d on d.id = j.document_id join version v on v.key = j.version
    cross join lateral (
        select j.standing, array_position(array['running', 'waiting', 'held'], j.standing)) as s (state, place)
    where j.owner = %(person)s and (%(state)s::text is null or s.state = %(state)s)
"""
_IN_TURN = " order by s.place, j.priority, j.id limit %(limit)s"
_LIST = _JOB + _IN_TURN
_LIST_ON = _JOB + " and array[s.place, j.priority, j.id] > %(after)s::bigint[]" + _IN_TURN
_SUMMARY = """
    with mine as (select j.standing as state, j.stalled_since from job j where j.owner = %(person)s),
         done as (select chunks, status, updated_at from document where owner = %(person)s
                  and updated_at > now() - interval '1 minute' and status in ('completed', 'error'))
    select (select count(*) from mine where state = 'running'), (select count(*) from mine where state = 'waiting'),
           (select count(*) from mine where state = 'held'),
           (select count(*) from mine where state = 'waiting' and stalled_since is not null),
           (select count(*) from done), (select coalesce(sum(chunks), 0) from done where status = 'completed'),
           (select extract(epoch from now() - min(updated_at))::float8 from done)
"""
_PAST = """
    select e.id, d.id, d.name, d.folder, v.id, e.status, e.error_code, e.error_message, e.attempts, e.created_at,
           e.started_at, e.ended_at
    from ended_job e join version v on v.key = e.version join document d on d.id = v.document_id
    where e.owner = %(person)s and (%(before)s::timestamptz is null or (e.ended_at, e.id) < (%(before)s, %(last)s))
    order by e.ended_at desc, e.id desc limit %(limit)s
"""
_TAKE = """
    update job t set state = 'running', holder = %(holder)s, lease_s = %(lease_s)s,
           lease_until = now() + make_interval(secs => %(lease_s)s)
    from (select j.id, j.standing as was, d.name, d.served is not null as serving
          from job j join document d on d.id = j.document_id where j.id = %(id)s) before
    where t.id = before.id
    returning t.id, t.document_id, t.version, t.attempts, before.was, before.name, before.serving
"""


def _job(row: tuple[Any, ...]) -> QueuedJob:
    elapsed, progress = row[16], row[7]
    remaining = round(elapsed * (1 - progress) / progress, 1) if elapsed and progress else None
    return QueuedJob(
        id=row[0], document_id=row[1], name=row[2], folder=row[3], version=row[4], state=row[5], stage=row[6],
        progress=round(progress, 4), priority=row[8], attempts=row[9],
        error=Failure(row[10], row[11] or "") if row[10] else None, worker=row[12], created_at=row[13],
        started_at=row[14], not_before=row[15], remaining_s=remaining,
    )  # fmt: skip


def _past(row: tuple[Any, ...]) -> PastJob:
    error = Failure(row[6], row[7] or "") if row[6] else None
    return PastJob(row[0], row[1], row[2], row[3], row[4], row[5], error, row[8], row[9], row[10], row[11])


def _cursor(row: tuple[Any, ...]) -> str:
    return f"{row[17]}.{row[8]}.{row[0]}"


def _place(cursor: str) -> tuple[int, ...]:
    parts = cursor.split(".")
    if len(parts) != 3 or not all(part.isascii() and part.isdecimal() and len(part) < 19 for part in parts):
        raise Invalid(_NO_CURSOR)
    return tuple(int(part) for part in parts)
