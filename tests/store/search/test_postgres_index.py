import math
import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from pincite.config.branches.retrieval import Rag
from pincite.core.accounts.access import Scope
from pincite.core.protocols import Match
from pincite.core.query.question import Filters
from pincite.store.access.permissions import Permissions
from pincite.store.access.users import Users
from pincite.store.search.corpus_stats import CorpusStats
from pincite.store.search.postgres_index import (
    MAX_DOCUMENTS_PER_NAME,
    MAX_ROWS_PER_CHUNK,
    PostgresIndex,
    _rows_per_chunk,
)
from pincite.text.terms import terms

ALL = Filters()
WORDS = [f"word{n}" for n in range(60)]


def texts(count: int, seed: int = 1) -> list[str]:
    chosen = random.Random(seed)
    return [" ".join(chosen.choices(WORDS, weights=range(1, 61), k=chosen.randint(5, 40))) for _ in range(count)]


def bm25(query: str, corpus: dict[int, str], k1: float = Rag().bm25_k1, b: float = Rag().bm25_b) -> list[int]:
    """Return the ranking of textbook BM25 over exactly this corpus."""
    counts = {key: Counter(terms(text, "en")) for key, text in corpus.items()}
    average = sum(sum(c.values()) for c in counts.values()) / len(counts)
    scores: Counter[int] = Counter()
    for term, weight in Counter(terms(query, "en")).items():
        df = sum(term in c for c in counts.values())
        idf = math.log(1 + (len(counts) - df + 0.5) / (df + 0.5))
        for key, c in counts.items():
            if c[term]:
                length = sum(c.values())
                scores[key] += weight * idf * c[term] * (k1 + 1) / (c[term] + k1 * (1 - b + b * length / average))
    return sorted(scores, key=lambda key: (-round(scores[key], 9), key))[:10]


async def keys_of(store: Any) -> dict[str, int]:
    async with store.database.transaction("local") as connection:
        return dict(await (await connection.execute("select text, key from chunk where level = 2")).fetchall())


