import asyncio
from typing import Any

import psycopg
import pytest

from pincite.core.documents.document import ChunkLevel, Parsed, Status
from pincite.errors import Conflict, NotFound
from pincite.store.database import fetch_one
from pincite.store.indexing import publish as serving
from pincite.store.indexing.chunk_rows import ChunkRow
from pincite.store.indexing.jobs import Capacity
from pincite.store.indexing.publish import ParsedVersion
from tests.builders import chunk


async def rows_left(store: Any) -> int:
    async with store.database.transaction("local") as connection:
        row = await fetch_one(
            connection,
            "select (select count(*) from chunk) + (select count(*) from vector) + (select count(*) from posting)"
            " + (select count(*) from edition)",
        )
    return int(row[0])


def entry(n: int = 0) -> ChunkRow:
    return ChunkRow(chunk(n, f"passage {n}"), "c", {"passag": 1}, b"h%d" % n, [[1.0] + [0.0] * 31])


async def begun(store: Any, name: str = "a.md", text: str = "text") -> tuple[str, Any]:
    document_id = await store.accept(name, text)
    job = await store.jobs.claim("w", 60)
    return document_id, await store.indexing.begin(await store.indexing.target(job))


def test_a_small_document_is_written_and_served_in_one_step_or_not_at_all(with_store: Any) -> None:
    async def test(store: Any) -> None:
        document_id = await store.accept("a.md", "text")
        job = await store.jobs.claim("w", 60)
        target = await store.indexing.target(job)
        broken = ChunkRow(chunk(1, "b"), "c", {"b": 1}, b"h", [[float("nan")] * 32])
        with pytest.raises(psycopg.Error):
            await store.indexing.publish(target, ParsedVersion(Parsed("text", "markdown"), [entry(0), broken]))
        assert await rows_left(store) == 0
        await store.indexing.publish(target, ParsedVersion(Parsed("text", "markdown"), [entry(0), entry(1)]))
        document = await store.library.get(await store.scope(), document_id)
        assert (document.status, document.chunks) == (Status.COMPLETED, 2)
        with pytest.raises(Conflict):
            await store.indexing.publish(target, ParsedVersion(Parsed("text", "markdown"), [entry(0)]))

    with_store(test)


async def published(store: Any, targets: list[Any], found: Any) -> list[Exception | None]:
    return await asyncio.gather(*(store.indexing.publish(t, found(t)) for t in targets), return_exceptions=True)


def test_small_documents_that_are_ready_at_once_are_served_in_one_transaction(with_store: Any) -> None:
    async def test(store: Any) -> None:
        ids = [await store.accept(f"{n}.md", f"text {n}") for n in range(4)]
        jobs = await store.jobs.claim_some("w", 60, Capacity(most=4))
        targets = [await store.indexing.target(job) for job in jobs]
        await store.accept("1.md", "newer text")
        await store.removal.remove(await store.scope(), ids[2])

        def found(target: Any) -> ParsedVersion:
            n = ids.index(target.job.document_id)
            return ParsedVersion(
                Parsed(f"passage {n}", "markdown", title=f"Title {n}", tags=("t",)), [entry(n)], ["a note"] * (n == 3)
            )

        ended = await published(store, targets, found)
        by_id = {target.job.document_id: end for target, end in zip(targets, ended, strict=True)}
        assert [type(by_id[one]) for one in ids] == [type(None), Conflict, Conflict, type(None)]
        assert "newer version" in str(by_id[ids[1]])
        scope = await store.scope()
        served = [await store.library.get(scope, ids[n]) for n in (0, 3)]
        assert [(d.status, d.title, d.tags, d.chunks) for d in served] == [
            (Status.COMPLETED, "Title 0", ("t",), 1),
            (Status.COMPLETED, "Title 3", ("t",), 1),
        ]
        assert [chunk.text for chunk in (await store.library.chunks(scope, ids[3], ChunkLevel.CHUNK))[1]] == [
            "passage 3"
        ]
        async with store.database.transaction("local") as connection:
            moments = await fetch_one(
                connection, "select count(distinct xmin::text) from edition where state = 'served'"
            )
        assert moments == (1,)

    with_store(test)


