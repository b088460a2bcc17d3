"""The index in memory gives what PostgreSQL gives, and is never used when it is not current."""

import asyncio
import random
from dataclasses import replace
from typing import Any

import pytest

from pincite.config.branches.retrieval import Rag
from pincite.core.accounts.access import Scope, ShareRequest
from pincite.core.documents.document import DocumentChange
from pincite.core.query.question import Filters
from pincite.store.access.permissions import Permissions, assign_realms
from pincite.store.access.users import Users
from pincite.store.documents.rename import DocumentEditor
from pincite.store.search.corpus_stats import CorpusStatsCache
from pincite.store.search.memory_index import MemoryIndex, MemoryVocabulary
from pincite.store.search.resident import cache as module
from pincite.store.search.resident.cache import ResidentIndexes
from pincite.store.search.resident.loading import Vectors
from pincite.store.search.vocabulary import PostgresVocabulary

ALL = Filters()
WORDS = [f"word{n}" for n in range(60)]
VECTORS = Vectors(1, 32)
TOLERANCE = 1e-6
"""Difference of two cosines that are summed in another order, in single precision."""


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Load an index after the first search that misses it, and again without a pause."""
    monkeypatch.setattr(module, "MIN_SEARCHES", 1)
    monkeypatch.setattr(module, "REST", 0.0)


class Warm:
    """An index in memory on a store, and the two ways to search."""

    def __init__(self, store: Any, megabytes: int = 64) -> None:
        self.store, self.resident = store, ResidentIndexes(megabytes)

    @property
    def index(self) -> MemoryIndex:
        """The search of a request that begins now."""
        return MemoryIndex(self.store.database, VECTORS, Rag(), self.resident)

    async def scope(self, person: str = "local") -> Scope:
        """The scope as a request that begins now gets it."""
        scope: Scope = await self.store.library.scope(person)
        return scope

    async def warm_up(self, person: str = "local") -> Scope:
        """Load the index of a person."""
        scope = await self.scope(person)
        await self.index.lexical("word1", scope=scope, filters=ALL, limit=1)
        await self.resident.settle()
        assert self.resident.is_current(scope, VECTORS)
        return scope

    async def documents(self, words: str, person: str = "local", filters: Filters = ALL) -> set[str]:
        """The documents that a person finds by words and by meaning, whose texts the database gives."""
        scope, index = await self.scope(person), self.index
        lexical = await index.lexical(words, scope=scope, filters=filters, limit=50)
        dense = await index.dense(await self.store.vector(words), scope=scope, filters=filters, limit=50)
        read = await index.fetch([match.key for match in (*lexical, *dense)], [], scope=scope, filters=filters)
        assert not read.outdated
        return {read.chunks[match.key].document_id for match in lexical if match.key in read.chunks}


def some_texts(count: int, seed: int) -> list[str]:
    chosen = random.Random(seed)
    return [" ".join(chosen.choices(WORDS, weights=range(1, 61), k=chosen.randint(5, 40))) for _ in range(count)]


async def share(store: Any, document_id: str, **wish: Any) -> None:
    rights, scope = Permissions(store.database), await store.scope()
    await rights.share(scope, document_id, await rights.readers(scope, ShareRequest(**wish)))


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


def test_several_windows_of_a_chunk_count_by_the_best(with_store: Any) -> None:
    async def test(store: Any) -> None:
        warm = Warm(store)
        document = await store.put("a.md", "red fox", "grey wolf")
        async with store.database.administrator() as admin:
            await admin.execute(
                "insert into pincite.vector (chunk, edition, realm, part, model, hash, embedding)"
                " select v.chunk, v.edition, v.realm, 1, v.model, v.hash, o.embedding from pincite.vector v"
                " join pincite.vector o on o.chunk <> v.chunk where v.chunk = (select min(chunk) from pincite.vector)"
            )
        scope, vector = await warm.warm_up(), await store.vector("grey wolf")
        found = await warm.index.dense(vector, scope=scope, filters=ALL, limit=5)
        assert [round(one.score, 3) for one in found] == [1.0, 1.0]
        assert found[0].key < found[1].key
        assert await warm.documents("fox") == {document}

    with_store(test)


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


def test_texts_are_never_read_with_rights_of_before(with_store: Any) -> None:
    """A search that began before a right was revoked finds keys in memory; the database gives no text for them."""

    async def test(store: Any) -> None:
        warm, users = Warm(store), Users(store.database)
        await users.add("local", "bob", "reader")
        await users.add_group("local", "staff")
        await users.join("local", "staff", "bob")
        document = await store.put("a.md", "the heron stands in the reeds")
        await share(store, document, groups=("staff",))
        before = await warm.warm_up("bob")
        await users.leave("local", "staff", "bob")  # no revision changes: the documents are the same
        index = warm.index
        found = await index.lexical("heron", scope=before, filters=ALL, limit=5)
        assert len(found) == 1
        read = await index.fetch([one.key for one in found], [], scope=before)
        assert (read.chunks, read.outdated) == ({}, True)
        assert await index.lexical("heron", scope=before, filters=ALL, limit=5) == []  # now in PostgreSQL
        assert await warm.documents("heron", "bob") == set()

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


def test_a_document_that_is_moving_to_another_realm_is_left_to_postgresql(with_store: Any) -> None:
    async def test(store: Any) -> None:
        warm = Warm(store)
        await Users(store.database).add("local", "bob", "reader")
        document = await store.put("a.md", "the heron stands in the reeds")
        await store.put("b.md", "a heron flies")
        await warm.warm_up()
        async with store.database.transaction("local") as connection:
            update = "update document set readers = array['user:bob'] where id = %s"
            await connection.execute(update, (document,))
            await assign_realms(connection, "local", [document])
        for person, expected in (("local", 2), ("bob", 0)):  # the rows have not moved yet: only the owner finds them
            for _ in range(2):
                assert len(await warm.documents("heron", person)) == expected
                await warm.resident.settle()
            assert not warm.resident.is_current(await warm.scope(person), VECTORS)
        await Permissions(store.database).finish_moves()
        await warm.warm_up("bob")
        assert await warm.documents("heron", "bob") == {document}

    with_store(test)


def test_an_index_over_the_bound_is_not_loaded_and_searches_still_find(with_store: Any) -> None:
    async def test(store: Any) -> None:
        for megabytes in (0, 1):
            warm = Warm(store, megabytes)
            document = await store.put(f"{megabytes}.md", f"the heron {megabytes} stands in the reeds")
            if megabytes:
                async with store.database.administrator() as admin:  # as if it were a long document
                    await admin.execute("update pincite.document set vectors = 100000, words = 0")
            assert document in await warm.documents("heron")
            await warm.resident.settle()
            assert warm.resident.size == 0
            assert document in await warm.documents("heron")

    with_store(test)


def test_the_index_that_was_searched_last_stays_in_memory(with_store: Any) -> None:
    async def test(store: Any) -> None:
        warm = Warm(store)
        for name in ("ada", "bob"):
            await Users(store.database).add("local", name, "reader")
            document = await store.put(f"{name}.md", *some_texts(5, 3))
            await share(store, document, users=(name,))
        await warm.warm_up("ada")
        one = warm.resident.size
        await warm.warm_up("bob")
        assert warm.resident.size > one
        warm.resident._make_room(one)
        assert warm.resident.is_current(await warm.scope("bob"), VECTORS)
        assert not warm.resident.is_current(await warm.scope("ada"), VECTORS)

    with_store(test)


def test_searches_while_documents_come_and_go_find_each_complete(with_store: Any) -> None:
    async def test(store: Any) -> None:
        warm = Warm(store)
        always = await store.put("always.md", "the heron stands", "a heron flies")
        done = asyncio.Event()

        async def write() -> None:
            for n in range(12):
                document = await store.put(f"{n}.md", "one heron", "two heron")
                if n % 2:
                    await store.removal.remove(await store.scope(), document)
            done.set()

        async def search() -> int:
            searches = 0
            while not done.is_set() or not searches:
                scope, index = await warm.scope(), warm.index
                found = await index.lexical("heron", scope=scope, filters=ALL, limit=100)
                read = await index.fetch([one.key for one in found], [], scope=scope)
                texts = [chunk.text for chunk in read.chunks.values() if chunk.document_id == always]
                assert sorted(texts) == ["a heron flies", "the heron stands"]
                assert len(read.chunks) % 2 == 0 or read.outdated or len(read.chunks) < len(found)
                searches += 1
                await asyncio.sleep(0)
            return searches

        await asyncio.gather(write(), search(), search())
        await warm.warm_up()
        expected = await store.index.lexical("heron", scope=await warm.scope(), filters=ALL, limit=100)
        assert await warm.index.lexical("heron", scope=await warm.scope(), filters=ALL, limit=100) == expected
        assert len(expected) == 2 + 6 * 2

    with_store(test)


def test_other_times_and_a_scope_without_revisions_are_searched_in_postgresql(with_store: Any) -> None:
    async def test(store: Any) -> None:
        warm = Warm(store)
        await store.put("a.md", "the heron stands in the reeds")
        scope = await warm.warm_up()
        assert warm.index._view(scope, ALL) is not None
        assert warm.index._view(replace(scope, revisions=()), ALL) is None
        assert warm.index._view(scope, Filters(index="another")) is None
        assert warm.index._view(Scope("stranger", ()), ALL) is None
        assert warm.index._view(replace(scope, revisions=(scope.revisions[0] + 1,)), ALL) is None

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
