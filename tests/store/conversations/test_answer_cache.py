import asyncio
import random
from dataclasses import replace
from typing import Any

import pytest

from pincite.config.branches.retrieval import Cache
from pincite.core.accounts.access import Scope, ShareRequest
from pincite.core.protocols import CacheEntry
from pincite.core.query.answer import Answer, Related, Source
from pincite.errors import StoreDown
from pincite.store.access.permissions import Permissions
from pincite.store.access.users import Users
from pincite.store.conversations.answer_cache import AnswerCache, documents_of, remove_cached_answers
from pincite.store.database import fetch_all
from tests.builders import answer as an_answer

LIMITS = Cache()
KEY = b"k" * 32


def about(document_id: str, text: str = "Told.") -> Answer:
    source = Source(
        1,
        document_id,
        "a.md",
        "A",
        f"{document_id}.1",
        "v1",
        "c",
        None,
        1,
        1,
        0,
        5,
        (),
        "Said.",
        0.9,
        0.9,
        0.9,
        0.9,
        (),
        True,
    )
    return replace(an_answer(text), sources=(source,), related_documents=())


async def kept(store: Any, scope: Scope, question: str, answer: Answer, key: bytes = KEY) -> bool:
    cache = AnswerCache(store.database)
    looked = await cache.look_up(scope, key, question)
    assert looked.state is not None
    return await cache.save(
        scope, CacheEntry(key, looked.state, question, await store.vector(question), answer), LIMITS
    )


def test_a_cached_answer_is_found_by_the_same_and_by_similar_questions(with_store: Any) -> None:
    async def main(store: Any) -> None:
        document, cache = await store.put("a.md", "Said."), AnswerCache(store.database)
        scope = await store.scope()
        assert await kept(store, scope, "Who said it?", about(document))
        looked = await cache.look_up(scope, KEY, "Who said it?")
        assert looked.same is not None
        assert (await cache.read(scope, looked.same)) == about(document)
        other = await cache.look_up(scope, KEY, "Who said it then?")
        assert (other.same, other.others) == (None, True)
        [alike] = await cache.similar(scope, KEY, await store.vector("Who said it then?"), 0.5)
        assert (alike.id, alike.question) == (looked.same, "Who said it?")
        assert 0.5 < alike.similarity < 1
        assert await cache.similar(scope, KEY, await store.vector("Who said it then?"), 0.99) == []
        assert (await cache.look_up(scope, b"another", "Who said it?")).same is None
        assert await cache.similar(scope, b"another", await store.vector("Who said it?"), 0.5) == []

    with_store(main)


def test_two_people_with_the_same_scope_never_share_cached_answers(with_store: Any) -> None:
    async def main(store: Any) -> None:
        people, cache, rights = Users(store.database), AnswerCache(store.database), Permissions(store.database)
        await people.add_group("local", "staff")
        both = [(await people.add("local", name, "reader")).id for name in ("anna", "ben")]
        for name in ("anna", "ben"):
            await people.join("local", "staff", name)
        documents = [await store.put(f"{n}.md", f"Said {n}.") for n in range(4)]
        own = await store.scope()
        for document, wish in zip(
            documents, ({"everyone": True}, {"groups": ("staff",)}, {"users": ("anna",)}, {}), strict=True
        ):
            await rights.share(own, document, await rights.readers(own, ShareRequest(**wish)))
        numbers, crossings, hits = random.Random(7), 0, 0
        for probe in range(1000):
            person = both[probe % 2]
            if probe % 100 == 50:  # what they may read changes all the time
                own, wish = await store.scope(), numbers.choice([{"users": ("anna",)}, {"users": ("ben",)}, {}])
                await rights.share(own, documents[2], await rights.readers(own, ShareRequest(**wish)))
            scope, question = await store.library.scope(person), f"Who said {numbers.randrange(20)} of it?"
            looked = await cache.look_up(scope, KEY, question)
            near = await cache.similar(scope, KEY, await store.vector(question), 0.0)
            for entry in {looked.same, *(one.id for one in near)} - {None}:
                found = await cache.read(scope, entry)
                assert found is not None
                crossings += found.text != f"told to {person} of {scope.realms}"
                hits += 1
            if looked.same is None:
                await kept(store, scope, question, about(documents[0], f"told to {person} of {scope.realms}"))
        assert (crossings, hits > 500) == (0, True)

    with_store(main)


