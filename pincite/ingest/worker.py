"""The queue's consumer: the only one that moves a document's status."""

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
from pincite.ingest.pipeline import IngestKit, ingest
from pincite.store.indexing.jobs import SMALL_FILE_BYTES, Capacity, Job

log = logging.getLogger(__name__)

IDLE_S = 0.2
"""How long a worker with nothing to do sleeps."""
HEARTBEAT_S = 1.0
"""How often a worker at least shows that it is alive, and looks whether its job is still its own."""
SHORTEST_PAUSE_S, PROBE_S = 2.0, 10.0
"""The first pause of a job that waits for a part that is down; and how often one is tried while that is so."""
HANDFUL = 16
"""Small files a worker has in hand at the most; of large ones it has one."""
_NUMBERS = itertools.count(1)
"""Of those in one process, each is called otherwise: what one gives back is its own."""
TIDY_S = 3600.0
"""How often what nobody needs any more is cleared away."""
PACK_AFTER = 256
"""Documents after which words are packed while more are waiting; where none are, it is done at once."""


class Workers:
    """Tasks that take jobs, do them with their owner's rights, and keep the lease while they do.

    `in_hand` are the shops in which a document is under way; `name` is what its jobs say who has them.
    """

    def __init__(self, shop: Callable[[], IngestKit], tidy: Callable[[], Awaitable[None]]) -> None:
        self._shop = shop
        self._tidy = tidy
        self.name = f"{socket.gethostname()}:{os.getpid()}" + (f".{number}" if (number := next(_NUMBERS)) > 1 else "")
        self._tasks: list[asyncio.Task[None]] = []
        self._wake = asyncio.Event()
        self._finished = 0
        self._at: dict[int, asyncio.Task[None]] = {}
        self._down_until: float | None = None
        self.in_hand: list[IngestKit] = []
        self._claiming = asyncio.Lock()
        self._holding: dict[int, Job] = {}
        self._left: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Start them, once, and the housekeeping beside them."""
        if not self._tasks:
            workers = self._shop().settings.ingest.workers
            self._tasks = [asyncio.create_task(self._work(f"{self.name}:{n}")) for n in range(workers)]
            self._tasks.append(asyncio.create_task(self._keep_tidy()))

    def wake(self) -> None:
        """There is something to do now."""
        self._wake.set()

    async def drop(self, job_id: int) -> None:
        """Let go of a job that was taken from us, if it is here: at once, not at the next heartbeat."""
        if work := self._at.get(job_id):
            await cancel_and_wait(work)

    async def stop(self) -> None:
        """Stop them; a job in hand goes back to the queue at once."""
        if not self._tasks:
            return
        await asyncio.gather(*map(cancel_and_wait, self._tasks))
        await asyncio.gather(*map(cancel_and_wait, self._left))
        self._tasks, self._left = [], set()
        with suppress(StoreDown):
            await self._shop().jobs.give_back_all(self.name)

    async def _keep_tidy(self) -> None:
        while True:
            try:
                await self._tidy()
            except PinciteError as error:
                log.warning("the housekeeping waits: %s", error)
            await asyncio.sleep(TIDY_S)

    async def _work(self, name: str) -> None:
        """Take jobs for ever: whatever goes wrong with one, the next is taken."""
        hands: dict[asyncio.Task[None], Job] = {}
        try:
            while True:
                await _undaunted(self._take(name, hands))
        finally:
            self._left |= set(hands)  # whoever stops us ends them: this task may be cancelled again any moment

    async def _take(self, name: str, hands: dict["asyncio.Task[None]", Job]) -> None:
        """Take what there is room for, and where there is none or nothing waits, wait for a while."""
        shop = self._shop()  # the settings a document is begun with are those it is finished with
        jobs = [] if self._is_down() else await self._claim(shop, name, list(hands.values()))
        for job in jobs:
            hand = asyncio.create_task(self._hold(shop, job))
            hands[hand] = job
            hand.add_done_callback(partial(self._put_down, hands))
        await self._pack(shop, after=PACK_AFTER if hands else 1)
        if hands:
            await asyncio.wait(hands, timeout=IDLE_S, return_when=asyncio.FIRST_COMPLETED)
        elif not jobs:
            await self._rest()

    def _put_down(self, hands: dict["asyncio.Task[None]", Job], hand: "asyncio.Task[None]") -> None:
        """It is over, or was never begun."""
        self._holding.pop(hands.pop(hand).id, None)

    async def _claim(self, shop: IngestKit, name: str, held: Sequence[Job]) -> list[Job]:
        """Jobs for a worker that holds these: as many small ones as it has room for, or one that is large.

        What was cut off before may be what ends us: the whole process tries it alone, lest it be others' end, too.
        """
        room = Capacity(HANDFUL - len(held), SMALL_FILE_BYTES - sum(job.bytes for job in held), only_small=bool(held))
        if room.most < HANDFUL // 2 or room.bytes < SMALL_FILE_BYTES // 2:
            return []
        async with self._claiming:
            if any(job.attempts > 1 for job in self._holding.values()):
                return []
            room = replace(room, only_sound=bool(self._holding))
            jobs = await shop.jobs.claim_some(name, shop.settings.ingest.lease_s, room)
            self._holding |= {job.id: job for job in jobs}
            return jobs

    async def _hold(self, shop: IngestKit, job: Job) -> None:
        """Have one job in hand."""
        self.in_hand.append(shop)
        try:
            await _undaunted(self._do(shop, job))
        finally:
            self.in_hand.remove(shop)
            self._finished += 1

    async def _pack(self, shop: IngestKit, *, after: int) -> None:
        """Pack the words of what so many documents brought, so that they are looked up faster."""
        if self._finished >= after:
            self._finished = 0
            await shop.packs.make()

    def _is_down(self) -> bool:
        """Where a part that every job needs is down, one is tried now and then, and the others are left in peace."""
        return self._down_until is not None and time.monotonic() < self._down_until

    async def _rest(self) -> None:
        self._wake.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(IDLE_S):
                await self._wake.wait()

    async def _do(self, shop: IngestKit, job: Job) -> None:
        """One job, for as long as it is ours: work that lost its lease is stopped."""
        lease_s = shop.settings.ingest.lease_s
        self._at[job.id] = work = asyncio.create_task(self._attempt(shop, job))
        ours_until = time.monotonic() + lease_s
        try:
            while not (await asyncio.wait({work}, timeout=min(lease_s / 3, HEARTBEAT_S)))[0]:
                with suppress(StoreDown):  # a database that comes back in time finds the lease still ours
                    if not await shop.jobs.renew(job, lease_s):
                        break
                    ours_until = time.monotonic() + lease_s
                if time.monotonic() > ours_until:
                    break
        finally:
            await cancel_and_wait(work)
            self._at.pop(job.id, None)

    async def _attempt(self, shop: IngestKit, job: Job) -> None:
        """One try, and what follows from how it ends; whoever lost the job meanwhile has nothing more to say about it."""
        try:
            await self._try(shop, job)
        except Conflict as error:
            log.info("job %s: %s", job.id, error)
            with suppress(Conflict):  # it may not be ours to end
                await shop.indexing.drop(job)
        except (StoreDown, DataFolderError) as error:
            log.warning("job %s waits for its lease to end: %s", job.id, error)

    async def _try(self, shop: IngestKit, job: Job) -> None:
        """What cannot pass ends the job at once, what can is tried again after a pause."""
        if job.attempts > shop.settings.ingest.attempts:
            reason = f"processing was cut off {shop.settings.ingest.attempts} times; add the file again to retry"
            return await shop.indexing.fail(job, "gave_up", reason)
        try:
            await ingest(shop, job)
            await self._back_up(shop)
            await shop.indexing.clear_abandoned()
        except (Conflict, StoreDown):
            raise
        except DataFolderError as error:
            await self._stall(shop, job, "waiting for room on the disk", error)
        except Unavailable as error:
            if isinstance(error, ProviderBusy) or error.code == "breaker_open":
                await self._stall(shop, job, "waiting for the embedder", error)
            else:
                await self._retry_or_fail(shop, job, error)
        except PinciteError as error:
            await shop.indexing.fail(job, error.code, str(error))
        except Exception as error:
            log.exception("job %s failed in an unforeseen way", job.id)
            reason = f"an unforeseen error: {type(error).__name__}: {error}"
            await shop.indexing.fail(job, "internal", reason)
        return None

    async def _retry_or_fail(self, shop: IngestKit, job: Job, error: Unavailable) -> None:
        if job.attempts >= shop.settings.ingest.attempts or isinstance(error, ProviderRefused):
            return await shop.indexing.fail(job, error.code, str(error))
        log.warning("job %s, try %s: %s", job.id, job.attempts, error)
        return await shop.jobs.retry(job, min(2.0**job.attempts, 10.0), error)

    async def _stall(self, shop: IngestKit, job: Job, stage: str, error: PinciteError) -> None:
        """A part that every document needs is down: wait for it, which is not the document's fault."""
        asked = (error.retry_after_s or 0.0) if isinstance(error, ProviderBusy) else 0.0
        pause = await shop.jobs.stall(
            job, stage, error, patience_s=shop.settings.ingest.patience_s, at_least_s=max(asked, SHORTEST_PAUSE_S)
        )
        if pause is None:
            return await shop.indexing.fail(job, error.code, str(error))
        log.warning("job %s is %s and tried again in %.0f s: %s", job.id, stage, pause, error)
        self._down_until = time.monotonic() + min(pause, PROBE_S)
        return None

    async def _back_up(self, shop: IngestKit) -> None:
        """What was down is back, as this document shows: whatever else waits for it is tried now."""
        if self._down_until is not None:
            self._down_until = None
            await shop.jobs.wake_stalled()


async def _undaunted(work: Awaitable[None]) -> None:
    """Do it; what goes wrong with it is told, and after a pause the worker goes on."""
    try:
        await work
    except (StoreDown, DataFolderError) as error:
        log.warning("the worker waits: %s", error)
        await asyncio.sleep(1.0)
    except Exception:
        log.exception("the worker goes on after an unforeseen error")
        await asyncio.sleep(1.0)
