"""The job queue: documents that wait for processing, the leases of workers, and the progress."""

import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from pincite.concurrency import Batcher
from pincite.core.accounts.access import Scope
from pincite.core.documents.jobs import BULK_PRIORITY
from pincite.errors import PinciteError
from pincite.store.database import Connection, Database, fetch_one

SMALL_FILE_BYTES = 32 * 1024
"""File size in bytes up to which a worker processes several jobs at once."""
PAUSE_S = 0.02
"""Seconds for which a statement about one document waits for those about others."""
MAX_PAUSE_S = 300.0
"""Longest pause in seconds between two attempts of a stalled job, which waits for a service that is down."""


@dataclass(frozen=True, slots=True)
class Job:
    """One version to index, claimed by one worker as long as it renews its lease."""

    id: int
    owner: str
    document_id: str
    version: int
    attempts: int
    holder: str
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Capacity:
    """The jobs that a worker can still claim: at most `most` with files of `bytes` in total, or one larger file.

    `only_small` excludes large files, because the worker has other jobs. `only_sound` excludes jobs that were attempted
    before.
    """

    most: int
    bytes: int = SMALL_FILE_BYTES
    only_small: bool = False
    only_sound: bool = False


@dataclass(frozen=True, slots=True)
class PendingDocuments:
    """The number of unfinished documents, the summed progress of the running ones, and their most frequent stage.

    `stalled` documents wait for a service that is down, the first for `stalled_s` seconds; `reason` is its error.
    """

    count: int
    progress: float
    stage: str = ""
    stalled: int = 0
    stalled_s: float = 0.0
    reason: str = ""


_CLAIM = """
    select * from claim_jobs(%(holder)s, %(place)s, %(lease_s)s, %(most)s, %(bytes)s, %(only_small)s, %(only_sound)s)
"""
# A locked job is being published; it must not keep the others from renewing their leases, so it is skipped.
_RENEW = """
    with asked as materialized (
        select j.id, a.lease
        from unnest(%(jobs)s::bigint[], %(holders)s::text[], %(leases)s::float8[]) as a (id, holder, lease)
        join job j on j.id = a.id and j.holder = a.holder
    ), free as materialized (
        select j.id, a.lease from asked a join job j on j.id = a.id order by j.id for update of j skip locked
    ), renewed as (
        update job j set lease_until = now() + make_interval(secs => f.lease) from free f where j.id = f.id
    )
    select id from asked
"""
# Documents are locked in the order of their ids, as everywhere; locked ones are skipped and reported next time.
_REPORT = """
    with reported as materialized (
        select d.id, a.stage, a.progress
        from unnest(%(jobs)s::bigint[], %(holders)s::text[], %(stages)s::text[], %(progress)s::real[])
             as a (job, holder, stage, progress)
        join job j on j.id = a.job and j.holder = a.holder and j.generation is null
        join document d on d.id = j.document_id and d.latest = j.version
        order by d.id for update of d skip locked
    )
    update document d set status = 'processing', stage = r.stage, progress = r.progress
    from reported r where d.id = r.id
"""


