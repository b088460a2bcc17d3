import asyncio
from typing import Any


def test_a_job_is_with_one_worker_at_a_time(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        for n in range(5):
            await shelf.accept(f"{n}.md", f"text {n}")
        claimed = await asyncio.gather(*(shelf.jobs.claim(f"w{n}", 60) for n in range(8)))
        taken = [job.id for job in claimed if job]
        assert len(taken) == len(set(taken)) == 5

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
    from pincite.core.documents import Upload

    async def test(shelf: Any) -> None:
        scope = await shelf.scope()
        ids = []
        for name in ("a.md", "b.md"):
            upload = Upload(name, name.encode())
            held, _ = await shelf.intake.accept(scope, upload, mime="text/markdown", checksum=name, held=True)
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
