"""The background builds of engines: an edition is claimed, built in memory, and published in one transaction.

Builds wait while documents are being indexed. A failed build never fails the document: it leaves a note.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pincite.concurrency import cancel_and_wait
from pincite.core.engines import BuildSource, BuildTarget, BuiltEngine
from pincite.core.traces import span
from pincite.errors import Conflict, StoreDown, Unavailable
from pincite.store.engines.builds import EngineBuilds, EngineRows

log = logging.getLogger(__name__)

LEASE_S = 60.0
"""Seconds that a claim is valid without being renewed."""
MAX_ATTEMPTS = 3
"""Attempts to build an edition whose builds are cut off."""
SHARED_POLL_S = 60.0
"""Seconds between two searches for what several documents share and is outdated, where nothing was built meanwhile."""
MAX_CLAIMS = 16
"""Editions that are claimed at once: looking for them takes longer than building the graph of one."""
POLL_S = 5.0
"""Seconds between two searches for editions to build, where nothing was indexed meanwhile."""


@dataclass(frozen=True, slots=True)
class Built:
    """What was built of an edition; `note` says what is missing."""

    rows: EngineRows
    note: str = ""


class Builder(Protocol):
    """Builds the data of an engine for one edition; `signature` names the settings that it is built with."""

    @property
    def engine(self) -> BuiltEngine: ...
    @property
    def signature(self) -> str: ...

    async def build(self, target: BuildTarget, source: BuildSource) -> Built: ...


@runtime_checkable
class BuildsShared(Protocol):
    """A builder of what several documents share, which is built once the documents themselves are."""

    async def finish(self) -> None: ...
    async def unfinished(self) -> int: ...


class EngineWorker:
    """Builds what the current settings ask for, one edition at a time."""

    def __init__(self, builds: Callable[[], EngineBuilds], builders: Callable[[], Sequence[Builder]]) -> None:
        self._builds = builds
        self._builders = builders
        self._due_at = 0.0
        self._shared_due_at = 0.0

    def wake(self) -> None:
        """Look for editions to build at the next call of `work`."""
        self._due_at = self._shared_due_at = 0.0

    async def work(self, busy: Callable[[], bool]) -> None:
        """Build what is missing, one edition after the other, until documents are being indexed again (`busy`)."""
        if time.monotonic() < self._due_at:
            return
        self._due_at = time.monotonic() + POLL_S
        for builder in self._builders():
            while not busy() and (claimed := await self._claim(builder)):
                await self._build_claimed(builder, claimed, busy)
                self._shared_due_at = 0.0
        await self._build_shared(busy)

    async def _build_claimed(
        self, builder: Builder, claimed: Sequence[tuple[BuildTarget, int]], busy: Callable[[], bool]
    ) -> None:
        """Build claimed editions one after the other; the rest is released where documents are being indexed again."""
        waiting = [target for target, _ in claimed]
        try:
            for target, attempts in claimed:
                if target is not claimed[0][0] and busy():
                    break
                await self._build(builder, target, attempts, waiting)
                waiting.remove(target)
        finally:
            await self._release(builder.engine, waiting)

    async def _release(self, engine: BuiltEngine, waiting: Sequence[BuildTarget]) -> None:
        try:
            await self._builds().release(engine, waiting)
        except StoreDown as error:
            log.warning("%s of %s editions is built when their claims end: %s", engine, len(waiting), error)

    async def _build_shared(self, busy: Callable[[], bool]) -> None:
        """Build what several documents share; whether it is outdated is looked up less often."""
        if busy() or time.monotonic() < self._shared_due_at:
            return
        self._shared_due_at = time.monotonic() + SHARED_POLL_S
        for builder in self._builders():
            if isinstance(builder, BuildsShared):
                with span(f"{builder.engine}_build"):
                    await builder.finish()

    async def _claim(self, builder: Builder) -> list[tuple[BuildTarget, int]]:
        return await self._builds().claim(builder.engine, builder.signature, lease_s=LEASE_S, most=MAX_CLAIMS)

    async def _build(
        self, builder: Builder, target: BuildTarget, attempts: int, waiting: Sequence[BuildTarget]
    ) -> None:
        """Build an edition and renew all claims meanwhile; the build ends where its claim is lost."""
        task = asyncio.create_task(self._build_and_publish(builder, target, attempts))
        try:
            while not (await asyncio.wait({task}, timeout=LEASE_S / 3))[0]:
                kept = {one.edition: await self._builds().renew(builder.engine, one, LEASE_S) for one in waiting}
                if not kept[target.edition]:
                    break
        finally:
            await cancel_and_wait(task)

    async def _build_and_publish(self, builder: Builder, target: BuildTarget, attempts: int) -> None:
        builds, engine, signature = self._builds(), builder.engine, builder.signature
        try:
            if attempts > MAX_ATTEMPTS:
                reason = f"building was cut off {MAX_ATTEMPTS} times"
                return await builds.fail(engine, target, signature, _note(engine, reason))
            with span(f"{engine}_build"):
                built = await builder.build(target, await builds.source(target))
                note = _note(engine, built.note) if built.note else ""
                await builds.publish(engine, target, signature, built.rows, note)
        except Conflict as error:
            log.info("%s of edition %s: %s", engine, target.edition, error)
        except StoreDown as error:
            log.warning("%s of edition %s is built again later: %s", engine, target.edition, error)
        except Unavailable as error:
            await _record(builds, engine, target, signature, str(error))
        except Exception as error:
            log.exception("%s of edition %s failed with an unexpected error", engine, target.edition)
            await _record(builds, engine, target, signature, f"an unexpected error: {type(error).__name__}: {error}")
        return None


async def _record(builds: EngineBuilds, engine: BuiltEngine, target: BuildTarget, signature: str, reason: str) -> None:
    try:
        await builds.fail(engine, target, signature, _note(engine, reason))
    except (Conflict, StoreDown) as error:
        log.warning("the failure of %s for edition %s is not recorded: %s", engine, target.edition, error)


def _note(engine: BuiltEngine, reason: str) -> str:
    return f"{engine}: {reason}; build it again with: pincite reindex --{engine}"
