"""The queue: documents that wait to be processed, who is at it, and how far they are."""

import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from pincite.concurrency import Batcher
from pincite.core.accounts.access import Scope
from pincite.core.documents.jobs import BULK_PRIORITY
from pincite.errors import PinciteError
from pincite.store.database import Connection, Database, one

SMALL = 32 * 1024
"""Bytes up to which a file is small: a worker has several such in hand at once."""
LONGEST_PAUSE_S = 300.0
"""The most that lies between two tries of something that waits for a part that is down."""


@dataclass(frozen=True, slots=True)
class Job:
    """One version to be made searchable, taken by one worker for as long as it keeps its lease."""

    id: int
    owner: str
    document_id: str
    version: int
    attempts: int
    holder: str
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Room:
    """What a worker can still take in hand: so many jobs about files of so many bytes altogether, or one that is larger.

    Who has some in hand takes only small ones; and beside those of others only such as were never cut off.
    """

    most: int
    bytes: int = SMALL
    only_small: bool = False
    only_sound: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """Documents that are not done yet, the progress of those in hand, added up, and what most of these are at.

    `stalled` are those that wait for a part that is down, since `stalled_s` and because of `reason`.
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
# One that a transaction has locked is being served, and one locked document must not keep the others from their leases.
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
# Locked in order, as everywhere where several documents are changed at once; what is locked by others is told next time.
_REPORT = """
    with said as materialized (
        select d.id, a.stage, a.progress
        from unnest(%(jobs)s::bigint[], %(holders)s::text[], %(stages)s::text[], %(progress)s::real[])
             as a (job, holder, stage, progress)
        join job j on j.id = a.job and j.holder = a.holder and j.generation is null
        join document d on d.id = j.document_id and d.latest = j.version
        order by d.id for update of d skip locked
    )
    update document d set status = 'processing', stage = s.stage, progress = s.progress from said s where d.id = s.id