class Jobs:
    """The queue of jobs: each job is leased to one live worker or waits; a job whose lease ends waits again."""

    def __init__(self, database: Database, place: str) -> None:
        self._database = database
        self._place = place
        self._reports = Batcher(self._report_all, pause_s=PAUSE_S)
        self._renewals = Batcher(self._renew_all, pause_s=PAUSE_S)

    async def claim(self, worker: str, lease_s: float) -> Job | None:
        """Claim the next job that waits or whose lease ended; None if there is none.

        Jobs are ordered by priority, then owners with the fewest running jobs come first.
        """
        found = await self.claim_some(worker, lease_s, Capacity(most=1))
        return found[0] if found else None

    async def claim_some(self, worker: str, lease_s: float, room: Capacity) -> list[Job]:
        """Claim the next job and, if its file is small, further small ones of the same owner within the capacity."""
        holder = f"{worker}:{secrets.token_hex(8)}"
        values = {"holder": holder, "place": self._place, "lease_s": lease_s, **asdict(room)}
        [found] = await self._database.run_batch("", _CLAIM, values=values, durable=False)
        return [Job(*(*row[:5], holder, row[5])) for row in found]

    async def renew(self, job: Job, lease_s: float) -> bool:
        """Renew the lease; return false if another worker has the job, and work on it must stop."""
        return await self._renewals((job, lease_s))

    async def _renew_all(self, asked: Sequence[tuple[Job, float]]) -> list[bool | Exception]:
        renewed = set[int]()
        for owner in {job.owner for job, _ in asked}:
            own = [(job, lease_s) for job, lease_s in asked if job.owner == owner]
            values = {
                "jobs": [job.id for job, _ in own],
                "holders": [job.holder for job, _ in own],
                "leases": [lease_s for _, lease_s in own],
            }
            [found] = await self._database.run_batch(owner, _RENEW, values=values, durable=False)
            renewed |= {job for (job,) in found}
        return [job.id in renewed for job, _ in asked]

    async def report(self, job: Job, stage: str, progress: float) -> None:
        """Report the stage and the progress of a job's document."""
        await self._reports((job, stage, progress))

    async def _report_all(self, reports: Sequence[tuple[Job, str, float]]) -> list[Exception | None]:
        for owner in {job.owner for job, *_ in reports}:
            own = [report for report in reports if report[0].owner == owner]
            values = {
                "jobs": [job.id for job, *_ in own],
                "holders": [job.holder for job, *_ in own],
                "stages": [stage for _, stage, _ in own],
                "progress": [progress for *_, progress in own],
            }
            await self._database.run_batch(owner, _REPORT, values=values, durable=False)
        return [None] * len(reports)

    async def give_back(self, job: Job) -> None:
        """Return a job to the queue because this worker stops; the attempt does not count."""
        async with self._database.transaction(job.owner, durable=False) as connection:
            await _release(connection, job, counts=False)

    async def give_back_all(self, name: str) -> None:
        """Return all jobs of the workers of this name to the queue."""
        query = "select id, owner, document_id, version, attempts, holder from jobs_of(%(name)s)"
        [found] = await self._database.run_batch("", query, values={"name": name})
        for row in found:
            await self.give_back(Job(*row))

    async def retry(self, job: Job, after_s: float, error: PinciteError | None = None) -> None:
        """Return a job to the queue after a failed attempt, to be retried after a pause; the attempt counts."""
        async with self._database.transaction(job.owner, durable=False) as connection:
            await _release(connection, job, after_s=after_s, error=error)

    async def stall(
        self, job: Job, stage: str, error: PinciteError, *, patience_s: float, at_least_s: float
    ) -> float | None:
        """Return a job to the queue because a service is down; return the pause before the next attempt.

        The attempt does not count, and the pause grows with the time since the first one. After `patience_s` the job
        is left unchanged and None is returned.
        """
        async with self._database.transaction(job.owner, durable=False) as connection:
            await _lock_document(connection, job)
            row = await fetch_one(
                connection,
                "update job set stalled_since = coalesce(stalled_since, now()) where id = %s and holder = %s"
                " returning extract(epoch from now() - stalled_since)::float8",
                (job.id, job.holder),
            )
            if row is None:
                return 0.0  # another worker has the job
            if row[0] >= patience_s:
                return None
            pause = min(max(row[0], at_least_s), MAX_PAUSE_S)
            await _release(connection, job, counts=False, after_s=pause, stage=stage, error=error)
            return float(pause)

    async def wake_stalled(self) -> None:
        """Make all stalled jobs, of every owner, available now, because a service is up again."""
        await self._database.run_batch("", "select wake_stalled()", values={}, durable=False)

    async def start_over(self, scope: Scope, document_ids: Sequence[str], *, priority: int = BULK_PRIORITY) -> None:
        """Release held jobs of these documents and reset their attempts, because the documents are requested again."""
        async with self._database.transaction(scope.person, durable=False) as connection:
            await connection.execute(
                "update job set attempts = 0, state = case state when 'held' then 'ready' else state end,"
                " priority = least(priority, %(priority)s), not_before = '-infinity', stalled_since = null"
                " where owner = %(person)s and document_id = any(%(ids)s)"
                " and (attempts > 0 or state = 'held' or stalled_since is not null or priority > %(priority)s)"
                " and (state <> 'running' or lease_until < now())",
                {"person": scope.person, "ids": list(document_ids), "priority": priority},
            )

    async def start(self, scope: Scope, document_ids: Sequence[str] | None) -> int:
        """Release the held jobs of these documents, or of all; return their number."""
        async with self._database.transaction(scope.person) as connection:
            done = await connection.execute(
                "update job set state = 'ready' where state = 'held' and owner = %(person)s"
                " and (%(ids)s::text[] is null or document_id = any(%(ids)s))",
                {"person": scope.person, "ids": None if document_ids is None else list(document_ids)},
            )
            return done.rowcount

    async def waiting(self, scope: Scope, document_ids: Sequence[str]) -> PendingDocuments | None:
        """Return the number and the progress of the unfinished ones of these documents; None if all are finished."""
        query = (
            "select count(*), coalesce(sum(d.progress) filter (where j.state = 'running'), 0)::float8,"
            " coalesce(mode() within group (order by d.stage), ''), count(j.stalled_since),"
            " coalesce(extract(epoch from now() - min(j.stalled_since)), 0)::float8,"
            " coalesce(min(j.error_message) filter (where j.stalled_since is not null), '') from job j"
            " join document d on d.id = j.document_id where j.document_id = any(%(ids)s) and j.state <> 'held'"
            " and j.owner = %(person)s and j.generation is null"
        )
        values = {"ids": list(document_ids), "person": scope.person}
        [[row]] = await self._database.run_batch(scope.person, query, values=values)
        return PendingDocuments(*row) if row[0] else None


async def _lock_document(connection: Connection, job: Job) -> None:
    """Lock a job's document, as every change of a document does first."""
    await connection.execute("select from document where id = %s for update", (job.document_id,))


async def _release(
    connection: Connection,
    job: Job,
    *,
    counts: bool = True,
    after_s: float = 0.0,
    stage: str | None = None,
    error: PinciteError | None = None,
) -> None:
    """Return a job of this worker to the queue, and set its document to pending."""
    await _lock_document(connection, job)
    values = {"id": job.id, "holder": job.holder, "document": job.document_id, "version": job.version, "stage": stage}
    values |= {"tries": 0 if counts else 1, "after_s": after_s, "failed": error is not None}
    values |= {"code": error.code if error else None, "message": str(error).replace("\0", " ") if error else None}
    done = await connection.execute(
        "update job set state = 'ready', holder = null, lease_until = null, attempts = attempts - %(tries)s,"
        " not_before = now() + make_interval(secs => %(after_s)s),"
        " error_code = case when %(failed)s then %(code)s else error_code end,"
        " error_message = case when %(failed)s then %(message)s else error_message end"
        " where id = %(id)s and holder = %(holder)s",
        values,
    )
    if done.rowcount:
        await connection.execute(
            "update document set status = 'pending', stage = %(stage)s, progress = 0"
            " where id = %(document)s and latest = %(version)s"
            " and exists (select from job where id = %(id)s and generation is null)",
            values,
        )
