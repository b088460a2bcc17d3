from typing import Any

from pincite.core.query.question import Filters
from pincite.store.search.corpus_stats import CorpusStatsCache

ALL = Filters()


def test_a_survey_counts_what_is_admitted_and_its_languages(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope, cache = await shelf.scope(), CorpusStatsCache()
        nothing = await cache.compute(shelf.database, scope, ALL)
        assert (nothing.chunks, nothing.words, nothing.vectors, nothing.languages) == (0, 0, 0, ())
        await shelf.put("a.md", "one two three", "four", folder="in")
        await shelf.put("b.md", "eins zwei", language="de")
        whole = await cache.compute(shelf.database, scope, ALL)
        assert (whole.chunks, whole.words, whole.vectors, whole.languages) == (3, 6, 3, ("de", "en"))
        part = await cache.compute(shelf.database, scope, Filters(folder="in"))
        assert (part.chunks, part.words, part.languages, part.narrowed) == (2, 4, ("en",), True)

    with_shelf(test)


def test_whatever_changes_the_documents_raises_the_revision(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope, cache = await shelf.scope(), CorpusStatsCache()

        async def revision() -> int:
            return (await cache.compute(shelf.database, scope, ALL)).revision

        seen = [await revision()]
        first = await shelf.put("a.md", "one")
        seen.append(await revision())
        await shelf.put("a.md", "one, changed")
        seen.append(await revision())
        await shelf.removal.remove(scope, first)
        seen.append(await revision())
        await shelf.indexing.clear_abandoned()
        assert seen == sorted(set(seen))
        assert await revision() == seen[-1]

    with_shelf(test)


def test_only_whole_libraries_are_remembered_each_for_its_own_scope(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope, cache = await shelf.scope(), CorpusStatsCache()
        await shelf.put("a.md", "one", folder="in")
        assert cache.cached(scope, ALL) is None
        await cache.compute(shelf.database, scope, Filters(folder="in"))
        assert cache.cached(scope, ALL) is None
        made = await cache.compute(shelf.database, scope, ALL)
        assert cache.cached(scope, ALL) == await cache.recent(shelf.database, scope, ALL) == made
        assert cache.cached(scope, Filters(folder="in")) is None
        assert cache.cached(type(scope)("somebody", scope.realms), ALL) is None

    with_shelf(test)


def test_a_search_by_words_never_scores_by_what_is_remembered_of_yesterday(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope = await shelf.scope()
        assert await shelf.index.lexical("houses", scope=scope, filters=ALL, limit=5) == []
        document = await shelf.put("a.md", "many houses")
        assert len(await shelf.index.lexical("houses", scope=scope, filters=ALL, limit=5)) == 1
        await shelf.put("b.md", "viele Häuser und eine Wohnung", language="de")  # a language not seen before
        assert len(await shelf.index.lexical("Wohnungen", scope=scope, filters=ALL, limit=5)) == 1
        await shelf.removal.remove(scope, document)
        assert await shelf.index.lexical("houses", scope=scope, filters=ALL, limit=5) == []

    with_shelf(test)