def test_a_document_that_cannot_be_written_does_not_affect_others(with_store: Any) -> None:
    async def test(store: Any) -> None:
        ids = [await store.accept(f"{n}.md", f"text {n}") for n in range(3)]
        jobs = await store.jobs.claim_some("w", 60, Capacity(most=3))
        targets = [await store.indexing.target(job) for job in jobs]
        broken = ChunkRow(chunk(1, "b"), "c", {"b": 1}, b"h", [[float("nan")] * 32])
        bad = ids[1]

        def found(target: Any) -> ParsedVersion:
            return ParsedVersion(Parsed("text", "markdown"), [broken if target.job.document_id == bad else entry(0)])

        ended = await published(store, targets, found)
        spoilt = {target.job.document_id for target, end in zip(targets, ended, strict=True) if end is not None}
        assert spoilt == {bad}
        scope = await store.scope()
        assert [(await store.library.get(scope, one)).status for one in ids] == ["completed", "pending", "completed"]

    with_store(test)


def test_a_locked_document_does_not_delay_others(with_store: Any) -> None:
    async def test(store: Any) -> None:
        ids = [await store.accept(f"{n}.md", f"text {n}") for n in range(3)]
        jobs = await store.jobs.claim_some("w", 60, Capacity(most=3))
        targets = {job.document_id: await store.indexing.target(job) for job in jobs}

        async def publish(one: str) -> None:
            await store.indexing.publish(targets[one], ParsedVersion(Parsed("text", "markdown"), [entry(0)]))

        async with store.database.transaction("local") as connection:
            await connection.execute("select from document where id = %s for update", (ids[1],))
            going = {one: asyncio.create_task(publish(one)) for one in ids}
            async with asyncio.timeout(10):
                await asyncio.gather(going[ids[0]], going[ids[2]])
            assert not going[ids[1]].done()
        await going[ids[1]]
        scope = await store.scope()
        assert [(await store.library.get(scope, one)).status for one in ids] == ["completed"] * 3

    with_store(test)


def test_chunks_of_another_index_are_retired_when_the_text_changes(with_store: Any) -> None:
    async def test(store: Any) -> None:
        _, edition = await begun(store)
        await store.indexing.serve(edition, ParsedVersion(Parsed("text", "markdown")))
        async with store.database.transaction("local") as connection:
            for _ in range(2):
                await connection.execute(
                    "insert into edition (version, document_id, realm, state, signature)"
                    " select version, document_id, realm, 'ready', 's2' from edition where key = %s",
                    (edition.key,),
                )

        async def ready() -> int:
            async with store.database.transaction("local") as connection:
                return int((await fetch_one(connection, "select count(*) from edition where state = 'ready'"))[0])

        for text, left in (("text", 2), ("text, read otherwise", 0)):
            async with store.database.transaction("local") as connection:
                await serving.publish(
                    connection, {edition: ParsedVersion(Parsed(text, "markdown"))}, store.indexing._index
                )
            assert await ready() == left

    with_store(test)


def test_the_next_attempt_reuses_only_the_vectors_of_an_interrupted_one(with_store: Any) -> None:
    async def test(store: Any) -> None:
        document_id, first = await begun(store)
        await store.indexing.write(first, [entry(0), entry(1)])
        again = await store.indexing.begin(await store.indexing.target(first.job))
        assert set(await store.indexing.known_vectors("local", [b"h0", b"h1"])) == {b"h0", b"h1"}
        await store.indexing.write(again, [entry(0)])
        await store.indexing.serve(again, ParsedVersion(Parsed("text", "markdown")))
        assert (await store.library.get(await store.scope(), document_id)).chunks == 1
        assert await store.indexing.clear_abandoned() == 1
        assert await rows_left(store) == 4

    with_store(test)


def test_a_worker_that_lost_its_job_cannot_write(with_store: Any) -> None:
    async def test(store: Any) -> None:
        document_id = await store.accept("a.md", "text")
        slow = await store.jobs.claim("slow", 0.01)
        edition = await store.indexing.begin(await store.indexing.target(slow))
        await store.indexing.write(edition, [entry(0)])
        await asyncio.sleep(0.05)
        quick = await store.jobs.claim("slow", 60)  # the same worker, but another claim
        parsed = Parsed("text", "markdown")
        target = await store.indexing.target(slow)
        for act in (
            lambda: store.indexing.begin(target),
            lambda: store.indexing.write(edition, [entry(1)]),
            lambda: store.indexing.serve(edition, ParsedVersion(parsed)),
            lambda: store.indexing.fail(slow, "x", "y"),
            lambda: store.indexing.drop(slow),
        ):
            with pytest.raises(Conflict):
                await act()
        await store.jobs.report(slow, "lost", 0.9)
        await store.jobs.retry(slow, 0)
        await store.jobs.give_back(slow)
        assert (await store.library.get(await store.scope(), document_id)).stage != "lost"
        mine = await store.indexing.begin(await store.indexing.target(quick))
        await store.indexing.write(mine, [entry(0)])
        await store.indexing.serve(mine, ParsedVersion(parsed))
        assert (await store.library.get(await store.scope(), document_id)).chunks == 1

    with_store(test)


