"""The workers that consume the ingest queue; no other part changes a document's status."""

import asyncio
import itertools
import logging
import os
import socket
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from pincite.concurrency import cancel_and_wait
from pincite.errors import (
    Conflict,
    DataFolderError,
    PinciteError,
    ProviderBusy,
    ProviderRefused,
    StoreDown,
    Unavailable,
)
from pincite.ingest.engines.builder import EngineWorker
from pincite.ingest.pipeline import IngestKit, ingest
from pincite.store.indexing.jobs import SMALL_FILE_BYTES, Capacity, Job

log = logging.getLogger(__name__)

IDLE_POLL_S = 0.2
"""Seconds an idle worker sleeps before it looks for jobs again."""
HEARTBEAT_S = 1.0
"""Longest time in seconds between two renewals of a job's lease; a renewal also shows whether the job was cancelled."""
MIN_STALL_PAUSE_S = 2.0
"""First pause in seconds of a job that waits for a part that is down."""
PROBE_INTERVAL_S = 10.0
"""Longest time in seconds between two attempts while a part that every job needs is down."""
MAX_SMALL_JOBS = 64
"""Small files that one worker processes at the same time; of large files it processes one."""
HOUSEKEEPING_INTERVAL_S = 3600.0
"""Seconds between two runs of the housekeeping, which deletes data that is no longer needed."""
PACK_AFTER_DOCUMENTS = 256
"""Finished documents after which the index is tidied while jobs are running; without running jobs it is at once."""
_POOL_NUMBERS = itertools.count(1)
"""Numbers the worker pools of one process, so that each pool gives back its own jobs only."""

JobTasks = dict["asyncio.Task[None]", Job]
"""The running tasks of one worker, with their jobs."""


