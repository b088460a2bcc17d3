from datetime import UTC, datetime, timedelta
from typing import Any

from pincite.core.query.question import Filters
from pincite.store.documents.versions import VersionArchive

ROWS = "select (select count(*) from pincite.{0}), (select count(*) from pincite.past_{0})"


async def now(store: Any) -> datetime:
    [[(moment,)]] = await store.database.run_batch("", "select clock_timestamp()", values={})
    return moment


async def found(store: Any, text: str, **filters: Any) -> tuple[list[str], list[str]]:
    """Return the texts found by lexical and by dense search, best first."""
    scope, chosen = await store.scope(), Filters(**filters)
    vector = await store.vector(text)
    by_words = await store.index.lexical(text, scope=scope, filters=chosen, limit=10)
    by_meaning = await store.index.dense(vector, scope=scope, filters=chosen, limit=10)
    keys = [match.key for match in (*by_words, *by_meaning)]
    chunks = (await store.index.fetch(keys, [vector], scope=scope, filters=chosen)).chunks
    return [chunks[m.key].text for m in by_words], [chunks[m.key].text for m in by_meaning]


async def sizes(store: Any, table: str) -> tuple[int, int]:
    async with store.database.transaction("local") as connection:
        cursor = await connection.execute(ROWS.format(table))
        row = await cursor.fetchone()
    return row[0], row[1]


def test_a_search_as_of_a_time_finds_only_the_version_of_that_time(with_store: Any) -> None:
    async def test(store: Any) -> None:
        before = await now(store)
        await store.put("a.md", "The valve opens at ten bar.")
        first = await now(store)
        await store.put("a.md", "The valve opens at twenty bar.")
        await store.put("b.md", "A later valve.")
        second = await now(store)
        for tidied in (False, True):
            words, meaning = await found(store, "valve opens", as_of=first)
            assert words == meaning == ["The valve opens at ten bar."], tidied
            assert (await found(store, "valve opens", as_of=before)) == ([], [])
            for filters in ({}, {"as_of": second}, {"as_of": datetime.now(UTC) + timedelta(days=1)}):
                words, meaning = await found(store, "valve opens", **filters)
                assert words[0] == "The valve opens at twenty bar."
                assert set(words) == set(meaning) == {"The valve opens at twenty bar.", "A later valve."}
            await store.indexing.clear_abandoned()
        assert await found(store, "valve", as_of=first, folder="other") == ([], [])

    with_store(test)


def test_earlier_versions_are_in_separate_tables(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await store.put("a.md", "one two three")
        plain = await sizes(store, "posting"), await sizes(store, "vector")
        await store.put("a.md", "one two four")
        assert await store.indexing.clear_abandoned() == 1
        assert await store.indexing.clear_abandoned() == 0
        assert await sizes(store, "posting") == (plain[0][0], plain[0][0])
        assert await sizes(store, "vector") == (plain[1][0], plain[1][0])

    with_store(test)


def test_a_search_as_of_a_time_uses_the_statistics_of_that_time(with_store: Any) -> None:
    """A search as of a time has the scores that a search at that time had."""

    async def test(store: Any) -> None:
        scope = await store.scope()
        for number in range(5):
            await store.put(f"{number}.md", f"alpha beta gamma{number} " * (number + 1))
        then = await now(store)
        expected = await store.index.lexical("beta gamma1", scope=scope, filters=Filters(), limit=10)
        for number in range(5):
            await store.put(f"{number}.md", f"delta epsilon{number} beta")
        await store.indexing.clear_abandoned()
        again = await store.index.lexical("beta gamma1", scope=scope, filters=Filters(as_of=then), limit=10)
        assert [(m.key, round(m.score, 9)) for m in again] == [(m.key, round(m.score, 9)) for m in expected]

    with_store(test)


def test_versions_beyond_the_limit_are_removed_with_their_editions(with_store: Any) -> None:
    async def test(store: Any) -> None:
        for number in range(4):
            await store.put("a.md", f"state {number} of things")
        other = await store.put("b.md", "only one")
        document = (
            await store.library.get_many(await store.scope(), [await store.accept("a.md", "state 3 of things")])
        )[0]
        await store.indexing.clear_abandoned()
        history = VersionArchive(store.database, store.files)
        assert await history.remove_old(keep=0, days=0) == 0
        assert await history.remove_old(keep=0, days=1) == 0
        gone = (await store.library.versions(await store.scope(), document.id))[2:]
        assert await history.remove_old(keep=2, days=0) == 2
        left = await store.library.versions(await store.scope(), document.id)
        assert (len(left), len(await store.library.versions(await store.scope(), other))) == (2, 1)
        assert not any(store.files.path(document.id, version.id).exists() for version in gone)
        assert (await sizes(store, "vector"))[1] == 1

    with_store(test)


def test_versions_replaced_long_ago_are_removed_by_age(with_store: Any) -> None:
    async def test(store: Any) -> None:
        document = await store.put("a.md", "first")
        await store.put("a.md", "second")
        await store.put("a.md", "third")
        async with store.database.transaction("local") as connection:
            await connection.execute(
                "update version set created_at = created_at - interval '10 days' where id <= (select max(id)"
                " from version where document_id = %s and key < (select max(key) from version))",
                (document,),
            )
        assert await VersionArchive(store.database, store.files).remove_old(keep=0, days=5) == 1
        assert len(await store.library.versions(await store.scope(), document)) == 2

    with_store(test)


def test_removing_a_document_leaves_nothing_of_its_earlier_versions(with_store: Any) -> None:
    async def test(store: Any) -> None:
        document = await store.put("a.md", "secret plan one")
        then = await now(store)
        await store.put("a.md", "secret plan two")
        await store.indexing.clear_abandoned()
        receipt = await store.removal.remove(await store.scope(), document)
        assert (receipt.versions, receipt.verified) == (2, True)
        assert await found(store, "secret plan", as_of=then) == ([], [])
        assert await sizes(store, "posting") == await sizes(store, "vector") == (0, 0)

    with_store(test)
