import asyncio
from typing import Any

from pincite.store.indexing.jobs import SMALL_FILE_BYTES, Capacity


def test_one_worker_at_a_time_has_a_job(with_store: Any) -> None:
    async def test(store: Any) -> None:
        for n in range(5):
            await store.accept(f"{n}.md", f"text {n}")
        claimed = await asyncio.gather(*(store.jobs.claim(f"w{n}", 60) for n in range(8)))
        taken = [job.id for job in claimed if job]
        assert len(taken) == len(set(taken)) == 5

    with_store(test)


def test_small_files_are_claimed_in_batches_and_large_ones_alone(with_store: Any) -> None:
    async def test(store: Any) -> None:
        names = ["a.md", "b.md", "large.md", "c.md", "d.md"]
        for name in names:
            await store.accept(name, "x" * (SMALL_FILE_BYTES + 1) if name == "large.md" else name)

        async def taken(**options: Any) -> list[str]:
            jobs = await store.jobs.claim_some("w", 60, Capacity(**options))
            scope = await store.scope()
            return sorted([(await store.library.get(scope, job.document_id)).name for job in jobs])

        assert await taken(most=3) == ["a.md", "b.md", "c.md"]
        assert await taken(most=3, only_small=True) == []  # the large one is next
        assert await taken(most=3) == ["large.md"]
        assert await taken(most=3, only_small=True) == ["d.md"]

    with_store(test)