def test_another_persons_cache_entry_cannot_be_read_by_id(with_store: Any) -> None:
    async def main(store: Any) -> None:
        anna = await Users(store.database).add("local", "anna", "reader")
        document, cache = await store.put("a.md", "Said."), AnswerCache(store.database)
        own = await store.scope()
        await Permissions(store.database).share(own, document, ("everyone",))
        await kept(store, own, "Who?", about(document))
        looked = await cache.look_up(own, KEY, "Who?")
        assert looked.same is not None
        scope = await store.library.scope(anna.id)
        assert await cache.read(scope, looked.same) is None
        async with store.database.transaction(anna.id) as connection:
            assert await fetch_all(connection, "select * from cached_answer") == []
            changed = await connection.execute("update cached_answer set answer = 'x'")
            removed = await connection.execute("delete from cached_answer")
        assert (changed.rowcount, removed.rowcount) == (0, 0)

    with_store(main)


def test_an_outdated_scope_has_no_cache_state(with_store: Any) -> None:
    async def main(store: Any) -> None:
        document, cache = await store.put("a.md", "Said."), AnswerCache(store.database)
        scope = await store.scope()
        for stale in (Scope("local", ()), Scope("local", (*scope.realms, 999)), Scope("nobody", ())):
            assert (await cache.look_up(stale, KEY, "Who?")).state is None
        looked = await cache.look_up(scope, KEY, "Who?")
        assert looked.state is not None
        entry = CacheEntry(KEY, looked.state, "Who?", await store.vector("Who?"), about(document))
        assert not await cache.save(Scope("local", (*scope.realms, 999)), entry, LIMITS)
        await store.put("b.md", "Something else.")
        assert not await cache.save(scope, entry, LIMITS)
        assert (await cache.look_up(scope, KEY, "Who?")).state != looked.state

    with_store(main)


def test_a_cached_answer_is_removed_with_a_document_it_names(with_store: Any) -> None:
    async def main(store: Any) -> None:
        first, second = await store.put("a.md", "Said."), await store.put("b.md", "Told.")
        scope = await store.scope()
        related = replace(about(first), related_documents=(Related(second, "B", None),))
        assert documents_of(related) == sorted((first, second))
        await kept(store, scope, "Who?", related)
        await kept(store, scope, "What?", about(first))
        async with store.database.transaction("local") as connection:
            assert await remove_cached_answers(connection, second) == 1
        receipt = await store.removal.remove(scope, first)
        assert (receipt.cache_entries, receipt.verified) == (1, True)
        state = (await AnswerCache(store.database).look_up(scope, KEY, "Who?")).state
        assert state is not None
        entry = CacheEntry(KEY, state, "Who?", await store.vector("Who?"), about(first))
        assert not await AnswerCache(store.database).save(scope, entry, LIMITS)  # its document was removed

    with_store(main)


def test_concurrent_cache_writes_respect_the_limit_of_each_person(with_store: Any) -> None:
    async def main(store: Any) -> None:
        anna = (await Users(store.database).add("local", "anna", "reader")).id
        document = await store.put("a.md", "Said.")
        own, cache = await store.scope(), AnswerCache(store.database)
        await Permissions(store.database).share(own, document, ("everyone",))
        theirs = await store.library.scope(anna)
        await kept(store, theirs, "Who?", about(document))
        looked = await cache.look_up(own, KEY, "Who?")
        assert looked.state is not None
        entries = [
            CacheEntry(KEY, looked.state, f"{n}?", await store.vector(f"{n}?"), about(document)) for n in range(40)
        ]
        done = await asyncio.gather(*(cache.save(own, entry, Cache(max_entries=10)) for entry in entries))
        assert all(done)
        await cache.save(own, entries[0], Cache(max_entries=10))
        async with store.database.administrator() as admin:
            counts = await fetch_all(
                admin, "select owner, count(*) from pincite.cached_answer group by owner order by owner"
            )
        assert sorted(counts) == sorted([(anna, 1), ("local", 10)])

    with_store(main)


def test_a_database_error_is_reported_without_its_text(with_store: Any) -> None:
    async def main(store: Any) -> None:
        await store.put("a.md", "Said.")
        async with store.database.administrator() as admin:
            await admin.execute("alter table pincite.cached_answer rename to elsewhere")
        with pytest.raises(StoreDown, match=r"the answer cache cannot be used \(UndefinedTable\)"):
            await AnswerCache(store.database).look_up(await store.scope(), KEY, "Who?")

    with_store(main)
