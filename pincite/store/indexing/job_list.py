"""The job queue as its owners see it: list, summary, ended jobs and cancellation."""

import secrets
from collections.abc import Sequence
from typing import Any

from pincite.core.accounts.access import Scope
from pincite.core.documents.document import Failure
from pincite.core.documents.jobs import CancelledJob, EndedJob, JobState, PastJob, QueuedJob, QueueSummary
from pincite.errors import Invalid, NotFound
from pincite.store.cursors import INVALID_CURSOR, cursor_of, place_of
from pincite.store.database import Columns, Database, by_name, fetch_one, select_list
from pincite.store.indexing.jobs import Job

ENDED_JOB_RETENTION_H = 24
"""Hours for which the outcome of an ended job is stored."""
CANCEL_LEASE_S = 60.0
"""Lease in seconds of a job that is being cancelled: workers can claim it again after that, should the process die."""


class JobList:
    """Lists one person's jobs, and takes jobs over from workers to cancel them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self, scope: Scope, *, limit: int, cursor: str | None = None, state: JobState | None = None
    ) -> tuple[list[QueuedJob], str | None]:
        """Return one page of jobs, running ones first, then by priority and age, and the cursor of the next page."""
        after = _from_cursor(cursor) if cursor is not None else None
        values = {"person": scope.person, "limit": limit + 1, "after": list(after or (0, 0, 0)), "state": state}
        [found] = await self._database.run_batch(scope.person, _LIST_AFTER if after else _LIST, values=values)
        more = len(found) > limit
        return [_to_job(row) for row in found[:limit]], _to_cursor(found[limit - 1]) if more else None

    async def summary(self, scope: Scope) -> QueueSummary:
        """Return the number of jobs by state, the throughput, and the estimated remaining time."""
        [[row]] = await self._database.run_batch(scope.person, _SUMMARY, values={"person": scope.person})
        running, waiting, held, stalled, ended, passages, seconds = row
        per_s = (ended - 1) / seconds if ended > 1 and seconds else None  # the first one starts the measured time
        left = running + waiting
        return QueueSummary(
            running,
            waiting,
            held,
            stalled,
            documents_per_s=round(per_s, 3) if per_s else None,
            passages_per_s=round(passages / seconds, 3) if per_s else None,
            remaining_s=round(left / per_s, 1) if per_s and left else None,
        )

    async def ended(self, scope: Scope, jobs: Sequence[QueuedJob]) -> list[EndedJob]:
        """Return those of these jobs that left the queue, with the status of their documents."""
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
        """Return one page of ended jobs, the last one first, and the cursor of the next page."""
        before, last = place_of(cursor) if cursor is not None else (None, "0")
        if not (last.isascii() and last.isdecimal() and len(last) < 19):
            raise Invalid(INVALID_CURSOR)
        values = {"person": scope.person, "limit": limit + 1, "before": before, "last": int(last)}
        [found] = await self._database.run_batch(scope.person, _PAST, values=values)
        jobs = [_to_past_job(row) for row in found[:limit]]
        return jobs, cursor_of(jobs[-1].ended_at, str(jobs[-1].id)) if len(found) > limit else None

    async def remove_old(self) -> None:
        """Remove the outcomes of jobs that ended more than `ENDED_JOB_RETENTION_H` ago, of every owner."""
        await self._database.run_batch(
            "", "select forget_ended_jobs(%(hours)s)", values={"hours": ENDED_JOB_RETENTION_H}
        )

    async def take_over(self, scope: Scope, job_id: int) -> tuple[Job, CancelledJob]:
        """Take a job over from its worker, which can then no longer change the document, to cancel the job."""
        holder = f"cancelled:{secrets.token_hex(8)}"
        async with self._database.transaction(scope.person) as connection:
            found = await fetch_one(
                connection,
                "select d.id from job j join document d on d.id = j.document_id"
                " where j.id = %s and j.owner = %s for update of d",
                (job_id, scope.person),
            )
            row = found and await fetch_one(
                connection, _TAKE_OVER, {"id": job_id, "holder": holder, "lease_s": CANCEL_LEASE_S}
            )
        if not row:
            raise NotFound(f"there is no job '{job_id}'; it may have ended")
        job_id, document_id, version, attempts, was, name, serving = row
        job = Job(job_id, scope.person, document_id, version, attempts, holder)
        return job, CancelledJob(job_id, document_id, name, was, serving)


_COLUMNS: Columns = {
    "id": "j.id",
    "document_id": "j.document_id",
    "name": "d.name",
    "folder": "d.folder",
    "version": "v.id",
    "state": "s.state",
    "stage": "case when d.latest = j.version then d.stage end",
    "progress": "case when s.state = 'running' and d.latest = j.version then d.progress else 0 end",
    "priority": "j.priority",
    "attempts": "j.attempts",
    "error_code": "j.error_code",
    "error_message": "j.error_message",
    "worker": "case when s.state = 'running' then regexp_replace(j.holder, ':[^:]*$', '') end",
    "created_at": "j.created_at",
    "started_at": "j.started_at",
    "not_before": "case when j.not_before > now() then j.not_before end",
    "elapsed_s": "case when s.state = 'running' then extract(epoch from now() - j.started_at)::float8 end",
    "place": "s.place",
}
_PAST_COLUMNS: Columns = {
    "id": "e.id",
    "document_id": "d.id",
    "name": "d.name",
    "folder": "d.folder",
    "version": "v.id",
    "status": "e.status",
    "error_code": "e.error_code",
    "error_message": "e.error_message",
    "attempts": "e.attempts",
    "created_at": "e.created_at",
    "started_at": "e.started_at",
    "ended_at": "e.ended_at",
}
_JOB = f"""
    select {select_list(_COLUMNS)}
    from job j join document d on d.id = j.document_id join version v on v.key = j.version
    cross join lateral (
        select j.standing, array_position(array['running', 'waiting', 'held'], j.standing)) as s (state, place)
    where j.owner = %(person)s and (%(state)s::text is null or s.state = %(state)s)