class Workers:
    """A pool of tasks that claim jobs, process them with the rights of their owner, and renew their leases.

    `kits_in_use` are the kits of the documents being processed. `name` is the holder that the jobs are claimed by.
    """

    def __init__(
        self,
        current_kit: Callable[[], IngestKit],
        housekeeping: Callable[[], Awaitable[None]],
        engines: EngineWorker | None = None,
    ) -> None:
        self._current_kit = current_kit
        self._engines = engines
        self._housekeeping = housekeeping
        number = next(_POOL_NUMBERS)
        self.name = f"{socket.gethostname()}:{os.getpid()}" + (f".{number}" if number > 1 else "")
        self._tasks: list[asyncio.Task[None]] = []
        self._wake = asyncio.Event()
        self._finished = 0
        self._processing: dict[int, asyncio.Task[None]] = {}
        self._down_until: float | None = None
        self.kits_in_use: list[IngestKit] = []
        self._claiming = asyncio.Lock()
        self._claimed: dict[int, Job] = {}
        self._abandoned: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Start the workers and the housekeeping; a second call does nothing."""
        if not self._tasks:
            workers = self._current_kit().settings.ingest.workers
            self._tasks = [asyncio.create_task(self._run_worker(f"{self.name}:{n}")) for n in range(workers)]
            self._tasks.append(asyncio.create_task(self._run_housekeeping()))
            if workers and self._engines is not None:
                self._tasks.append(asyncio.create_task(self._run_builds(self._engines)))

    def wake(self) -> None:
        """Make idle workers look for jobs now."""
        self._wake.set()
        if self._engines is not None:
            self._engines.wake()

    async def drop(self, job_id: int) -> None:
        """Stop processing a cancelled job at once, not at its next heartbeat; a job that is not here is ignored."""
        if task := self._processing.get(job_id):
            await cancel_and_wait(task)

    async def stop(self) -> None:
        """Stop the workers and return their jobs to the queue."""
        if not self._tasks:
            return
        await asyncio.gather(*map(cancel_and_wait, self._tasks))
        await asyncio.gather(*map(cancel_and_wait, self._abandoned))
        self._tasks, self._abandoned = [], set()
        with suppress(StoreDown):
            await self._current_kit().jobs.give_back_all(self.name)

    async def _run_housekeeping(self) -> None:
        while True:
            try:
                await self._housekeeping()
            except PinciteError as error:
                log.warning("the housekeeping failed and runs again later: %s", error)
            await asyncio.sleep(HOUSEKEEPING_INTERVAL_S)

    async def _run_builds(self, engines: EngineWorker) -> None:
        """Build the data of engines while no document is being indexed in this process."""
        while True:
            if not self._claimed:
                await _log_and_continue(engines.work(lambda: bool(self._claimed)))
            await asyncio.sleep(IDLE_POLL_S)

    async def _run_worker(self, name: str) -> None:
        """Claim and process jobs until cancelled; the failure of one job does not stop the worker."""
        running: JobTasks = {}
        try:
            while True:
                await _log_and_continue(self._claim_and_start(name, running))
        finally:
            # `stop` ends them: this task may be cancelled again while it waits.
            self._abandoned |= set(running)

    async def _claim_and_start(self, name: str, running: JobTasks) -> None:
        """Claim as many jobs as the worker can take and start them; without any, wait a moment."""
        kit = self._current_kit()  # a document is finished with the settings that it was started with
        jobs = [] if self._waits_for_part() else await self._claim_jobs(kit, name, list(running.values()))
        for job in jobs:
            task = asyncio.create_task(self._run_job(kit, job))
            running[task] = job
            task.add_done_callback(partial(self._forget_task, running))
        await self._tidy_index(kit, loading=bool(running))
        if running:
            await asyncio.wait(running, timeout=IDLE_POLL_S, return_when=asyncio.FIRST_COMPLETED)
        elif not jobs:
            await self._wait_for_wake()

    def _forget_task(self, running: JobTasks, task: "asyncio.Task[None]") -> None:
        """Remove a task that ended, also one that was cancelled before it began."""
        self._claimed.pop(running.pop(task).id, None)

    async def _claim_jobs(self, kit: IngestKit, name: str, running: Sequence[Job]) -> list[Job]:
        """Claim jobs for a worker with these running: several small ones, or one large one if none is running.

        A job that was interrupted before may crash the process. It is processed alone in the whole process, so that it
        cannot interrupt others.
        """
        room = Capacity(
            MAX_SMALL_JOBS - len(running),
            SMALL_FILE_BYTES - sum(job.bytes for job in running),
            only_small=bool(running),
        )
        if room.most < MAX_SMALL_JOBS // 2 or room.bytes < SMALL_FILE_BYTES // 2:
            return []
        async with self._claiming:
            if any(job.attempts > 1 for job in self._claimed.values()):
                return []
            room = replace(room, only_sound=bool(self._claimed))
            jobs = await kit.jobs.claim_some(name, kit.settings.ingest.lease_s, room)
            self._claimed |= {job.id: job for job in jobs}
            return jobs

    async def _run_job(self, kit: IngestKit, job: Job) -> None:
        """Process one claimed job from start to end."""
        self.kits_in_use.append(kit)
        try:
            await _log_and_continue(self._process_with_lease(kit, job))
        finally:
            self.kits_in_use.remove(kit)
            self._finished += 1
            if self._engines is not None:
                self._engines.wake()

    async def _tidy_index(self, kit: IngestKit, *, loading: bool) -> None:
        """Pack postings and index vectors, which makes search faster; with `loading` once after many documents."""
        if self._finished >= (PACK_AFTER_DOCUMENTS if loading else 1):
            self._finished = 0
            await kit.packs.make()
            await kit.indexing.index_vectors(loading=loading)

    def _waits_for_part(self) -> bool:
        """Whether a part that every job needs is down and the next attempt is not due yet."""
        return self._down_until is not None and time.monotonic() < self._down_until

    async def _wait_for_wake(self) -> None:
        self._wake.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(IDLE_POLL_S):
                await self._wake.wait()

    async def _process_with_lease(self, kit: IngestKit, job: Job) -> None:
        """Process a job and renew its lease meanwhile; the processing stops where the lease is lost."""
        lease_s = kit.settings.ingest.lease_s
        self._processing[job.id] = task = asyncio.create_task(self._process(kit, job))
        lease_ends = time.monotonic() + lease_s
        try:
            while not (await asyncio.wait({task}, timeout=min(lease_s / 3, HEARTBEAT_S)))[0]:
                with suppress(StoreDown):  # the lease is still valid if the database comes back in time
                    if not await kit.jobs.renew(job, lease_s):
                        break
                    lease_ends = time.monotonic() + lease_s
                if time.monotonic() > lease_ends:
                    break
        finally:
            await cancel_and_wait(task)
            self._processing.pop(job.id, None)

    async def _process(self, kit: IngestKit, job: Job) -> None:
        """Process a job; one that is no longer ours (Conflict) is dropped without an error."""
        try:
            await self._ingest_and_record_failure(kit, job)
        except Conflict as error:
            log.info("job %s: %s", job.id, error)
            with suppress(Conflict):  # another worker may hold it by now
                await kit.indexing.drop(job)
        except (StoreDown, DataFolderError) as error:
            log.warning("job %s is retried when its lease ends: %s", job.id, error)

    async def _ingest_and_record_failure(self, kit: IngestKit, job: Job) -> None:
        """Run the pipeline once; a permanent error fails the document, a temporary one schedules a retry."""
        if job.attempts > kit.settings.ingest.attempts:
            reason = f"processing was cut off {kit.settings.ingest.attempts} times; add the file again to retry"
            return await kit.indexing.fail(job, "gave_up", reason)
        try:
            await ingest(kit, job)
            await self._resume_stalled_jobs(kit)
            await kit.indexing.clear_abandoned()
        except (Conflict, StoreDown):
            raise
        except DataFolderError as error:
            await self._stall(kit, job, "waiting for room on the disk", error)
        except Unavailable as error:
            if isinstance(error, ProviderBusy) or error.code == "breaker_open":
                await self._stall(kit, job, "waiting for the embedder", error)
            else:
                await self._retry_or_fail(kit, job, error)
        except PinciteError as error:
            await kit.indexing.fail(job, error.code, str(error))
        except Exception as error:
            log.exception("job %s failed with an unexpected error", job.id)
            reason = f"an unexpected error: {type(error).__name__}: {error}"
            await kit.indexing.fail(job, "internal", reason)
        return None

    async def _retry_or_fail(self, kit: IngestKit, job: Job, error: Unavailable) -> None:
        """Schedule a retry with exponential backoff; fail the document where no attempt is left or none can help."""
        if job.attempts >= kit.settings.ingest.attempts or isinstance(error, ProviderRefused):
            return await kit.indexing.fail(job, error.code, str(error))
        log.warning("job %s, attempt %s: %s", job.id, job.attempts, error)
        return await kit.jobs.retry(job, min(2.0**job.attempts, 10.0), error)

    async def _stall(self, kit: IngestKit, job: Job, stage: str, error: PinciteError) -> None:
        """Postpone a job because a part that every document needs is down; this costs the document no attempt."""
        retry_after_s = (error.retry_after_s or 0.0) if isinstance(error, ProviderBusy) else 0.0
        pause = await kit.jobs.stall(
            job,
            stage,
            error,
            patience_s=kit.settings.ingest.patience_s,
            at_least_s=max(retry_after_s, MIN_STALL_PAUSE_S),
        )
        if pause is None:
            return await kit.indexing.fail(job, error.code, str(error))
        log.warning("job %s is %s and is retried in %.0f s: %s", job.id, stage, pause, error)
        self._down_until = time.monotonic() + min(pause, PROBE_INTERVAL_S)
        return None

    async def _resume_stalled_jobs(self, kit: IngestKit) -> None:
        """Retry all stalled jobs now: a document was processed, so the part that was down works again."""
        if self._down_until is not None:
            self._down_until = None
            await kit.jobs.wake_stalled()


async def _log_and_continue(work: Awaitable[None]) -> None:
    """Await some work; an error is logged, and the worker continues after a pause."""
    try:
        await work
    except (StoreDown, DataFolderError) as error:
        log.warning("the worker waits and tries again: %s", error)
        await asyncio.sleep(1.0)
    except Exception:
        log.exception("the worker continues after an unexpected error")
        await asyncio.sleep(1.0)
