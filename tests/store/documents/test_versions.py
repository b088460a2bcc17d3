from datetime import UTC, datetime, timedelta
from typing import Any

from pincite.core.query.question import Filters
from pincite.store.documents.versions import VersionArchive

ROWS = "select (select count(*) from pincite.{0}), (select count(*) from pincite.past_{0})"


async def now(shelf: Any) -> datetime:
    [[(moment,)]] = await shelf.database.run_batch("", "select clock_timestamp()", values={})
    return moment


async def found(shelf: Any, text: str, **filters: Any) -> tuple[list[str], list[str]]:
    """The texts found by words and by meaning, best first."""
    scope, chosen = await shelf.scope(), Filters(**filters)
    vector = await shelf.vector(text)
    by_words = await shelf.index.lexical(text, scope=scope, filters=chosen, limit=10)
    by_meaning = await shelf.index.dense(vector, scope=scope, filters=chosen, limit=10)
    keys = [match.key for match in (*by_words, *by_meaning)]
    chunks = (await shelf.index.fetch(keys, [vector], scope=scope, filters=chosen)).chunks
    return [chunks[m.key].text for m in by_words], [chunks[m.key].text for m in by_meaning]


async def sizes(shelf: Any, table: str) -> tuple[int, int]:
    async with shelf.database.transaction("local") as connection:
        cursor = await connection.execute(ROWS.format(table))
        row = await cursor.fetchone()
    return row[0], row[1]


def test_a_search_of_another_time_finds_the_version_of_then_and_no_other(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        before = await now(shelf)
        await shelf.put("a.md", "The valve opens at ten bar.")
        first = await now(shelf)
        await shelf.put("a.md", "The valve opens at twenty bar.")
        await shelf.put("b.md", "A later valve.")
        second = await now(shelf)
        for tidied in (False, True):
            words, meaning = await found(shelf, "valve opens", as_of=first)
            assert words == meaning == ["The valve opens at ten bar."], tidied
            assert (await found(shelf, "valve opens", as_of=before)) == ([], [])
            for filters in ({}, {"as_of": second}, {"as_of": datetime.now(UTC) + timedelta(days=1)}):
                words, meaning = await found(shelf, "valve opens", **filters)
                assert words[0] == "The valve opens at twenty bar."
                assert set(words) == set(meaning) == {"The valve opens at twenty bar.", "A later valve."}
            await shelf.indexing.clear_abandoned()
        assert await found(shelf, "valve", as_of=first, folder="other") == ([], [])

    with_shelf(test)


def test_words_and_vectors_of_earlier_versions_lie_apart_from_what_is_searched(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await shelf.put("a.md", "one two three")
        plain = await sizes(shelf, "posting"), await sizes(shelf, "vector")
        await shelf.put("a.md", "one two four")
        assert await shelf.indexing.clear_abandoned() == 1
        assert await shelf.indexing.clear_abandoned() == 0
        assert await sizes(shelf, "posting") == (plain[0][0], plain[0][0])
        assert await sizes(shelf, "vector") == (plain[1][0], plain[1][0])

    with_shelf(test)


def test_an_earlier_version_weighs_words_by_what_there_was_then(with_shelf: Any) -> None:
    """The scores of another time are those that a search at that time had."""

    async def test(shelf: Any) -> None:
        scope = await shelf.scope()
        for number in range(5):
            await shelf.put(f"{number}.md", f"alpha beta gamma{number} " * (number + 1))
        then = await now(shelf)
        expected = await shelf.index.lexical("beta gamma1", scope=scope, filters=Filters(), limit=10)
        for number in range(5):
            await shelf.put(f"{number}.md", f"delta epsilon{number} beta")
        await shelf.indexing.clear_abandoned()
        again = await shelf.index.lexical("beta gamma1", scope=scope, filters=Filters(as_of=then), limit=10)
        assert [(m.key, round(m.score, 9)) for m in again] == [(m.key, round(m.score, 9)) for m in expected]

    with_shelf(test)


def test_versions_beyond_what_is_kept_go_with_all_that_was_made_of_them(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        for number in range(4):
            await shelf.put("a.md", f"state {number} of things")
        other = await shelf.put("b.md", "only one")
        document = (
            await shelf.library.get_many(await shelf.scope(), [await shelf.accept("a.md", "state 3 of things")])
        )[0]
        await shelf.indexing.clear_abandoned()
        history = VersionArchive(shelf.database, shelf.files)
        assert await history.remove_old(keep=0, days=0) == 0
        assert await history.remove_old(keep=0, days=1) == 0
        gone = (await shelf.library.versions(await shelf.scope(), document.id))[2:]
        assert await history.remove_old(keep=2, days=0) == 2
        left = await shelf.library.versions(await shelf.scope(), document.id)
        assert (len(left), len(await shelf.library.versions(await shelf.scope(), other))) == (2, 1)
        assert not any(shelf.files.path(document.id, version.id).exists() for version in gone)
        assert (await sizes(shelf, "vector"))[1] == 1

    with_shelf(test)


def test_what_was_replaced_long_ago_goes_by_its_age(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        document = await shelf.put("a.md", "first")
        await shelf.put("a.md", "second")
        await shelf.put("a.md", "third")
        async with shelf.database.transaction("local") as connection:
            await connection.execute(
                "update version set created_at = created_at - interval '10 days' where id <= (select max(id) from version where document_id = %s and key < (select max(key) from version))",
                (document,),
            )
        assert await VersionArchive(shelf.database, shelf.files).remove_old(keep=0, days=5) == 1
        assert len(await shelf.library.versions(await shelf.scope(), document)) == 2

    with_shelf(test)


def test_removing_a_document_leaves_nothing_of_its_earlier_versions(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        document = await shelf.put("a.md", "secret plan one")
        then = await now(shelf)
        await shelf.put("a.md", "secret plan two")
        await shelf.indexing.clear_abandoned()
        receipt = await shelf.removal.remove(await shelf.scope(), document)
        assert (receipt.versions, receipt.verified) == (2, True)
        assert await found(shelf, "secret plan", as_of=then) == ([], [])
        assert await sizes(shelf, "posting") == await sizes(shelf, "vector") == (0, 0)

    with_shelf(test)
