"""The queue: documents that wait to be processed, who is at it, and how far they are."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from pincite.core.callers import Scope
from pincite.store.database import Database, one


@dataclass(frozen=True, slots=True)
class Job:
    """One version to be made searchable, taken by one worker for as long as it keeps its lease."""

    id: int
    owner: str
    document_id: str
    version: int
    attempts: int
    holder: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """Documents that are not done yet, and the progress of those in hand, added up."""

    count: int
    progress: float


class Jobs:
    """Hands out work: a job is with one living worker or waits; nothing is ever lost in between."""

    def __init__(self, database: Database, place: str) -> None:
        self._database = database
        self._place = place

    async def claim(self, worker: str, lease_s: float) -> Job | None:
        """The next job that waits or whose worker went silent, now this worker's."""
        holder = f"{worker}:{secrets.token_hex(8)}"
        query = "select * from claim_job(%(holder)s, %(place)s, %(lease_s)s)"
        values = {"holder": holder, "place": self._place, "lease_s": lease_s}
        [found] = await self._database.at_once("", query, values=values, durable=False)
        return Job(*(*found[0], holder)) if found else None

    async def renew(self, job: Job, lease_s: float) -> bool:
        """Keep the lease; false when the job is no longer ours, and work on it must stop."""
        async with self._database.transaction(job.owner, durable=False) as connection:
            done = await connection.execute(
                "update job set lease_until = now() + make_interval(secs => %s) where id = %s and holder = %s",
                (lease_s, job.id, job.holder),
            )
            return done.rowcount == 1

    async def report(self, job: Job, stage: str, progress: float) -> None:
        """Say how far a document is."""
        query = (
            "update document set status = 'processing', stage = %(stage)s, progress = %(progress)s"
            " where id = %(document)s and latest = %(version)s"
            " and exists (select from job where id = %(job)s and holder = %(holder)s)"
        )
        values = {"stage": stage, "progress": progress, "document": job.document_id, "version": job.version}
        values |= {"job": job.id, "holder": job.holder}
        await self._database.at_once(job.owner, query, values=values, durable=False)

    async def give_back(self, job: Job) -> None:
        """Let somebody else do it, at once: this worker is leaving."""
        async with self._database.transaction(job.owner, durable=False) as connection:
            await connection.execute(
                "update job set state = 'ready', holder = null, lease_until = null, attempts = attempts - 1"
                " where id = %s and holder = %s",
                (job.id, job.holder),
            )

    async def retry(self, job: Job, after_s: float) -> None:
        """Back to the queue after a try that failed, for later; the try counts."""
        async with self._database.transaction(job.owner, durable=False) as connection:
            await connection.execute(
                "update job set state = 'ready', holder = null, lease_until = null,"
                " not_before = now() + make_interval(secs => %s) where id = %s and holder = %s",
                (after_s, job.id, job.holder),
            )

    async def start_over(self, scope: Scope, document_ids: Sequence[str]) -> None:
        """Somebody asks for these documents again: release what was held back, forget tries that were cut off."""
        async with self._database.transaction(scope.person, durable=False) as connection:
            await connection.execute(
                "update job set attempts = 0, state = case state when 'held' then 'ready' else state end"
                " where owner = %s and document_id = any(%s) and (attempts > 0 or state = 'held')"
                " and (state <> 'running' or lease_until < now())",
                (scope.person, list(document_ids)),
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
        async with self._database.transaction(scope.person) as connection:
            row = await one(
                connection,
                "select count(*), coalesce(sum(d.progress) filter (where j.state = 'running'), 0)::float8 from job j"
                " join document d on d.id = j.document_id where j.document_id = any(%s) and j.state <> 'held'"
                " and j.owner = %s",
                (list(document_ids), scope.person),
            )
        assert row is not None
        return Waiting(*row) if row[0] else None