"""  # noqa: S608 - constant columns
_ORDER = " order by s.place, j.priority, j.id limit %(limit)s"
_LIST = _JOB + _ORDER
_LIST_AFTER = _JOB + " and array[s.place, j.priority, j.id] > %(after)s::bigint[]" + _ORDER
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
_PAST = f"""
    select {select_list(_PAST_COLUMNS)}
    from ended_job e join version v on v.key = e.version join document d on d.id = v.document_id
    where e.owner = %(person)s and (%(before)s::timestamptz is null or (e.ended_at, e.id) < (%(before)s, %(last)s))
    order by e.ended_at desc, e.id desc limit %(limit)s
"""  # noqa: S608 - constant columns
_TAKE_OVER = """
    update job t set state = 'running', holder = %(holder)s, lease_s = %(lease_s)s,
           lease_until = now() + make_interval(secs => %(lease_s)s)
    from (select j.id, j.standing as was, d.name, d.served is not null as serving
          from job j join document d on d.id = j.document_id where j.id = %(id)s) before
    where t.id = before.id
    returning t.id, t.document_id, t.version, t.attempts, before.was, before.name, before.serving
"""


def _to_job(row: Sequence[Any]) -> QueuedJob:
    values = by_name(_COLUMNS, row)
    elapsed, progress = values.pop("elapsed_s"), values.pop("progress")
    remaining = round(elapsed * (1 - progress) / progress, 1) if elapsed and progress else None
    del values["place"]
    return QueuedJob(error=_pop_error(values), progress=round(progress, 4), remaining_s=remaining, **values)


def _to_past_job(row: Sequence[Any]) -> PastJob:
    values = by_name(_PAST_COLUMNS, row)
    return PastJob(error=_pop_error(values), **values)


def _pop_error(values: dict[str, Any]) -> Failure | None:
    """Remove the error columns from the values of a row, and return the error."""
    code, message = values.pop("error_code"), values.pop("error_message")
    return Failure(code, message or "") if code else None


def _to_cursor(row: Sequence[Any]) -> str:
    values = by_name(_COLUMNS, row)
    return f"{values['place']}.{values['priority']}.{values['id']}"


def _from_cursor(cursor: str) -> tuple[int, ...]:
    parts = cursor.split(".")
    if len(parts) != 3 or not all(part.isascii() and part.isdecimal() and len(part) < 19 for part in parts):
        raise Invalid(INVALID_CURSOR)
    return tuple(int(part) for part in parts)
