import asyncio
from typing import Any

from pincite.store.indexing.jobs import SMALL_FILE_BYTES, Capacity


def test_a_job_is_with_one_worker_at_a_time(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        for n in range(5):
            await shelf.accept(f"{n}.md", f"text {n}")
        claimed = await asyncio.gather(*(shelf.jobs.claim(f"w{n}", 60) for n in range(8)))
        taken = [job.id for job in claimed if job]
        assert len(taken) == len(set(taken)) == 5

    with_shelf(test)


def test_small_files_are_taken_by_the_handful_and_large_ones_alone(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        names = ["a.md", "b.md", "large.md", "c.md", "d.md"]
        for name in names:
            await shelf.accept(name, "x" * (SMALL_FILE_BYTES + 1) if name == "large.md" else name)

        async def taken(**options: Any) -> list[str]:
            jobs = await shelf.jobs.claim_some("w", 60, Capacity(**options))
            scope = await shelf.scope()
            return sorted([(await shelf.library.get(scope, job.document_id)).name for job in jobs])

        assert await taken(most=3) == ["a.md", "b.md", "c.md"]
        assert await taken(most=3, only_small=True) == []  # the large one is next
        assert await taken(most=3) == ["large.md"]
        assert await taken(most=3, only_small=True) == ["d.md"]

    with_shelf(test)


def test_a_handful_is_bounded_by_its_bytes(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        for n in range(6):
            await shelf.accept(f"{n}.md", "x" * (SMALL_FILE_BYTES // 3))
        taken = await shelf.jobs.claim_some("w", 60, Capacity(most=16))
        assert [job.bytes for job in taken] == [SMALL_FILE_BYTES // 3] * 3
        left = SMALL_FILE_BYTES - sum(job.bytes for job in taken)
        assert await shelf.jobs.claim_some("w", 60, Capacity(most=13, bytes=left, only_small=True)) == []

    with_shelf(test)


def test_whose_turn_it_is_nobody_overtakes(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await shelf.accept("waited-for.md", "x" * (SMALL_FILE_BYTES + 1))
        for n in range(3):
            await shelf.accept(f"{n}.md", "small")
        assert await shelf.jobs.claim_some("w", 60, Capacity(most=8, only_small=True)) == []
        [first] = await shelf.jobs.claim_some("w", 60, Capacity(most=8))
        assert first.bytes == SMALL_FILE_BYTES + 1

    with_shelf(test)


def test_what_may_end_its_worker_waits_until_it_can_be_tried_alone(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await shelf.accept("poison.md", "text")
        assert await shelf.jobs.claim("dies", 0.01)
        await asyncio.sleep(0.05)
        assert await shelf.jobs.claim_some("w", 60, Capacity(most=8, only_sound=True)) == []
        assert len(await shelf.jobs.claim_some("w", 60, Capacity(most=8))) == 1

    with_shelf(test)


def test_a_job_that_is_locked_keeps_no_other_from_its_lease(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        for n in range(2):
            await shelf.accept(f"{n}.md", f"text {n}")
        locked, other = await shelf.jobs.claim_some("w", 60, Capacity(most=2))
        async with shelf.database.transaction("local") as connection:
            await connection.execute("select from job where id = %s for update", (locked.id,))
            async with asyncio.timeout(10):
                assert await asyncio.gather(*(shelf.jobs.renew(job, 60) for job in (locked, other))) == [True, True]

    with_shelf(test)


def test_workers_that_leave_give_back_what_is_theirs_and_nobody_elses(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        for n in range(3):
            await shelf.accept(f"{n}.md", f"text {n}")
        mine = await shelf.jobs.claim_some("host:1:0", 60, Capacity(most=2))
        await shelf.jobs.claim("host:12:0", 60)
        await shelf.jobs.give_back_all("host:1")
        again = await shelf.jobs.claim_some("host:2:0", 60, Capacity(most=3))
        assert [(job.id, job.attempts) for job in again] == [(job.id, 1) for job in mine]

    with_shelf(test)


def test_what_ended_its_worker_once_is_tried_alone(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        for n in range(3):
            await shelf.accept(f"{n}.md", f"text {n}")
        assert len(await shelf.jobs.claim_some("dies", 0.01, Capacity(most=3))) == 3
        await asyncio.sleep(0.05)
        assert [len(await shelf.jobs.claim_some("lives", 60, Capacity(most=3))) for _ in range(4)] == [1, 1, 1, 0]

    with_shelf(test)


def test_of_leases_that_are_renewed_together_only_the_lost_one_is_lost(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        for n in range(3):
            await shelf.accept(f"{n}.md", f"text {n}")
        kept, lost = await shelf.jobs.claim_some("w", 60, Capacity(most=2)), await shelf.jobs.claim("dies", 0.01)
        await asyncio.sleep(0.05)
        assert await shelf.jobs.claim("another", 60)
        renewed = await asyncio.gather(*(shelf.jobs.renew(job, 60) for job in (*kept, lost)))
        assert renewed == [True, True, False]

    with_shelf(test)


def test_a_silent_worker_loses_its_job_and_learns_it(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await shelf.accept("a.md", "text")
        job = await shelf.jobs.claim("first", 0.05)
        assert await shelf.jobs.renew(job, 0.05)
        await asyncio.sleep(0.1)
        again = await shelf.jobs.claim("second", 60)
        assert (again.id, again.attempts) == (job.id, 2)
        assert not await shelf.jobs.renew(job, 60)
        assert await shelf.jobs.claim("third", 60) is None

    with_shelf(test)


def test_a_job_given_back_does_not_count_as_a_try(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await shelf.accept("a.md", "text")
        job = await shelf.jobs.claim("first", 60)
        await shelf.jobs.give_back(job)
        assert (await shelf.jobs.claim("second", 60)).attempts == 1

    with_shelf(test)


def test_asking_again_forgets_tries_that_were_cut_off(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        document_id = await shelf.accept("a.md", "text")
        await shelf.jobs.claim("dies", 0.01)
        await asyncio.sleep(0.05)
        await shelf.jobs.start_over(await shelf.scope(), [document_id])
        assert (await shelf.jobs.claim("lives", 60)).attempts == 1
        await shelf.jobs.start_over(await shelf.scope(), [document_id])
        async with shelf.database.transaction("local") as connection:
            assert await (await connection.execute("select attempts from job")).fetchall() == [(1,)]

    with_shelf(test)


def test_held_documents_wait_until_started(with_shelf: Any) -> None:
    from pincite.core.documents.document import Upload
    from pincite.store.indexing.insert_documents import Schedule

    async def test(shelf: Any) -> None:
        scope = await shelf.scope()
        ids = []
        for name in ("a.md", "b.md"):
            upload = Upload(name, name.encode())
            held, _ = await shelf.intake.accept(
                scope, upload, mime="text/markdown", checksum=name, schedule=Schedule(held=True)
            )
            ids.append(held.id)
        assert await shelf.jobs.claim("w", 60) is None
        assert await shelf.jobs.start(scope, [ids[0]]) == 1
        assert (await shelf.jobs.claim("w", 60)).document_id == ids[0]
        assert await shelf.jobs.start(scope, None) == 1
        assert (await shelf.jobs.claim("w", 60)).document_id == ids[1]

    with_shelf(test)


def test_waiting_counts_what_is_not_done(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope = await shelf.scope()
        document_id = await shelf.accept("a.md", "text")
        assert (await shelf.jobs.waiting(scope, [document_id])).count == 1
        job = await shelf.jobs.claim("w", 60)
        await shelf.jobs.report(job, "embedding", 0.5)
        assert (await shelf.jobs.waiting(scope, [document_id])).progress == 0.5
        await shelf.indexing.fail(job, "broken", "cannot be read")
        assert await shelf.jobs.waiting(scope, [document_id]) is None

    with_shelf(test)


async def said(shelf: Any, query: str) -> list[tuple[Any, ...]]:
    async with shelf.database.transaction("local") as connection:
        return list(await (await connection.execute(query)).fetchall())


async def own(shelf: Any, person: str) -> Any:
    """Another person's scope."""
    import psycopg

    async with await psycopg.AsyncConnection.connect(shelf.database._url, autocommit=True) as admin:
        await admin.execute(
            "insert into pincite.person (id, name, role) values (%(id)s, %(id)s, 'editor')", {"id": person}
        )
        await admin.execute("insert into pincite.realm (owner) values (%s)", (person,))
    return await shelf.library.scope(person)


async def take_in(shelf: Any, scope: Any, name: str, priority: int) -> None:
    from pincite.core.documents.document import Upload
    from pincite.store.indexing.insert_documents import Schedule

    upload, schedule = Upload(name, name.encode()), Schedule(priority=priority)
    await shelf.intake.accept(scope, upload, mime="text/markdown", checksum=name, schedule=schedule)


def test_what_somebody_waits_for_goes_before_a_load_and_owners_take_turns(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        mine, hers = await shelf.scope(), await own(shelf, "ann")
        for n in range(6):
            await take_in(shelf, mine, f"load {n}.md", 1)
        for n in range(2):
            await take_in(shelf, hers, f"hers {n}.md", 1)
        await take_in(shelf, mine, "now.md", 0)
        owners = [(await shelf.jobs.claim("w", 60)).owner for _ in range(6)]
        assert owners[0] == "local"  # what is waited for
        assert owners[1:5] == ["ann", "local", "ann", "local"]  # whoever has least in hand
        assert owners[5] == "local"

    with_shelf(test)


def test_a_clock_set_back_keeps_nothing_from_being_done(with_shelf: Any) -> None:
    """An hour back: leases and pauses that were granted before seem to last an hour longer than they may."""

    async def test(shelf: Any) -> None:
        await shelf.accept("a.md", "dead worker")
        await shelf.accept("b.md", "paused")
        dead, paused = await shelf.jobs.claim("dies", 2), await shelf.jobs.claim("pauses", 60)
        await shelf.jobs.retry(paused, 10)
        await said(
            shelf, "update job set lease_until = lease_until + interval '1 hour' where state = 'running' returning 1"
        )
        await said(
            shelf, "update job set not_before = not_before + interval '1 hour' where state = 'ready' returning 1"
        )
        assert await shelf.jobs.claim("w", 60) is None  # the lease begins again, and so does the pause
        assert (await shelf.jobs.claim("w", 60)).id == paused.id
        async with asyncio.timeout(20):
            while (again := await shelf.jobs.claim("w", 60)) is None:
                await asyncio.sleep(0.1)
        assert (again.id, again.attempts) == (dead.id, 2)
        assert not await shelf.jobs.renew(dead, 60)

    with_shelf(test)


def test_a_living_worker_keeps_its_job_when_the_clock_is_set_back(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await shelf.accept("a.md", "text")
        job = await shelf.jobs.claim("lives", 60)
        await said(shelf, "update job set lease_until = lease_until + interval '1 hour' returning 1")
        assert await shelf.jobs.claim("another", 60) is None
        assert await shelf.jobs.renew(job, 60)
        assert await said(shelf, "select lease_until < now() + interval '61 seconds' from job") == [(True,)]

    with_shelf(test)


def test_waiting_for_a_part_that_is_down_takes_longer_each_time_and_is_no_try(with_shelf: Any) -> None:
    from pincite.errors import ProviderBusy

    async def test(shelf: Any) -> None:
        document_id = await shelf.accept("a.md", "text")
        pauses = []
        for since in (0, 50, 900):
            await said(shelf, "update job set not_before = '-infinity' returning 1")
            job = await shelf.jobs.claim("w", 60)
            assert job.attempts == 1
            await said(shelf, f"update job set stalled_since = now() - interval '{since} seconds' returning 1")
            error = ProviderBusy("no answer")
            pauses.append(await shelf.jobs.stall(job, "waiting", error, patience_s=1000, at_least_s=2))
        assert [round(pause) for pause in pauses] == [2, 50, 300]
        document = await shelf.library.get(await shelf.scope(), document_id)
        assert (document.status, document.stage) == ("pending", "waiting")
        assert await shelf.jobs.claim("w", 60) is None
        await shelf.jobs.wake_stalled()
        job = await shelf.jobs.claim("w", 60)
        await said(shelf, "update job set stalled_since = now() - interval '1 hour' returning 1")
        assert await shelf.jobs.stall(job, "waiting", ProviderBusy("x"), patience_s=1000, at_least_s=2) is None
        assert await shelf.jobs.renew(job, 60)

    with_shelf(test)


def test_nothing_is_processing_without_somebody_alive_who_does_it(with_shelf: Any) -> None:
    from pincite.core.documents.document import Listing

    async def test(shelf: Any) -> None:
        scope, document_id = await shelf.scope(), await shelf.accept("a.md", "text")
        job = await shelf.jobs.claim("w", 60)
        await shelf.jobs.report(job, "embedding", 0.5)
        assert (await shelf.library.get(scope, document_id)).status == "processing"
        await said(shelf, "update job set lease_until = now() - interval '1 second' returning 1")
        assert (await shelf.library.get(scope, document_id)).status == "pending"
        assert (await shelf.library.documents(scope, Listing(status="processing")))[0] == []
        assert len((await shelf.library.documents(scope, Listing(status="pending")))[0]) == 1

    with_shelf(test)
