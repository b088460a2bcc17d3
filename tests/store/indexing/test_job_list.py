import asyncio
from typing import Any

import pytest

from pincite.core.documents.document import Failure
from pincite.errors import Conflict, Invalid, NotFound
from pincite.store.indexing.job_list import JobList

STATES: tuple[Any, ...] = ("running", "waiting", "held")


def test_running_jobs_are_listed_first_with_their_worker(with_store: Any) -> None:
    async def test(store: Any) -> None:
        queue, scope = JobList(store.database), await store.scope()
        for n in range(3):
            await store.accept(f"{n}.md", f"text {n}")
        await store.jobs.claim("host:1:0", 60)
        last = await store.jobs.claim("host:2:1", 60)
        await store.jobs.report(last, "embedding", 0.25)
        jobs, following = await queue.page(scope, limit=10)
        assert following is None
        assert [(job.state, job.name, job.worker) for job in jobs] == [
            ("running", "0.md", "host:1:0"),
            ("running", "1.md", "host:2:1"),
            ("waiting", "2.md", None),
        ]
        assert (jobs[1].stage, jobs[1].progress) == ("embedding", 0.25)
        assert jobs[1].remaining_s is not None

    with_store(test)


def test_a_job_whose_worker_died_waits(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await store.accept("a.md", "text")
        await store.jobs.claim("dies", 0.01)
        await asyncio.sleep(0.05)
        [job], _ = await JobList(store.database).page(await store.scope(), limit=10)
        assert (job.state, job.worker, job.attempts) == ("waiting", None, 1)

    with_store(test)


def test_the_summary_has_counts_and_the_rate_of_the_last_minute(with_store: Any) -> None:
    async def test(store: Any) -> None:
        queue, scope = JobList(store.database), await store.scope()
        assert (await queue.summary(scope)).documents_per_s is None
        for n in range(4):
            await store.put(f"{n}.md", f"text {n}", f"more {n}")
        for name in ("x.md", "y.md"):
            await store.accept(name, "waits")
        await store.jobs.claim("w", 60)
        summary = await queue.summary(scope)
        assert (summary.running, summary.waiting, summary.held, summary.stalled) == (1, 1, 0, 0)
        assert summary.documents_per_s is not None
        assert summary.documents_per_s > 0
        assert summary.passages_per_s is not None
        assert summary.passages_per_s >= summary.documents_per_s
        assert summary.remaining_s == pytest.approx(2 / summary.documents_per_s, rel=0.2, abs=0.2)

    with_store(test)


def test_jobs_are_listed_by_their_state_and_for_a_day_after_their_end(with_store: Any) -> None:
    async def test(store: Any) -> None:
        queue, scope = JobList(store.database), await store.scope()
        for n in range(3):
            await store.put(f"{n}.md", f"text {n}")
        await store.accept("bad.md", "text")
        job = await store.jobs.claim("w", 60)
        await store.indexing.fail(job, "broken", "it cannot be read")
        await store.accept("next.md", "text")
        states = {state: [job.name for job in (await queue.page(scope, limit=10, state=state))[0]] for state in STATES}
        assert states == {"running": [], "waiting": ["next.md"], "held": []}
        first, cursor = await queue.past(scope, limit=3)
        rest, end = await queue.past(scope, limit=3, cursor=cursor)
        assert [(one.name, one.status) for one in (*first, *rest)] == [
            ("bad.md", "error"),
            ("2.md", "completed"),
            ("1.md", "completed"),
            ("0.md", "completed"),
        ]
        assert (end, first[0].error) == (None, Failure("broken", "it cannot be read"))
        with pytest.raises(Invalid, match="cursor"):
            await queue.past(scope, limit=3, cursor="1.2.3")
        await store.removal.remove(scope, first[0].document_id)
        assert len((await queue.past(scope, limit=10))[0]) == 3
        async with store.database.transaction(scope.person) as connection:
            await connection.execute(
                "update ended_job set ended_at = now() - interval '25 hours' where id = %s", (rest[0].id,)
            )
        await queue.remove_old()
        assert [one.name for one in (await queue.past(scope, limit=10))[0]] == ["2.md", "1.md"]

    with_store(test)


def test_after_a_takeover_the_worker_cannot_write(with_store: Any) -> None:
    async def test(store: Any) -> None:
        queue, scope = JobList(store.database), await store.scope()
        document_id = await store.accept("a.md", "text")
        job = await store.jobs.claim("w", 60)
        edition = await store.indexing.begin(await store.indexing.target(job))
        taken, told = await queue.take_over(scope, job.id)
        assert (told.document_id, told.was, told.serving) == (document_id, "running", False)
        with pytest.raises(Conflict):
            await store.indexing.write(edition, [])
        await store.indexing.fail(taken, "cancelled", "cancelled")
        async with store.database.transaction("local") as connection:
            assert await (await connection.execute("select count(*) from edition")).fetchone() == (0,)
        with pytest.raises(NotFound, match="it may have ended"):
            await queue.take_over(scope, job.id)
        [ended] = await queue.ended(scope, [_like(job)])
        assert (ended.document_id, ended.status, ended.error.code) == (document_id, "error", "cancelled")

    with_store(test)


def test_queued_jobs_have_not_ended_and_removed_documents_have_no_status(with_store: Any) -> None:
    async def test(store: Any) -> None:
        queue, scope = JobList(store.database), await store.scope()
        await store.accept("a.md", "text")
        jobs, _ = await queue.page(scope, limit=10)
        assert await queue.ended(scope, jobs) == []
        await store.removal.remove(scope, jobs[0].document_id)
        [ended] = await queue.ended(scope, jobs)
        assert (ended.status, ended.error) == (None, None)

    with_store(test)


@pytest.mark.parametrize("cursor", ["", "1.2", "a.b.c", "1.2.-3", "1.2." + "9" * 40])
def test_an_invalid_cursor_is_refused(with_store: Any, cursor: str) -> None:
    async def test(store: Any) -> None:
        with pytest.raises(Invalid, match="cursor"):
            await JobList(store.database).page(await store.scope(), limit=1, cursor=cursor)

    with_store(test)


def _like(job: Any) -> Any:
    from types import SimpleNamespace

    return SimpleNamespace(id=job.id, document_id=job.document_id)
