"""The index in memory gives what PostgreSQL gives, and is never used when it is not current."""

import random
from dataclasses import replace
from typing import Any

import pytest

from pincite.core.accounts.access import Scope
from pincite.core.documents.document import DocumentChange, Upload
from pincite.core.query.question import Filters
from pincite.store.access.users import Users
from pincite.store.documents.rename import DocumentEditor
from pincite.store.search.corpus_stats import CorpusStatsCache
from pincite.store.search.memory_index import MemoryVocabulary
from pincite.store.search.vocabulary import PostgresVocabulary
from tests.store.warm import ALL, VECTORS, WORDS, Warm, share, some_texts

TOLERANCE = 1e-6
"""Difference of two cosines that are summed in another order, in single precision."""


def test_random_searches_with_filters_and_rights_give_what_postgresql_gives(with_store: Any) -> None:
    async def test(store: Any) -> None:
        chosen, warm = random.Random(7), Warm(store)
        await Users(store.database).add("local", "bob", "reader")
        ids = [
            await store.put(
                f"{n}.md", *some_texts(6, n), folder=("", "a", "a/b", "ab")[n % 4], language=("en", "de")[n % 2]
            )
            for n in range(24)
        ]
        for n in range(0, 24, 3):
            await share(store, ids[n], users=("bob",))
        for n in range(0, 24, 5):
            await DocumentEditor(store.database).update(
                await store.scope(), ids[n], DocumentChange(tags=("red", str(n)))
            )
        for round_of in range(3):  # the second and third time with a segment of new, and with dead editions
            if round_of:
                ids.append(await store.put(f"new{round_of}.md", *some_texts(6, 100 + round_of), folder="a"))
                await store.removal.remove(await store.scope(), ids.pop(chosen.randrange(20)))
            scopes = [await warm.warm_up("bob"), await warm.warm_up()]
            for _ in range(80):
                filters = chosen.choice(
                    [ALL, ALL, Filters(folder="a"), Filters(folder="a/b"), Filters(folder="none"), Filters(tags=("red",)),
                     Filters(document_ids=tuple(chosen.sample(ids, 3))), Filters(folder="a", tags=("red",))]
                )  # fmt: skip
                scope, query = (
                    chosen.choice(scopes),
                    " ".join(chosen.choices([*WORDS, "unheard"], k=chosen.randint(1, 9))),
                )
                await compare(store, warm, query, scope, filters, chosen.choice([1, 10, 100]))

    with_store(test, exact_rows=10_000)


async def compare(store: Any, warm: Warm, query: str, scope: Scope, filters: Filters, limit: int) -> None:
    """Compare both searches of one query: lexical scores exactly, cosines but for rounding."""
    assert warm.resident.is_current(scope, VECTORS)
    asked: Any = {"scope": scope, "filters": filters, "limit": limit}
    assert await warm.index.lexical(query, **asked) == await store.index.lexical(query, **asked)
    keys, scoped = list(range(200)), {key: asked[key] for key in ("scope", "filters")}
    assert await warm.index.terms_in(query, keys, **scoped) == await store.index.terms_in(query, keys, **scoped)
    vector = await store.vector(query)
    here, there = await warm.index.dense(vector, **asked), await store.index.dense(vector, **asked)
    assert [one.score for one in here] == pytest.approx([one.score for one in there], abs=TOLERANCE)
    near = {one.key for one in there if one.score > there[-1].score + TOLERANCE} if there else set()
    assert near <= {one.key for one in here}
    named = [f"{n}.md" for n in range(0, 24, 2)]
    titled = await warm.index.documents_named(named, vector, scope=scope, filters=filters)
    expected = await store.index.documents_named(named, vector, scope=scope, filters=filters)
    assert [(one.name, one.document_id, one.nearest.key) for one in titled] == [
        (one.name, one.document_id, one.nearest.key) for one in expected
    ]


def test_added_replaced_and_removed_documents_are_seen_at_once(with_store: Any) -> None:
    async def test(store: Any) -> None:
        warm = Warm(store)
        first = await store.put("a.md", "the heron stands in the reeds")
        await warm.warm_up()
        assert await warm.documents("heron") == {first}
        second = await store.put("b.md", "another heron flies")
        assert await warm.documents("heron") == {first, second}  # PostgreSQL searched: the index is of another revision
        await warm.warm_up()
        await store.put("b.md", "an otter swims")
        assert await warm.documents("heron") == {first}
        await warm.warm_up()
        assert await warm.documents("otter") == {second}
        await store.removal.remove(await store.scope(), first)
        assert await warm.documents("heron") == set()
        await warm.warm_up()
        assert await warm.documents("heron") == set()

    with_store(test)


