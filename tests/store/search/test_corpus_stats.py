from typing import Any

from pincite.core.query.question import Filters
from pincite.store.search.corpus_stats import CorpusStatsCache

ALL = Filters()


def test_statistics_count_the_admitted_documents_and_their_languages(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope, cache = await store.scope(), CorpusStatsCache()
        nothing = await cache.compute(store.database, scope, ALL)
        assert (nothing.chunks, nothing.words, nothing.vectors, nothing.languages) == (0, 0, 0, ())
        await store.put("a.md", "one two three", "four", folder="in")
        await store.put("b.md", "eins zwei", language="de")
        whole = await cache.compute(store.database, scope, ALL)
        assert (whole.chunks, whole.words, whole.vectors, whole.languages) == (3, 6, 3, ("de", "en"))
        part = await cache.compute(store.database, scope, Filters(folder="in"))
        assert (part.chunks, part.words, part.languages, part.narrowed) == (2, 4, ("en",), True)

    with_store(test)


def test_whatever_changes_the_documents_raises_the_revision(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope, cache = await store.scope(), CorpusStatsCache()

        async def revision() -> int:
            return (await cache.compute(store.database, scope, ALL)).revision

        seen = [await revision()]
        first = await store.put("a.md", "one")
        seen.append(await revision())
        await store.put("a.md", "one, changed")
        seen.append(await revision())
        await store.removal.remove(scope, first)
        seen.append(await revision())
        await store.indexing.clear_abandoned()
        assert seen == sorted(set(seen))
        assert await revision() == seen[-1]

    with_store(test)


def test_only_unfiltered_statistics_are_cached_per_scope(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope, cache = await store.scope(), CorpusStatsCache()
        await store.put("a.md", "one", folder="in")
        assert cache.cached(scope, ALL) is None
        await cache.compute(store.database, scope, Filters(folder="in"))
        assert cache.cached(scope, ALL) is None
        made = await cache.compute(store.database, scope, ALL)
        assert cache.cached(scope, ALL) == await cache.recent(store.database, scope, ALL) == made
        assert cache.cached(scope, Filters(folder="in")) is None
        assert cache.cached(type(scope)("somebody", scope.realms), ALL) is None

    with_store(test)


def test_lexical_search_never_scores_by_outdated_statistics(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope = await store.scope()
        assert await store.index.lexical("houses", scope=scope, filters=ALL, limit=5) == []
        document = await store.put("a.md", "many houses")
        assert len(await store.index.lexical("houses", scope=scope, filters=ALL, limit=5)) == 1
        await store.put("b.md", "viele Häuser und eine Wohnung", language="de")  # a new language
        assert len(await store.index.lexical("Wohnungen", scope=scope, filters=ALL, limit=5)) == 1
        await store.removal.remove(scope, document)
        assert await store.index.lexical("houses", scope=scope, filters=ALL, limit=5) == []

    with_store(test)