def test_lexical_search_is_bm25_before_and_after_deletes(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope = await store.scope()
        ids = {n: await store.put(f"{n}.md", *texts(8, seed=n)) for n in range(12)}
        for gone in (None, 3, 7):
            if gone is not None:
                await store.removal.remove(scope, ids[gone])
            corpus = {key: text for text, key in (await keys_of(store)).items()}
            for query in texts(10, seed=99):
                found = await store.index.lexical(query, scope=scope, filters=ALL, limit=10)
                assert [match.key for match in found] == bm25(query, corpus)

    with_store(test)


def test_the_terms_in_chunks_are_those_of_their_texts_within_the_scope(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await store.put("a.md", "otter heron", "heron reed")
        await store.put("b.md", "otter reed")
        scope, keys = await store.scope(), await keys_of(store)
        asked: Any = {"scope": scope, "filters": ALL}
        found = await store.index.terms_in("heron unheard", list(keys.values()), **asked)
        assert [one.keys for one in found] == [frozenset({keys["otter heron"], keys["heron reed"]})]
        assert [one.weight for one in found] == [pytest.approx(math.log1p((3 - 2 + 0.5) / (2 + 0.5)))]
        [one] = await store.index.terms_in("heron", [keys["heron reed"], keys["otter reed"]], **asked)
        assert one.keys == {keys["heron reed"]}
        nobody = replace(scope, realms=())
        assert await store.index.terms_in("heron", list(keys.values()), scope=nobody, filters=ALL) == []

    with_store(test)


def test_lexical_search_under_a_filter_is_bm25_over_the_admitted_chunks(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope = await store.scope()
        for n in range(12):
            await store.put(f"{n}.md", *texts(8, seed=n), folder="in" if n % 3 else "out")
        admitted = {text for n in range(12) if n % 3 for text in texts(8, seed=n)}
        corpus = {key: text for text, key in (await keys_of(store)).items() if text in admitted}
        for query in texts(10, seed=99):
            found = await store.index.lexical(query, scope=scope, filters=Filters(folder="in"), limit=10)
            assert [match.key for match in found] == bm25(query, corpus)

    with_store(test)


@pytest.mark.parametrize(
    ("vectors", "factor"), [(0, 1), (100, 1), (101, 2), (150, 2), (200, 3), (201, 4), (900, MAX_ROWS_PER_CHUNK)]
)
def test_more_rows_are_read_the_more_vectors_a_chunk_has(vectors: int, factor: int) -> None:
    assert _rows_per_chunk(CorpusStats(chunks=100, words=1, vectors=vectors, narrowed=False)) == factor


@pytest.mark.parametrize("exact_rows", [0, 20_000], ids=["hnsw", "exact"])
def test_dense_search_finds_the_nearest(with_store: Any, exact_rows: int) -> None:
    async def test(store: Any) -> None:
        scope = await store.scope()
        for n in range(10):
            await store.put(f"{n}.md", *texts(10, seed=n))
        keys = await keys_of(store)
        for query in texts(10, seed=99):
            vector = await store.vector(query)
            cosine = {
                key: sum(a * b for a, b in zip(vector, await store.vector(text), strict=True))
                for text, key in keys.items()
            }
            found = await store.index.dense(vector, scope=scope, filters=ALL, limit=5)
            best = sorted(cosine.values(), reverse=True)[:5]
            assert [match.score for match in found] == pytest.approx(best, abs=2e-3)

    with_store(test, exact_rows=exact_rows)


@pytest.mark.parametrize("exact_rows", [0, 20_000], ids=["hnsw", "exact"])
def test_filters_work_inside_the_search(with_store: Any, exact_rows: int) -> None:
    async def test(store: Any) -> None:
        scope = await store.scope()
        ids = [await store.put(f"{n}.md", *texts(10, seed=n), folder="hr/a" if n == 4 else "other") for n in range(10)]
        vector = await store.vector("word59 word58")
        for filters in (Filters(folder="hr"), Filters(folder="hr/a"), Filters(document_ids=(ids[4],))):
            dense = await store.index.dense(vector, scope=scope, filters=filters, limit=10)
            lexical = await store.index.lexical("word59 word58", scope=scope, filters=filters, limit=10)
            assert len(dense) == 10
            assert lexical
            fetched = await store.index.fetch([m.key for m in dense + lexical], [vector], scope=scope)
            assert {chunk.document_id for chunk in fetched.chunks.values()} == {ids[4]}
        for filters in (Filters(folder="h"), Filters(document_ids=()), Filters(document_ids=("nope",))):
            assert await store.index.dense(vector, scope=scope, filters=filters, limit=10) == []
            assert await store.index.lexical("word59", scope=scope, filters=filters, limit=10) == []

    with_store(test, exact_rows=exact_rows)


def test_an_incomplete_hnsw_search_under_a_filter_is_repeated_exactly(with_store: Any) -> None:
    class Lame(PostgresIndex):
        async def _nearest(self, *asked: Any, exact: bool, **options: Any) -> list[Match]:
            found = await super()._nearest(*asked, exact=exact, **options)
            return found if exact else found[:3]

    async def test(store: Any) -> None:
        scope, vector = await store.scope(), await store.vector("word59 word58")
        for n in range(4):
            await store.put(f"{n}.md", *texts(10, seed=n), folder="in" if n else "out")
        index = Lame(store.database, 1, 32, Rag(exact_rows=0))
        assert len(await index.dense(vector, scope=scope, filters=ALL, limit=10)) == 3
        assert len(await index.dense(vector, scope=scope, filters=Filters(folder="in"), limit=10)) == 10

    with_store(test)


def test_an_incomplete_hnsw_search_among_others_documents_is_repeated_exactly(with_store: Any) -> None:
    class Lame(PostgresIndex):
        async def _nearest(self, *asked: Any, exact: bool, **options: Any) -> list[Match]:
            found = await super()._nearest(*asked, exact=exact, **options)
            return found if exact else found[:3]

    async def test(store: Any) -> None:
        vector = await store.vector("word59 word58")
        documents = [await store.put(f"{n}.md", *texts(10, seed=n)) for n in range(4)]
        await Users(store.database).add("local", "bob", "reader")
        for document in documents[1:]:
            await Permissions(store.database).share(await store.scope(), document, ("user:bob",))
        index = Lame(store.database, 1, 32, Rag(exact_rows=0))
        bob = await store.library.scope("bob")
        assert len(await index.dense(vector, scope=bob, filters=ALL, limit=10)) == 10
        assert len(await index.dense(vector, scope=await store.scope(), filters=ALL, limit=10)) == 3

    with_store(test)


def test_a_small_filtered_part_of_the_library_is_compared_exactly(with_store: Any) -> None:
    asked: list[bool] = []

    class Watched(PostgresIndex):
        async def _nearest(self, *values: Any, exact: bool, **options: Any) -> list[Match]:
            asked.append(exact)
            return await super()._nearest(*values, exact=exact, **options)

    async def test(store: Any) -> None:
        scope, vector = await store.scope(), await store.vector("word59 word58")
        for n in range(10):
            await store.put(f"{n}.md", *texts(2, seed=n), folder="in" if n else "out")
        index = Watched(store.database, 1, 32, Rag(exact_rows=4))  # 20 vectors, of which a folder has 2 or 18
        for folder in ("out", "in", None):
            await index.dense(vector, scope=scope, filters=Filters(folder=folder), limit=2)
        assert asked == [True, False, False]

    with_store(test)


def test_documents_are_found_by_name_without_the_qualifier(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope, vector = await store.scope(), await store.vector("green leaves")
        green = await store.put("Green (album)", "some words", "green leaves")
        await store.put("Blue", "blue sky", folder="in")
        keys = await keys_of(store)

        async def found(*names: str, filters: Filters = ALL) -> list[tuple[str, str, int]]:
            titled = await store.index.documents_named(names, vector, scope=scope, filters=filters)
            return [(one.name, one.document_id, one.nearest.key) for one in titled]

        assert await found("Green", "green", "Gr", "Green (album)", "'; drop table document; --") == [
            ("Green", green, keys["green leaves"])
        ]
        assert [name for name, *_ in await found("Green", "Blue", filters=Filters(folder="in"))] == ["Blue"]
        assert await found() == []
        for number in range(MAX_DOCUMENTS_PER_NAME):
            await store.put(f"Green ({number})", f"number {number}")
        assert await found("Green") == []  # too many documents have this name

    with_store(test)


def test_documents_are_found_by_parts_of_their_names(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope = await store.scope()
        march = await store.put("site_meeting_2025-03-11.txt", "some words")
        other = await store.put("fire_drill.txt", "other words", folder="in")

        async def found(*parts: str, filters: Filters = ALL, who: Scope = scope) -> list[str]:
            named = await store.index.documents_with_names_like(parts, scope=who, filters=filters, limit=5)
            return [one.document_id for one in named]

        assert await found("SITE", "meet", "-03", "drill") == [march, other]
        assert await found("site_meeting") == [march]
        assert await found("s_te", "%", "\\", "'; drop table document; --") == []
        assert await found("meet", "drill", filters=Filters(folder="in")) == [other]
        assert await found() == []
        assert await found("meet", who=Scope("stranger", ())) == []

    with_store(test)


def test_the_nearest_chunks_of_a_document_are_found_and_of_no_other(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope, vector = await store.scope(), await store.vector("green leaves")
        one = await store.put("one.md", "some words", "green leaves", "green words", folder="in")
        other = await store.put("other.md", "green leaves fall")
        keys = await keys_of(store)

        async def found(*documents: str, limit: int = 2, filters: Filters = ALL) -> list[int]:
            near = await store.index.nearest_in_documents(documents, vector, scope=scope, filters=filters, limit=limit)
            assert [match.score for match in near] == sorted((match.score for match in near), reverse=True)
            return [match.key for match in near]

        assert await found(one) == [keys["green leaves"], keys["green words"]]
        assert await found(one, other, limit=1) == [keys["green leaves"], keys["green leaves fall"]]
        assert await found(one, other, "nope", filters=Filters(folder="in"), limit=1) == [keys["green leaves"]]
        assert await found() == []

    with_store(test)


def test_the_maximum_possible_score_is_returned(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope = await store.scope()
        await store.put("a.md", *texts(8), " ".join(["word1"] * 500))
        [best, *_] = await store.index.lexical("word1 unheard", scope=scope, filters=ALL, limit=10)
        assert 0.9 * best.most < best.score < best.most

    with_store(test)


def test_without_a_scope_no_search_finds_anything(with_store: Any) -> None:
    async def test(store: Any) -> None:
        document = await store.put("a.md", "secret words")
        [realm] = (await store.scope()).realms
        vector = await store.vector("secret words")
        [(_, key)] = (await keys_of(store)).items()
        for scope in (Scope("local", ()), Scope("stranger", ()), Scope("stranger", (realm,)), Scope("", (realm,))):
            assert await store.index.dense(vector, scope=scope, filters=ALL, limit=5) == []
            assert await store.index.lexical("secret words", scope=scope, filters=ALL, limit=5) == []
            assert (await store.index.fetch([key], [vector], scope=scope)).chunks == {}
            assert await store.index.documents_named(["a.md"], vector, scope=scope, filters=ALL) == []
            assert await store.index.nearest_in_documents([document], vector, scope=scope, filters=ALL, limit=5) == []
        assert await store.index.nearest_in_documents(
            [document], vector, scope=await store.scope(), filters=ALL, limit=5
        )
        assert await store.index.documents_named(["a.md"], vector, scope=await store.scope(), filters=ALL)

    with_store(test)


def test_an_edition_being_written_or_replaced_is_not_found(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope = await store.scope()
        document_id = await store.put("a.md", "old words here")
        await store.accept("a.md", "brand fresh content")
        job = await store.jobs.claim("w", 60)
        edition = await store.indexing.begin(await store.indexing.target(job))
        from collections import Counter

        from pincite.core.documents.document import Parsed
        from pincite.store.indexing.chunk_rows import ChunkRow
        from pincite.store.indexing.publish import ParsedVersion
        from tests.builders import chunk

        text = "brand fresh content"
        entry = ChunkRow(chunk(0, text), "c", Counter(terms(text, "en")), b"h", [await store.vector(text)])
        await store.indexing.write(edition, [entry])
        for query, expected in (("old words", 1), ("brand fresh", 0)):
            assert len(await store.index.lexical(query, scope=scope, filters=ALL, limit=5)) == expected
        [match] = await store.index.dense(await store.vector(text), scope=scope, filters=ALL, limit=5)
        assert (await store.index.fetch([match.key], [], scope=scope)).chunks[match.key].text == "old words here"
        await store.indexing.serve(edition, ParsedVersion(Parsed(text, "markdown")))
        for query, expected in (("old words", 0), ("brand fresh", 1)):
            assert len(await store.index.lexical(query, scope=scope, filters=ALL, limit=5)) == expected
        assert (await store.index.fetch([match.key], [], scope=scope)).chunks == {}
        assert await store.indexing.clear_abandoned() == 1
        assert (await store.library.get(scope, document_id)).chunks == 1

    with_store(test)


@pytest.mark.parametrize(
    "query", ["'; drop table chunk; --", "a & b | !c", "%_\\", "🎉🎉", "to be or not to be", "a" * 4000]
)
def test_operators_in_a_query_are_plain_words(with_store: Any, query: str) -> None:
    async def test(store: Any) -> None:
        await store.put("a.md", "some words")
        assert await store.index.lexical(query, scope=await store.scope(), filters=ALL, limit=5) == []

    with_store(test)


def test_documents_of_several_languages_are_searched_together(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope = await store.scope()
        await store.put("en.md", "The houses were painted blue.", language="en")
        await store.put("de.md", "Die Häuser wurden gestrichen.", language="de")
        for query, count in (("house painting", 1), ("Haus streichen gestrichen", 1), ("haeuser", 1)):
            assert len(await store.index.lexical(query, scope=scope, filters=ALL, limit=5)) == count, query

    with_store(test)


def test_a_passage_in_another_language_than_its_document_is_found_by_its_words(with_store: Any) -> None:
    from pincite.core.documents.document import Parsed
    from pincite.store.indexing.chunk_rows import ChunkRow
    from pincite.store.indexing.publish import ParsedVersion
    from tests.builders import chunk

    async def test(store: Any) -> None:
        await store.accept("a.md", "mixed")
        job = await store.jobs.claim("w", 60)
        edition = await store.indexing.begin(await store.indexing.target(job))
        entries = []
        for n, (text, language) in enumerate(
            [("The notice is short.", "en"), ("Die Kündigungsfristen sind lang.", "de")]
        ):
            found_by = Counter(terms(text, language))
            entries.append(
                ChunkRow(chunk(n, text, language=language), "c", found_by, b"%d" % n, [await store.vector(text)])
            )
        await store.indexing.write(edition, entries)
        await store.indexing.serve(edition, ParsedVersion(Parsed("mixed", "markdown")))
        found = await store.index.lexical("Kündigungsfrist", scope=await store.scope(), filters=ALL, limit=5)
        assert len(found) == 1

    with_store(test)
