"""The queue's consumer: the only one that moves a document's status."""

import asyncio
import logging
import os
import secrets
import socket
from contextlib import suppress

from pincite.errors import Conflict, PinciteError, StoreDown, Unavailable
from pincite.ingest.pipeline import Workshop, ingest
from pincite.store.jobs import Job

log = logging.getLogger(__name__)

IDLE_S = 0.2
"""How long a worker with nothing to do sleeps."""


class Workers:
    """Tasks that take jobs, do them with their owner's rights, and keep the lease while they do."""

    def __init__(self, shop: Workshop) -> None:
        self._shop = shop
        self._ingest = shop.settings.ingest
        self._name = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._tasks: list[asyncio.Task[None]] = []
        self._wake = asyncio.Event()

    def start(self) -> None:
        """Start them, once."""
        if not self._tasks:
            self._tasks = [
                asyncio.create_task(self._work(f"{self._name}:{n}"), name=f"worker-{n}")
                for n in range(self._ingest.workers)
            ]

    def wake(self) -> None:
        """There is something to do now."""
        self._wake.set()

    async def stop(self) -> None:
        """Stop them; a job in hand goes back to the queue at once."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []

    async def _work(self, name: str) -> None:
        while True:
            try:
                job = await self._shop.jobs.claim(name, self._ingest.lease_s)
                if job is None:
                    await self._rest()
                else:
                    await self._do(job, name)
            except StoreDown as error:
                log.warning("the worker waits: %s", error)
                await asyncio.sleep(1.0)

    async def _rest(self) -> None:
        self._wake.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), IDLE_S)

    async def _do(self, job: Job, name: str) -> None:
        if job.attempts > self._ingest.attempts:
            reason = f"processing was cut off {self._ingest.attempts} times; add the file again to retry"
            return await self._shop.indexing.fail(job, "gave_up", reason)
        work = asyncio.create_task(self._attempt(job))
        try:
            while not (await asyncio.wait({work}, timeout=self._ingest.lease_s / 3))[0]:
                if not await self._shop.jobs.renew(job, name, self._ingest.lease_s):
                    work.cancel()
            await asyncio.gather(work, return_exceptions=True)
        except asyncio.CancelledError:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            with suppress(StoreDown):
                await self._shop.jobs.give_back(job, name)
            raise
        return None

    async def _attempt(self, job: Job) -> None:
        """One try; what cannot pass ends the job at once, what can is tried again after a pause."""
        try:
            await ingest(self._shop, job)
            await self._shop.indexing.clear_retired()
        except Conflict as error:
            log.info("job %s: %s", job.id, error)
            await self._shop.indexing.drop(job)
        except StoreDown as error:
            log.warning("job %s waits for its lease to end: %s", job.id, error)
        except Unavailable as error:
            await self._retry_or_fail(job, error)
        except PinciteError as error:
            await self._shop.indexing.fail(job, error.code, str(error))
        except Exception as error:
            log.exception("job %s failed in an unforeseen way", job.id)
            reason = f"an unforeseen error: {type(error).__name__}: {error}"
            await self._shop.indexing.fail(job, "internal", reason)

    async def _retry_or_fail(self, job: Job, error: Unavailable) -> None:
        if job.attempts >= self._ingest.attempts:
            return await self._shop.indexing.fail(job, error.code, str(error))
        log.warning("job %s, try %s: %s", job.id, job.attempts, error)
        return await self._shop.jobs.retry(job, after_s=min(2.0**job.attempts, 10.0))
