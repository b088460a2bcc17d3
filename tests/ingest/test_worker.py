import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from pincite.core.documents.document import Document, Upload
from pincite.errors import DataFolderError, ProviderBusy, ProviderError, Unavailable
from pincite.ingest import worker


async def processed(pincite: Any, name: str = "a.md") -> Document:
    added = await pincite.documents.upload(Upload(name, b"Some words."))
    pincite.services.workers.start()
    await asyncio.wait_for(pincite.documents.wait([added.document.id]), 20)
    return await pincite.get(added.document.id)


def failing_pipeline(monkeypatch: pytest.MonkeyPatch, *behaviours: Any) -> list[int]:
    """Make the pipeline raise these errors, one per call, and work after that; return the attempts so far."""
    real, tries = worker.ingest, list[int]()

    async def ingest(kit: Any, job: Any) -> None:
        tries.append(job.attempts)
        if len(tries) <= len(behaviours):
            raise behaviours[len(tries) - 1]
        await real(kit, job)

    monkeypatch.setattr(worker, "ingest", ingest)
    return tries


def test_a_temporary_error_is_retried(open_pincite: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            tries = failing_pipeline(monkeypatch, ProviderError("busy"))
            assert (await processed(pincite)).status == "completed"
            assert tries == [1, 2]

    asyncio.run(go())


def test_a_bug_fails_the_document_with_a_reason_and_the_worker_continues(
    open_pincite: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            failing_pipeline(monkeypatch, ZeroDivisionError("oops"))
            failed = await processed(pincite)
            assert failed.error is not None
            assert (failed.error.code, "ZeroDivisionError: oops" in failed.error.message) == ("internal", True)
            assert (await processed(pincite, "b.md")).status == "completed"

    asyncio.run(go())


def test_a_file_that_kills_workers_fails_after_its_attempts(open_pincite: Callable[..., Any]) -> None:
    async def go() -> None:
        async with open_pincite(ingest__attempts=2) as pincite:
            added = await pincite.documents.upload(Upload("a.md", b"Some words."))
            for _ in range(2):
                assert await pincite.services.jobs.claim("a worker that dies", 0.01)
                await asyncio.sleep(0.05)
            pincite.services.workers.start()
            await asyncio.wait_for(pincite.documents.wait([added.document.id]), 10)
            document = await pincite.get(added.document.id)
            assert (document.error.code, "cut off 2 times" in document.error.message) == ("gave_up", True)

    asyncio.run(go())


def test_stopping_returns_the_job_to_the_queue_at_once(
    open_pincite: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go() -> None:
        started = asyncio.Event()

        async def slow(kit: Any, job: Any) -> None:
            started.set()
            await asyncio.sleep(60)

        async with open_pincite() as pincite:
            monkeypatch.setattr(worker, "ingest", slow)
            await pincite.documents.upload(Upload("a.md", b"Some words."))
            pincite.services.workers.start()
            await asyncio.wait_for(started.wait(), 5)
            await pincite.services.workers.stop()
            job = await pincite.services.jobs.claim("another", 60)
            assert (job is not None, job.attempts) == (True, 1)

    asyncio.run(go())


def test_stopping_returns_all_running_jobs_even_if_that_is_slow(
    open_pincite: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go() -> None:
        async with open_pincite(ingest__workers=2) as pincite:
            begun, real = list[int](), pincite.services.jobs.give_back

            async def ingest(kit: Any, job: Any) -> None:
                begun.append(job.id)
                await asyncio.sleep(3600)

            async def slow(job: Any) -> None:
                await asyncio.sleep(0.7)
                await real(job)

            monkeypatch.setattr(worker, "ingest", ingest)
            monkeypatch.setattr(pincite.services.jobs, "give_back", slow)
            for n in range(3):
                await pincite.documents.upload(Upload(f"{n}.md", b"Some words."))
            pincite.services.workers.start()
            async with asyncio.timeout(20):
                while len(begun) < 3:
                    await asyncio.sleep(0.01)
            await pincite.services.workers.stop()
            again = [await pincite.services.jobs.claim("another", 60) for _ in range(3)]
            assert [(job.id, job.attempts) for job in again] == [(one, 1) for one in sorted(begun)]

    asyncio.run(go())


def test_a_worker_that_lost_its_lease_stops(open_pincite: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    async def go() -> None:
        stopped = asyncio.Event()

        async def slow(kit: Any, job: Any) -> None:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                stopped.set()
                raise

        async with open_pincite(ingest__lease_s=2) as pincite:
            monkeypatch.setattr(worker, "ingest", slow)
            added = await pincite.documents.upload(Upload("a.md", b"Some words."))
            pincite.services.workers.start()
            await asyncio.sleep(0.3)
            await pincite.remove(added.document.id)
            assert await asyncio.wait_for(stopped.wait(), 5)

    asyncio.run(go())


def test_postings_are_packed_when_no_job_is_left(
    open_pincite: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    async def go() -> None:
        async with open_pincite(ingest__workers=1) as pincite:
            finished = asyncio.Event()

            async def make() -> int:
                made.append(pincite.services.workers._finished)
                finished.set()
                return 0

            monkeypatch.setattr(pincite.services.postings, "make", make)
            pincite.services.workers.start()
            await asyncio.wait_for(finished.wait(), 20)  # the housekeeping of the start
            finished.clear()
            await processed(pincite)
            await asyncio.wait_for(finished.wait(), 20)
            assert made == [0, 0]
            assert pincite.services.workers._finished == 0

    asyncio.run(go())


def test_a_job_waits_for_an_embedder_that_is_down_without_spending_an_attempt(
    open_pincite: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """There are more failures than attempts."""

    async def go() -> None:
        monkeypatch.setattr(worker, "MIN_STALL_PAUSE_S", 0.01)
        async with open_pincite(ingest__attempts=1) as pincite:
            tries = failing_pipeline(monkeypatch, *(ProviderBusy("cannot be reached") for _ in range(4)))
            assert (await processed(pincite)).status == "completed"
            assert tries == [1, 1, 1, 1, 1]

    asyncio.run(go())


def test_a_stalled_document_reports_what_it_waits_for(
    open_pincite: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            failing_pipeline(monkeypatch, ProviderBusy("http://there cannot be reached"))
            added = await pincite.documents.upload(Upload("a.md", b"Some words."))
            pincite.services.workers.start()
            async with asyncio.timeout(10):
                while (document := await pincite.get(added.document.id)).stage is None:
                    await asyncio.sleep(0.01)
            assert (document.status, document.stage) == ("pending", "waiting for the embedder")
            [job], _ = await pincite.services.job_list.page(await pincite.scope(), limit=10)
            assert (job.state, job.error.code) == ("waiting", "provider_busy")
            assert job.not_before is not None
            assert (await pincite.services.job_list.summary(await pincite.scope())).stalled == 1
            with pytest.raises(Unavailable, match=r"waiting for the embedder: http://there cannot be reached"):
                await pincite.documents.wait([document.id], stalled_s=0.0)

    asyncio.run(go())


def test_a_stalled_document_fails_with_the_reason_when_patience_ends(
    open_pincite: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go() -> None:
        async with open_pincite(ingest__patience_s=0) as pincite:
            tries = failing_pipeline(monkeypatch, ProviderBusy("cannot be reached"))
            failed = await processed(pincite)
            assert failed.error is not None
            assert (failed.error.code, failed.error.message) == ("provider_busy", "cannot be reached")
            assert tries == [1]

    asyncio.run(go())


def test_stalled_jobs_are_retried_at_once_when_the_embedder_is_back(
    open_pincite: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go() -> None:
        monkeypatch.setattr(worker, "PROBE_INTERVAL_S", 0.01)
        async with open_pincite() as pincite:
            failing_pipeline(monkeypatch, *(ProviderBusy("busy", retry_after_s=200) for _ in range(3)))
            ids = [(await pincite.documents.upload(Upload(f"{n}.md", b"Some words."))).document.id for n in range(4)]
            pincite.services.workers.start()
            await asyncio.wait_for(pincite.documents.wait(ids), 20)  # three of them have a pause of 200 s
            assert {(await pincite.get(one)).status for one in ids} == {"completed"}

    asyncio.run(go())


def test_a_job_cancelled_by_another_process_stops_at_the_next_heartbeat(
    open_pincite: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go() -> None:
        begun, stopped = asyncio.Event(), asyncio.Event()

        async def slow(kit: Any, job: Any) -> None:
            begun.set()
            try:
                await asyncio.sleep(60)
            finally:
                stopped.set()

        async with open_pincite(ingest__lease_s=600) as pincite, open_pincite() as other:
            monkeypatch.setattr(worker, "ingest", slow)
            added = await pincite.documents.upload(Upload("a.md", b"Some words."))
            pincite.services.workers.start()
            await asyncio.wait_for(begun.wait(), 10)
            [job], _ = await other.services.job_list.page(await other.scope(), limit=10)
            assert (await other.documents.cancel(job.id)).was == "running"
            await asyncio.wait_for(stopped.wait(), 10)
            assert (await pincite.get(added.document.id)).error.code == "cancelled"

    asyncio.run(go())


def test_a_job_waits_while_the_disk_is_full(open_pincite: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    async def go() -> None:
        monkeypatch.setattr(worker, "MIN_STALL_PAUSE_S", 0.01)
        async with open_pincite(ingest__attempts=1) as pincite:
            tries = failing_pipeline(monkeypatch, DataFolderError("the database's disk is full"))
            assert (await processed(pincite)).status == "completed"
            assert tries == [1, 1]

    asyncio.run(go())