def test_a_moved_or_tagged_document_is_found_where_it_is_now(with_store: Any) -> None:
    async def test(store: Any) -> None:
        warm, editor = Warm(store), DocumentEditor(store.database)
        document = await store.put("a.md", "the heron stands in the reeds", folder="in")
        await warm.warm_up()
        assert await warm.documents("heron", filters=Filters(folder="in")) == {document}
        await editor.update(await store.scope(), document, DocumentChange(folder="out", tags=("bird",)))
        for _ in range(2):
            assert await warm.documents("heron", filters=Filters(folder="in")) == set()
            assert await warm.documents("heron", filters=Filters(folder="out", tags=("bird",))) == {document}
            await warm.warm_up()

    with_store(test)


def test_a_document_shared_after_loading_is_found_once(with_store: Any) -> None:
    """Its passages take one place each, so that a search gives as many as it was asked for."""

    async def test(store: Any) -> None:
        warm = Warm(store)
        ids = [await store.put(f"{n}.md", *some_texts(2, n)) for n in range(8)]
        await warm.warm_up()
        await share(store, ids[0], everyone=True)
        scope = await warm.warm_up()
        found = await warm.index.dense(await store.vector("word1"), scope=scope, filters=ALL, limit=16)
        assert len({one.key for one in found}) == 16
        for query in ("word1", "word58 word59", " ".join(WORDS)):
            await compare(store, warm, query, scope, ALL, 16)
            await compare(store, warm, query, scope, ALL, 3)

    with_store(test, exact_rows=10_000)


@pytest.mark.parametrize("wish", [{"users": ("bob",)}, {"groups": ("staff",)}, {"everyone": True}])
def test_a_revoked_share_hides_a_document_with_a_warm_index(with_store: Any, wish: dict[str, Any]) -> None:
    async def test(store: Any) -> None:
        warm, users = Warm(store), Users(store.database)
        await users.add("local", "bob", "reader")
        await users.add_group("local", "staff")
        await users.join("local", "staff", "bob")
        document = await store.put("a.md", "the heron stands in the reeds")
        other = await store.put("b.md", "a heron flies")
        await warm.warm_up()
        await share(store, document, **wish)
        assert await warm.documents("heron", "bob") == {document}
        await warm.warm_up("bob")
        await warm.warm_up()
        assert await warm.documents("heron", "bob") == {document}
        await share(store, document)
        for _ in range(2):
            assert await warm.documents("heron", "bob") == set()
            assert await warm.documents("heron") == {document, other}
            await warm.warm_up()

    with_store(test)


@pytest.mark.parametrize("remembered", [False, True])
def test_texts_are_never_read_with_rights_of_before(with_store: Any, remembered: bool) -> None:
    """A search that began before a right was revoked finds keys in memory; no text is given for them."""

    async def test(store: Any) -> None:
        warm, users = Warm(store), Users(store.database)
        await users.add("local", "bob", "reader")
        await users.add_group("local", "staff")
        await users.join("local", "staff", "bob")
        document = await store.put("a.md", "the heron stands in the reeds")
        await share(store, document, groups=("staff",))
        before = await warm.warm_up("bob")
        if remembered:
            assert await warm.documents("heron", "bob") == {document}
        await users.leave("local", "staff", "bob")  # no revision changes: the documents are the same
        index = warm.index
        found = await index.lexical("heron", scope=before, filters=ALL, limit=5)
        assert len(found) == 1
        keys = [one.key for one in found]
        assert bool(index.remembered(keys, scope=before, filters=ALL)) == remembered
        read = await index.fetch(keys, [], scope=before)
        assert (read.chunks, read.outdated) == ({}, True)
        assert await index.lexical("heron", scope=before, filters=ALL, limit=5) == []  # now in PostgreSQL
        assert await warm.documents("heron", "bob") == set()

    with_store(test)


