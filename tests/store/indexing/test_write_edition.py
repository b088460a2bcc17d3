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


async def rows_left(shelf: Any) -> int:
    async with shelf.database.transaction("local") as connection:
        row = await fetch_one(
            connection,
            "select (select count(*) from chunk) + (select count(*) from vector) + (select count(*) from posting)"
            " + (select count(*) from edition)",
        )
    return int(row[0])


def entry(n: int = 0) -> ChunkRow:
    return ChunkRow(chunk(n, f"passage {n}"), "c", {"passag": 1}, b"h%d" % n, [[1.0] + [0.0] * 31])


async def begun(shelf: Any, name: str = "a.md", text: str = "text") -> tuple[str, Any]:
    document_id = await shelf.accept(name, text)
    job = await shelf.jobs.claim("w", 60)
    return document_id, await shelf.indexing.begin(await shelf.indexing.target(job))


def test_a_small_document_is_written_and_served_in_one_step_or_not_at_all(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        document_id = await shelf.accept("a.md", "text")
        job = await shelf.jobs.claim("w", 60)
        target = await shelf.indexing.target(job)
        broken = ChunkRow(chunk(1, "b"), "c", {"b": 1}, b"h", [[float("nan")] * 32])
        with pytest.raises(psycopg.Error):
            await shelf.indexing.publish(target, ParsedVersion(Parsed("text", "markdown"), [entry(0), broken]))
        assert await rows_left(shelf) == 0
        await shelf.indexing.publish(target, ParsedVersion(Parsed("text", "markdown"), [entry(0), entry(1)]))
        document = await shelf.library.get(await shelf.scope(), document_id)
        assert (document.status, document.chunks) == (Status.COMPLETED, 2)
        with pytest.raises(Conflict):
            await shelf.indexing.publish(target, ParsedVersion(Parsed("text", "markdown"), [entry(0)]))

    with_shelf(test)


async def published(shelf: Any, targets: list[Any], found: Any) -> list[Exception | None]:
    return await asyncio.gather(*(shelf.indexing.publish(t, found(t)) for t in targets), return_exceptions=True)


def test_small_documents_that_are_ready_at_once_are_served_in_one_transaction(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        ids = [await shelf.accept(f"{n}.md", f"text {n}") for n in range(4)]
        jobs = await shelf.jobs.claim_some("w", 60, Capacity(most=4))
        targets = [await shelf.indexing.target(job) for job in jobs]
        await shelf.accept("1.md", "newer text")
        await shelf.removal.remove(await shelf.scope(), ids[2])

        def found(target: Any) -> ParsedVersion:
            n = ids.index(target.job.document_id)
            return ParsedVersion(
                Parsed(f"passage {n}", "markdown", title=f"Title {n}", tags=("t",)), [entry(n)], ["a note"] * (n == 3)
            )

        ended = await published(shelf, targets, found)
        by_id = {target.job.document_id: end for target, end in zip(targets, ended, strict=True)}
        assert [type(by_id[one]) for one in ids] == [type(None), Conflict, Conflict, type(None)]
        assert "newer version" in str(by_id[ids[1]])
        scope = await shelf.scope()
        served = [await shelf.library.get(scope, ids[n]) for n in (0, 3)]
        assert [(d.status, d.title, d.tags, d.chunks) for d in served] == [
            (Status.COMPLETED, "Title 0", ("t",), 1), (Status.COMPLETED, "Title 3", ("t",), 1)
        ]  # fmt: skip
        assert [chunk.text for chunk in (await shelf.library.chunks(scope, ids[3], ChunkLevel.CHUNK))[1]] == [
            "passage 3"
        ]
        async with shelf.database.transaction("local") as connection:
            moments = await fetch_one(
                connection, "select count(distinct xmin::text) from edition where state = 'served'"
            )
        assert moments == (1,)

    with_shelf(test)


def test_one_document_that_cannot_be_written_does_not_spoil_it_for_those_beside_it(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        ids = [await shelf.accept(f"{n}.md", f"text {n}") for n in range(3)]
        jobs = await shelf.jobs.claim_some("w", 60, Capacity(most=3))
        targets = [await shelf.indexing.target(job) for job in jobs]
        broken = ChunkRow(chunk(1, "b"), "c", {"b": 1}, b"h", [[float("nan")] * 32])
        bad = ids[1]

        def found(target: Any) -> ParsedVersion:
            return ParsedVersion(Parsed("text", "markdown"), [broken if target.job.document_id == bad else entry(0)])

        ended = await published(shelf, targets, found)
        spoilt = {target.job.document_id for target, end in zip(targets, ended, strict=True) if end is not None}
        assert spoilt == {bad}
        scope = await shelf.scope()
        assert [(await shelf.library.get(scope, one)).status for one in ids] == ["completed", "pending", "completed"]

    with_shelf(test)


def test_a_document_somebody_has_locked_is_waited_for_by_nobody_else(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        ids = [await shelf.accept(f"{n}.md", f"text {n}") for n in range(3)]
        jobs = await shelf.jobs.claim_some("w", 60, Capacity(most=3))
        targets = {job.document_id: await shelf.indexing.target(job) for job in jobs}

        async def publish(one: str) -> None:
            await shelf.indexing.publish(targets[one], ParsedVersion(Parsed("text", "markdown"), [entry(0)]))

        async with shelf.database.transaction("local") as connection:
            await connection.execute("select from document where id = %s for update", (ids[1],))
            going = {one: asyncio.create_task(publish(one)) for one in ids}
            async with asyncio.timeout(10):
                await asyncio.gather(going[ids[0]], going[ids[2]])
            assert not going[ids[1]].done()
        await going[ids[1]]
        scope = await shelf.scope()
        assert [(await shelf.library.get(scope, one)).status for one in ids] == ["completed"] * 3

    with_shelf(test)


def test_passages_of_another_index_go_with_the_text_they_stand_in(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        _, edition = await begun(shelf)
        await shelf.indexing.serve(edition, ParsedVersion(Parsed("text", "markdown")))
        async with shelf.database.transaction("local") as connection:
            for _ in range(2):
                await connection.execute(
                    "insert into edition (version, document_id, realm, state, signature)"
                    " select version, document_id, realm, 'ready', 's2' from edition where key = %s",
                    (edition.key,),
                )

        async def ready() -> int:
            async with shelf.database.transaction("local") as connection:
                return int((await fetch_one(connection, "select count(*) from edition where state = 'ready'"))[0])

        for text, left in (("text", 2), ("text, read otherwise", 0)):
            async with shelf.database.transaction("local") as connection:
                await serving.publish(
                    connection, {edition: ParsedVersion(Parsed(text, "markdown"))}, shelf.indexing._index
                )
            assert await ready() == left

    with_shelf(test)


def test_an_interrupted_try_leaves_its_vectors_and_nothing_else_for_the_next(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        document_id, first = await begun(shelf)
        await shelf.indexing.write(first, [entry(0), entry(1)])
        again = await shelf.indexing.begin(await shelf.indexing.target(first.job))
        assert set(await shelf.indexing.known_vectors("local", [b"h0", b"h1"])) == {b"h0", b"h1"}
        await shelf.indexing.write(again, [entry(0)])
        await shelf.indexing.serve(again, ParsedVersion(Parsed("text", "markdown")))
        assert (await shelf.library.get(await shelf.scope(), document_id)).chunks == 1
        assert await shelf.indexing.clear_abandoned() == 1
        assert await rows_left(shelf) == 4

    with_shelf(test)


def test_a_worker_whose_job_was_given_to_another_can_do_nothing(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        document_id = await shelf.accept("a.md", "text")
        slow = await shelf.jobs.claim("slow", 0.01)
        edition = await shelf.indexing.begin(await shelf.indexing.target(slow))
        await shelf.indexing.write(edition, [entry(0)])
        await asyncio.sleep(0.05)
        quick = await shelf.jobs.claim("slow", 60)  # the same worker, but another claim
        parsed = Parsed("text", "markdown")
        target = await shelf.indexing.target(slow)
        for act in (
            lambda: shelf.indexing.begin(target),
            lambda: shelf.indexing.write(edition, [entry(1)]),
            lambda: shelf.indexing.serve(edition, ParsedVersion(parsed)),
            lambda: shelf.indexing.fail(slow, "x", "y"),
            lambda: shelf.indexing.drop(slow),
        ):
            with pytest.raises(Conflict):
                await act()
        await shelf.jobs.report(slow, "lost", 0.9)
        await shelf.jobs.retry(slow, 0)
        await shelf.jobs.give_back(slow)
        assert (await shelf.library.get(await shelf.scope(), document_id)).stage != "lost"
        mine = await shelf.indexing.begin(await shelf.indexing.target(quick))
        await shelf.indexing.write(mine, [entry(0)])
        await shelf.indexing.serve(mine, ParsedVersion(parsed))
        assert (await shelf.library.get(await shelf.scope(), document_id)).chunks == 1

    with_shelf(test)


def test_an_overtaken_job_leaves_nothing_behind(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        document_id, edition = await begun(shelf)
        await shelf.indexing.write(edition, [entry(0)])
        await shelf.accept("a.md", "newer")
        await shelf.indexing.drop(edition.job)
        assert await rows_left(shelf) == 0
        states = [version.status for version in await shelf.library.versions(await shelf.scope(), document_id)]
        assert states == [Status.PENDING, Status.ERROR]

    with_shelf(test)


def test_removing_during_any_step_clashes_with_none(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope = await shelf.scope()
        for n in range(30):
            document_id = await shelf.accept(f"{n}.md", f"text {n}")
            job = await shelf.jobs.claim("w", 60)
            target = await shelf.indexing.target(job)
            edition = await shelf.indexing.begin(target)
            steps = [
                shelf.indexing.begin(target),
                shelf.indexing.write(edition, [entry(0)]),
                shelf.indexing.fail(job, "x", "y")
                if n % 2
                else shelf.indexing.serve(edition, ParsedVersion(Parsed("t", "markdown"))),
                shelf.indexing.clear_abandoned(),
            ]
            done = await asyncio.gather(shelf.removal.remove(scope, document_id), *steps, return_exceptions=True)
            assert done[0].verified
            assert {type(outcome) for outcome in done[1:] if isinstance(outcome, Exception)} <= {Conflict}
        await shelf.indexing.clear_abandoned()
        assert await rows_left(shelf) == 0

    with_shelf(test)


def test_a_document_removed_while_written_takes_everything_along(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        document_id, edition = await begun(shelf)
        await shelf.indexing.write(edition, [entry(0)])
        await shelf.removal.remove(await shelf.scope(), document_id)
        with pytest.raises(Conflict):
            await shelf.indexing.write(edition, [entry(1)])
        with pytest.raises(Conflict):
            await shelf.indexing.serve(edition, ParsedVersion(Parsed("text", "markdown")))
        with pytest.raises(Conflict):
            await shelf.indexing.target(edition.job)
        assert await rows_left(shelf) == 0

    with_shelf(test)


def test_removing_and_writing_at_the_same_moment(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        for n in range(20):
            document_id, edition = await begun(shelf, f"{n}.md", f"text {n}")
            writes = [shelf.indexing.write(edition, [entry(k)]) for k in range(3)]
            await asyncio.gather(
                shelf.removal.remove(await shelf.scope(), document_id), *writes, return_exceptions=True
            )
        assert await rows_left(shelf) == 0

    with_shelf(test)


def test_a_failure_keeps_what_was_served(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        document_id = await shelf.put("a.md", "old words")
        _, edition = await begun(shelf, "a.md", "new bytes")
        await shelf.indexing.write(edition, [entry(0)])
        await shelf.indexing.fail(edition.job, "broken", "it is broken")
        document = await shelf.library.get(await shelf.scope(), document_id)
        assert (document.status, document.error.code, document.chunks) == (Status.ERROR, "broken", 1)
        assert (await shelf.library.text(await shelf.scope(), document_id)).text == "old words"
        with pytest.raises(NotFound):
            await shelf.library.text(await shelf.scope(), document_id, document.version)

    with_shelf(test)


def test_equal_text_is_known_window_by_window(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        _, edition = await begun(shelf)
        two = ChunkRow(chunk(0), "c", {"a": 1}, b"hash", [[1.0] + [0.0] * 31, [0.0, 1.0] + [0.0] * 30])
        await shelf.indexing.write(edition, [two])
        known = await shelf.indexing.known_vectors("local", [b"hash", b"other"])
        assert list(known) == [b"hash"]
        assert [vector.index(1.0) for vector in known[b"hash"]] == [0, 1]
        assert await shelf.indexing.known_vectors("stranger", [b"hash"]) == {}

    with_shelf(test)


def test_an_overtaken_version_is_not_served(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        _, edition = await begun(shelf)
        await shelf.accept("a.md", "newer")
        with pytest.raises(Conflict):
            await shelf.indexing.serve(edition, ParsedVersion(Parsed("text", "markdown")))
        assert (await shelf.indexing.target(edition.job)).outdated
        await shelf.indexing.drop(edition.job)

    with_shelf(test)