"""


class Jobs:
    """Hands out work: a job is with one living worker or waits; nothing is ever lost in between."""

    def __init__(self, database: Database, place: str) -> None:
        self._database = database
        self._place = place
        self._reports = Batcher(self._report_all)
        self._renewals = Batcher(self._renew_all)

    async def claim(self, worker: str, lease_s: float) -> Job | None:
        """The next job that waits or whose worker went silent, now this worker's.

        What somebody waits for comes before loads, and whoever has least in hand before the others.
        """
        found = await self.claim_some(worker, lease_s, Room(most=1))
        return found[0] if found else None

    async def claim_some(self, worker: str, lease_s: float, room: Room) -> list[Job]:
        """The same, and where it is about a small file more such jobs of its owner, as there is room for."""
        holder = f"{worker}:{secrets.token_hex(8)}"
        values = {"holder": holder, "place": self._place, "lease_s": lease_s, **asdict(room)}
        [found] = await self._database.at_once("", _CLAIM, values=values, durable=False)
        return [Job(*(*row[:5], holder, row[5])) for row in found]

    async def renew(self, job: Job, lease_s: float) -> bool:
        """Keep the lease; false when the job is no longer ours, and work on it must stop."""
        return await self._renewals((job, lease_s))

    async def _renew_all(self, asked: Sequence[tuple[Job, float]]) -> list[bool | Exception]:
        kept = set[int]()
        for owner in {job.owner for job, _ in asked}:
            own = [(job, lease_s) for job, lease_s in asked if job.owner == owner]
            values = {
                "jobs": [job.id for job, _ in own],
                "holders": [job.holder for job, _ in own],
                "leases": [lease_s for _, lease_s in own],
            }
            [found] = await self._database.at_once(owner, _RENEW, values=values, durable=False)
            kept |= {job for (job,) in found}
        return [job.id in kept for job, _ in asked]

    async def report(self, job: Job, stage: str, progress: float) -> None:
        """Say how far a document is."""
        await self._reports((job, stage, progress))

    async def _report_all(self, said: Sequence[tuple[Job, str, float]]) -> list[Exception | None]:
        for owner in {job.owner for job, *_ in said}:
            own = [one for one in said if one[0].owner == owner]
            values = {
                "jobs": [job.id for job, *_ in own],
                "holders": [job.holder for job, *_ in own],
                "stages": [stage for _, stage, _ in own],
                "progress": [progress for *_, progress in own],
            }
            await self._database.at_once(owner, _REPORT, values=values, durable=False)
        return [None] * len(said)

    async def give_back(self, job: Job) -> None:
        """Let somebody else do it, at once: this worker is leaving."""
        async with self._database.transaction(job.owner, durable=False) as connection:
            await _release(connection, job, counts=False)

    async def give_back_all(self, name: str) -> None:
        """The same for all that the workers of this name have in hand."""
        query = "select id, owner, document_id, version, attempts, holder from jobs_of(%(name)s)"
        [found] = await self._database.at_once("", query, values={"name": name})
        for row in found:
            await self.give_back(Job(*row))

    async def retry(self, job: Job, after_s: float, error: PinciteError | None = None) -> None:
        """Back to the queue after a try that failed, for later; the try counts."""
        async with self._database.transaction(job.owner, durable=False) as connection:
            await _release(connection, job, after_s=after_s, error=error)

    async def stall(
        self, job: Job, stage: str, error: PinciteError, *, patience_s: float, at_least_s: float
    ) -> float | None:
        """Back to the queue until a part that is down is back: the pause before the next try, which does not count.

        It grows with the time that this has lasted. None, and nothing is done, where it has lasted too long.
        """
        async with self._database.transaction(job.owner, durable=False) as connection:
            await _lock(connection, job)
            row = await one(
                connection,
                "update job set stalled_since = coalesce(stalled_since, now()) where id = %s and holder = %s"
                " returning extract(epoch from now() - stalled_since)::float8",
                (job.id, job.holder),
            )
            if row is None:
                return 0.0  # not ours any more
            if row[0] >= patience_s:
                return None
            pause = min(max(row[0], at_least_s), LONGEST_PAUSE_S)
            await _release(connection, job, counts=False, after_s=pause, stage=stage, error=error)
            return float(pause)

    async def wake_stalled(self) -> None:
        """A part that was down is back: try what waits for such a thing now, whoever it belongs to."""
        await self._database.at_once("", "select wake_stalled()", values={}, durable=False)

    async def start_over(self, scope: Scope, document_ids: Sequence[str], *, priority: int = BULK_PRIORITY) -> None:
        """Somebody asks for these documents again: release what was held back, forget tries that failed or were cut off."""
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
        """Release what was held back: the named documents, or all."""
        async with self._database.transaction(scope.person) as connection:
            done = await connection.execute(
                "update job set state = 'ready' where state = 'held' and owner = %(person)s"
                " and (%(ids)s::text[] is null or document_id = any(%(ids)s))",
                {"person": scope.person, "ids": None if document_ids is None else list(document_ids)},
            )
            return done.rowcount

    async def waiting(self, scope: Scope, document_ids: Sequence[str]) -> Waiting | None:
        """How many of these documents are not done yet and how far those in hand are; None when all are."""
        query = (
            "select count(*), coalesce(sum(d.progress) filter (where j.state = 'running'), 0)::float8,"
            " coalesce(mode() within group (order by d.stage), ''), count(j.stalled_since),"
            " coalesce(extract(epoch from now() - min(j.stalled_since)), 0)::float8,"
            " coalesce(min(j.error_message) filter (where j.stalled_since is not null), '') from job j"
            " join document d on d.id = j.document_id where j.document_id = any(%(ids)s) and j.state <> 'held'"
            " and j.owner = %(person)s and j.generation is null"
        )
        values = {"ids": list(document_ids), "person": scope.person}
        [[row]] = await self._database.at_once(scope.person, query, values=values)
        return Waiting(*row) if row[0] else None


async def _lock(connection: Connection, job: Job) -> None:
    """Everybody who changes a document locks it first."""
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
    """Put a job of ours back into the queue; its document is pending again, since nobody has it in hand."""
    await _lock(connection, job)
    values = {"id": job.id, "holder": job.holder, "document": job.document_id, "version": job.version, "stage": stage}
    values |= {"tries": 0 if counts else 1, "after_s": after_s, "told": error is not None}
    values |= {"code": error.code if error else None, "message": str(error).replace("\0", " ") if error else None}
    done = await connection.execute(
        "update job set state = 'ready', holder = null, lease_until = null, attempts = attempts - %(tries)s,"
        " not_before = now() + make_interval(secs => %(after_s)s),"
        " error_code = case when %(told)s then %(code)s else error_code end,"
        " error_message = case when %(told)s then %(message)s else error_message end"
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