def test_a_job_of_a_replaced_version_leaves_nothing(with_store: Any) -> None:
    async def test(store: Any) -> None:
        document_id, edition = await begun(store)
        await store.indexing.write(edition, [entry(0)])
        await store.accept("a.md", "newer")
        await store.indexing.drop(edition.job)
        assert await rows_left(store) == 0
        states = [version.status for version in await store.library.versions(await store.scope(), document_id)]
        assert states == [Status.PENDING, Status.ERROR]

    with_store(test)


def test_a_removal_during_any_step_of_indexing_has_no_conflict(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope = await store.scope()
        for n in range(30):
            document_id = await store.accept(f"{n}.md", f"text {n}")
            job = await store.jobs.claim("w", 60)
            target = await store.indexing.target(job)
            edition = await store.indexing.begin(target)
            steps = [
                store.indexing.begin(target),
                store.indexing.write(edition, [entry(0)]),
                store.indexing.fail(job, "x", "y")
                if n % 2
                else store.indexing.serve(edition, ParsedVersion(Parsed("t", "markdown"))),
                store.indexing.clear_abandoned(),
            ]
            done = await asyncio.gather(store.removal.remove(scope, document_id), *steps, return_exceptions=True)
            assert done[0].verified
            assert {type(outcome) for outcome in done[1:] if isinstance(outcome, Exception)} <= {Conflict}
        await store.indexing.clear_abandoned()
        assert await rows_left(store) == 0

    with_store(test)


def test_a_document_removed_while_it_is_written_leaves_nothing(with_store: Any) -> None:
    async def test(store: Any) -> None:
        document_id, edition = await begun(store)
        await store.indexing.write(edition, [entry(0)])
        await store.removal.remove(await store.scope(), document_id)
        with pytest.raises(Conflict):
            await store.indexing.write(edition, [entry(1)])
        with pytest.raises(Conflict):
            await store.indexing.serve(edition, ParsedVersion(Parsed("text", "markdown")))
        with pytest.raises(Conflict):
            await store.indexing.target(edition.job)
        assert await rows_left(store) == 0

    with_store(test)


def test_writes_concurrent_with_a_removal_leave_no_rows(with_store: Any) -> None:
    async def test(store: Any) -> None:
        for n in range(20):
            document_id, edition = await begun(store, f"{n}.md", f"text {n}")
            writes = [store.indexing.write(edition, [entry(k)]) for k in range(3)]
            await asyncio.gather(
                store.removal.remove(await store.scope(), document_id), *writes, return_exceptions=True
            )
        assert await rows_left(store) == 0

    with_store(test)


def test_after_a_failure_the_previous_edition_stays_searched(with_store: Any) -> None:
    async def test(store: Any) -> None:
        document_id = await store.put("a.md", "old words")
        _, edition = await begun(store, "a.md", "new bytes")
        await store.indexing.write(edition, [entry(0)])
        await store.indexing.fail(edition.job, "broken", "it is broken")
        document = await store.library.get(await store.scope(), document_id)
        assert (document.status, document.error.code, document.chunks) == (Status.ERROR, "broken", 1)
        assert (await store.library.text(await store.scope(), document_id)).text == "old words"
        with pytest.raises(NotFound):
            await store.library.text(await store.scope(), document_id, document.version)

    with_store(test)


def test_equal_text_is_known_window_by_window(with_store: Any) -> None:
    async def test(store: Any) -> None:
        _, edition = await begun(store)
        two = ChunkRow(chunk(0), "c", {"a": 1}, b"hash", [[1.0] + [0.0] * 31, [0.0, 1.0] + [0.0] * 30])
        await store.indexing.write(edition, [two])
        known = await store.indexing.known_vectors("local", [b"hash", b"other"])
        assert list(known) == [b"hash"]
        assert [vector.index(1.0) for vector in known[b"hash"]] == [0, 1]
        assert await store.indexing.known_vectors("stranger", [b"hash"]) == {}

    with_store(test)


def test_a_replaced_version_is_not_published(with_store: Any) -> None:
    async def test(store: Any) -> None:
        _, edition = await begun(store)
        await store.accept("a.md", "newer")
        with pytest.raises(Conflict):
            await store.indexing.serve(edition, ParsedVersion(Parsed("text", "markdown")))
        assert (await store.indexing.target(edition.job)).outdated
        await store.indexing.drop(edition.job)

    with_store(test)