def test_remembered_passages_are_given_only_if_row_level_security_shows_them(with_store: Any) -> None:
    """Even a scope that names the realm of another person: the database is asked who reads its rows."""

    async def test(store: Any) -> None:
        warm = Warm(store)
        await Users(store.database).add("local", "bob", "reader")
        document = await store.put("a.md", "the heron stands in the reeds")
        scope = await warm.warm_up()
        assert await warm.documents("heron") == {document}
        wrong, index = replace(scope, person="bob"), warm.index
        [found] = await index.lexical("heron", scope=wrong, filters=ALL, limit=5)
        assert index.remembered([found.key], scope=wrong, filters=ALL).keys() == {found.key}
        assert (await index.fetch([found.key], [], scope=wrong)).chunks == {}

    with_store(test)


def test_remembered_passages_are_those_that_postgresql_gives(with_store: Any) -> None:
    async def test(store: Any) -> None:
        warm = Warm(store)
        for n in range(8):
            await store.put(f"{n}.md", *some_texts(4, n))
        scope, vector = await warm.warm_up(), await store.vector("word1")
        keys, both, index = list(range(1, 40)), [vector, await store.vector("word58 word59")], warm.index
        await index.dense(vector, scope=scope, filters=ALL, limit=5)
        for vectors in ([], [vector], both):
            there = await store.index.fetch(keys, vectors, scope=scope, filters=ALL)
            for _ in range(2):  # read, then remembered
                here = await index.fetch(keys, vectors, scope=scope, filters=ALL)
                assert here.chunks == there.chunks
                assert here.similarities == pytest.approx(there.similarities, abs=TOLERANCE)
            assert index.remembered(keys, scope=scope, filters=ALL) == there.chunks
        some = await index.fetch([*keys[:3], 10_000], both, scope=scope, filters=ALL)
        assert some.chunks.keys() == set(keys[:3])

    with_store(test)


def test_a_new_source_of_a_document_is_shown_at_once(with_store: Any) -> None:
    async def test(store: Any) -> None:
        warm = Warm(store)
        await store.put("a.md", "the heron stands in the reeds")
        scope, index = await warm.warm_up(), warm.index
        [found] = await index.lexical("heron", scope=scope, filters=ALL, limit=5)
        await index.fetch([found.key], [], scope=scope)
        arrival = Upload("a.md", b"the otter swims", source_uri="https://two.example")
        await store.intake.accept(scope, arrival, mime="text/markdown", checksum="0" * 64)
        read = await index.fetch([found.key], [], scope=scope)
        assert read.outdated
        [again] = (await index.fetch([found.key], [], scope=scope)).chunks.values()
        assert again.source_uri == "https://two.example"

    with_store(test)


def test_documents_that_changed_since_the_search_make_it_outdated_once(with_store: Any) -> None:
    async def test(store: Any) -> None:
        warm = Warm(store)
        await store.put("a.md", "the heron stands in the reeds")
        scope, index = await warm.warm_up(), warm.index
        found = await index.lexical("heron", scope=scope, filters=ALL, limit=5)
        keys = [one.key for one in found]
        assert not (await index.fetch(keys, [], scope=scope)).outdated
        await store.put("b.md", "a heron flies")
        assert (await index.fetch(keys, [], scope=scope)).outdated
        again = await index.lexical("heron", scope=scope, filters=ALL, limit=5)
        assert len(again) == 2  # in PostgreSQL, although the scope is of before
        assert not (await index.fetch(keys, [], scope=scope)).outdated

    with_store(test)


def test_words_are_known_in_memory_as_in_postgresql(with_store: Any) -> None:
    async def test(store: Any) -> None:
        warm = Warm(store)
        gone = await store.put("a.md", "unusual quagga walking")
        await store.put("b.md", "the heron stands in the reeds")
        vocabulary = MemoryVocabulary(store.database, CorpusStatsCache(), warm.resident, VECTORS)
        plain, asked = PostgresVocabulary(store.database), {"quagga", "walked", "heron", "reed", "nothing"}
        for expected in ({"quagga", "walked", "heron", "reed"}, {"heron", "reed"}):
            scope = await warm.warm_up()
            assert await vocabulary.known_words(asked, scope=scope) == expected
            assert await plain.known_words(asked, scope=scope) == expected
            if gone in await warm.documents("quagga"):
                await store.removal.remove(scope, gone)

    with_store(test)