def test_a_batch_of_jobs_is_limited_by_its_bytes(with_store: Any) -> None:
    async def test(store: Any) -> None:
        for n in range(6):
            await store.accept(f"{n}.md", "x" * (SMALL_FILE_BYTES // 3))
        taken = await store.jobs.claim_some("w", 60, Capacity(most=16))
        assert [job.bytes for job in taken] == [SMALL_FILE_BYTES // 3] * 3
        left = SMALL_FILE_BYTES - sum(job.bytes for job in taken)
        assert await store.jobs.claim_some("w", 60, Capacity(most=13, bytes=left, only_small=True)) == []

    with_store(test)


def test_small_jobs_do_not_overtake_a_large_one(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await store.accept("waited-for.md", "x" * (SMALL_FILE_BYTES + 1))
        for n in range(3):
            await store.accept(f"{n}.md", "small")
        assert await store.jobs.claim_some("w", 60, Capacity(most=8, only_small=True)) == []
        [first] = await store.jobs.claim_some("w", 60, Capacity(most=8))
        assert first.bytes == SMALL_FILE_BYTES + 1

    with_store(test)


def test_a_job_with_an_earlier_attempt_is_excluded_by_only_sound(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await store.accept("poison.md", "text")
        assert await store.jobs.claim("dies", 0.01)
        await asyncio.sleep(0.05)
        assert await store.jobs.claim_some("w", 60, Capacity(most=8, only_sound=True)) == []
        assert len(await store.jobs.claim_some("w", 60, Capacity(most=8))) == 1

    with_store(test)


def test_a_locked_job_does_not_block_other_leases(with_store: Any) -> None:
    async def test(store: Any) -> None:
        for n in range(2):
            await store.accept(f"{n}.md", f"text {n}")
        locked, other = await store.jobs.claim_some("w", 60, Capacity(most=2))
        async with store.database.transaction("local") as connection:
            await connection.execute("select from job where id = %s for update", (locked.id,))
            async with asyncio.timeout(10):
                assert await asyncio.gather(*(store.jobs.renew(job, 60) for job in (locked, other))) == [True, True]

    with_store(test)


def test_stopping_workers_return_their_own_jobs_only(with_store: Any) -> None:
    async def test(store: Any) -> None:
        for n in range(3):
            await store.accept(f"{n}.md", f"text {n}")
        mine = await store.jobs.claim_some("host:1:0", 60, Capacity(most=2))
        await store.jobs.claim("host:12:0", 60)
        await store.jobs.give_back_all("host:1")
        again = await store.jobs.claim_some("host:2:0", 60, Capacity(most=3))
        assert [(job.id, job.attempts) for job in again] == [(job.id, 1) for job in mine]

    with_store(test)


def test_jobs_whose_worker_died_are_claimed_one_at_a_time(with_store: Any) -> None:
    async def test(store: Any) -> None:
        for n in range(3):
            await store.accept(f"{n}.md", f"text {n}")
        assert len(await store.jobs.claim_some("dies", 0.01, Capacity(most=3))) == 3
        await asyncio.sleep(0.05)
        assert [len(await store.jobs.claim_some("lives", 60, Capacity(most=3))) for _ in range(4)] == [1, 1, 1, 0]

    with_store(test)


def test_of_leases_renewed_together_only_the_expired_one_is_lost(with_store: Any) -> None:
    async def test(store: Any) -> None:
        for n in range(3):
            await store.accept(f"{n}.md", f"text {n}")
        kept, lost = await store.jobs.claim_some("w", 60, Capacity(most=2)), await store.jobs.claim("dies", 0.01)
        await asyncio.sleep(0.05)
        assert await store.jobs.claim("another", 60)
        renewed = await asyncio.gather(*(store.jobs.renew(job, 60) for job in (*kept, lost)))
        assert renewed == [True, True, False]

    with_store(test)


def test_a_worker_whose_lease_ends_loses_its_job(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await store.accept("a.md", "text")
        job = await store.jobs.claim("first", 0.05)
        assert await store.jobs.renew(job, 0.05)
        await asyncio.sleep(0.1)
        again = await store.jobs.claim("second", 60)
        assert (again.id, again.attempts) == (job.id, 2)
        assert not await store.jobs.renew(job, 60)
        assert await store.jobs.claim("third", 60) is None

    with_store(test)


def test_a_returned_job_does_not_count_as_an_attempt(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await store.accept("a.md", "text")
        job = await store.jobs.claim("first", 60)
        await store.jobs.give_back(job)
        assert (await store.jobs.claim("second", 60)).attempts == 1

    with_store(test)


def test_requesting_a_document_again_resets_interrupted_attempts(with_store: Any) -> None:
    async def test(store: Any) -> None:
        document_id = await store.accept("a.md", "text")
        await store.jobs.claim("dies", 0.01)
        await asyncio.sleep(0.05)
        await store.jobs.start_over(await store.scope(), [document_id])
        assert (await store.jobs.claim("lives", 60)).attempts == 1
        await store.jobs.start_over(await store.scope(), [document_id])
        async with store.database.transaction("local") as connection:
            assert await (await connection.execute("select attempts from job")).fetchall() == [(1,)]

    with_store(test)


def test_held_documents_wait_until_started(with_store: Any) -> None:
    from pincite.core.documents.document import Upload
    from pincite.store.indexing.insert_documents import Schedule

    async def test(store: Any) -> None:
        scope = await store.scope()
        ids = []
        for name in ("a.md", "b.md"):
            upload = Upload(name, name.encode())
            held, _ = await store.intake.accept(
                scope, upload, mime="text/markdown", checksum=name, schedule=Schedule(held=True)
            )
            ids.append(held.id)
        assert await store.jobs.claim("w", 60) is None
        assert await store.jobs.start(scope, [ids[0]]) == 1
        assert (await store.jobs.claim("w", 60)).document_id == ids[0]
        assert await store.jobs.start(scope, None) == 1
        assert (await store.jobs.claim("w", 60)).document_id == ids[1]

    with_store(test)


def test_waiting_counts_unfinished_documents(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope = await store.scope()
        document_id = await store.accept("a.md", "text")
        assert (await store.jobs.waiting(scope, [document_id])).count == 1
        job = await store.jobs.claim("w", 60)
        await store.jobs.report(job, "embedding", 0.5)
        assert (await store.jobs.waiting(scope, [document_id])).progress == 0.5
        await store.indexing.fail(job, "broken", "cannot be read")
        assert await store.jobs.waiting(scope, [document_id]) is None

    with_store(test)


async def said(store: Any, query: str) -> list[tuple[Any, ...]]:
    async with store.database.transaction("local") as connection:
        return list(await (await connection.execute(query)).fetchall())


async def own(store: Any, person: str) -> Any:
    """Another person's scope."""
    import psycopg

    async with await psycopg.AsyncConnection.connect(store.database._url, autocommit=True) as admin:
        await admin.execute(
            "insert into pincite.person (id, name, role) values (%(id)s, %(id)s, 'editor')", {"id": person}
        )
        await admin.execute("insert into pincite.realm (owner) values (%s)", (person,))
    return await store.library.scope(person)


async def take_in(store: Any, scope: Any, name: str, priority: int) -> None:
    from pincite.core.documents.document import Upload
    from pincite.store.indexing.insert_documents import Schedule

    upload, schedule = Upload(name, name.encode()), Schedule(priority=priority)
    await store.intake.accept(scope, upload, mime="text/markdown", checksum=name, schedule=schedule)


def test_jobs_are_claimed_by_priority_and_owners_alternate(with_store: Any) -> None:
    async def test(store: Any) -> None:
        mine, hers = await store.scope(), await own(store, "ann")
        for n in range(6):
            await take_in(store, mine, f"load {n}.md", 1)
        for n in range(2):
            await take_in(store, hers, f"hers {n}.md", 1)
        await take_in(store, mine, "now.md", 0)
        owners = [(await store.jobs.claim("w", 60)).owner for _ in range(6)]
        assert owners[0] == "local"  # a document that somebody waits for
        assert owners[1:5] == ["ann", "local", "ann", "local"]  # the owner with the fewest running jobs
        assert owners[5] == "local"

    with_store(test)


def test_leases_and_pauses_end_after_the_clock_is_set_back(with_store: Any) -> None:
    """The clock is set back by an hour: earlier leases and pauses seem to last an hour longer."""

    async def test(store: Any) -> None:
        await store.accept("a.md", "dead worker")
        await store.accept("b.md", "paused")
        dead, paused = await store.jobs.claim("dies", 2), await store.jobs.claim("pauses", 60)
        await store.jobs.retry(paused, 10)
        await said(
            store, "update job set lease_until = lease_until + interval '1 hour' where state = 'running' returning 1"
        )
        await said(
            store, "update job set not_before = not_before + interval '1 hour' where state = 'ready' returning 1"
        )
        assert await store.jobs.claim("w", 60) is None  # the lease and the pause begin again
        assert (await store.jobs.claim("w", 60)).id == paused.id
        async with asyncio.timeout(20):
            while (again := await store.jobs.claim("w", 60)) is None:
                await asyncio.sleep(0.1)
        assert (again.id, again.attempts) == (dead.id, 2)
        assert not await store.jobs.renew(dead, 60)

    with_store(test)


def test_a_running_worker_keeps_its_job_when_the_clock_is_set_back(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await store.accept("a.md", "text")
        job = await store.jobs.claim("lives", 60)
        await said(store, "update job set lease_until = lease_until + interval '1 hour' returning 1")
        assert await store.jobs.claim("another", 60) is None
        assert await store.jobs.renew(job, 60)
        assert await said(store, "select lease_until < now() + interval '61 seconds' from job") == [(True,)]

    with_store(test)


def test_pauses_of_a_stalled_job_grow_and_attempts_do_not_count(with_store: Any) -> None:
    from pincite.errors import ProviderBusy

    async def test(store: Any) -> None:
        document_id = await store.accept("a.md", "text")
        pauses = []
        for since in (0, 50, 900):
            await said(store, "update job set not_before = '-infinity' returning 1")
            job = await store.jobs.claim("w", 60)
            assert job.attempts == 1
            await said(store, f"update job set stalled_since = now() - interval '{since} seconds' returning 1")
            error = ProviderBusy("no answer")
            pauses.append(await store.jobs.stall(job, "waiting", error, patience_s=1000, at_least_s=2))
        assert [round(pause) for pause in pauses] == [2, 50, 300]
        document = await store.library.get(await store.scope(), document_id)
        assert (document.status, document.stage) == ("pending", "waiting")
        assert await store.jobs.claim("w", 60) is None
        await store.jobs.wake_stalled()
        job = await store.jobs.claim("w", 60)
        await said(store, "update job set stalled_since = now() - interval '1 hour' returning 1")
        assert await store.jobs.stall(job, "waiting", ProviderBusy("x"), patience_s=1000, at_least_s=2) is None
        assert await store.jobs.renew(job, 60)

    with_store(test)


def test_a_document_is_processing_only_while_its_worker_is_alive(with_store: Any) -> None:
    from pincite.core.documents.document import Listing

    async def test(store: Any) -> None:
        scope, document_id = await store.scope(), await store.accept("a.md", "text")
        job = await store.jobs.claim("w", 60)
        await store.jobs.report(job, "embedding", 0.5)
        assert (await store.library.get(scope, document_id)).status == "processing"
        await said(store, "update job set lease_until = now() - interval '1 second' returning 1")
        assert (await store.library.get(scope, document_id)).status == "pending"
        assert (await store.library.documents(scope, Listing(status="processing")))[0] == []
        assert len((await store.library.documents(scope, Listing(status="pending")))[0]) == 1

    with_store(test)
