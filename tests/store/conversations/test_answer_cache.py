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
from pincite.store.conversations.answer_cache import AnswerCache, documents_of, forget_answers
from pincite.store.database import rows
from tests.builders import answer as an_answer

LIMITS = Cache()
KEY = b"k" * 32


def about(document_id: str, text: str = "Told.") -> Answer:
    source = Source(
        1, document_id, "a.md", "A", f"{document_id}.1", "v1", "c", None, 1, 1, 0, 5, (), "Said.", 0.9, 0.9, 0.9, 0.9, (), True
    )  # fmt: skip
    return replace(an_answer(text), sources=(source,), related_documents=())


async def kept(shelf: Any, scope: Scope, question: str, answer: Answer, key: bytes = KEY) -> bool:
    cache = AnswerCache(shelf.database)
    looked = await cache.look_up(scope, key, question)
    assert looked.state is not None
    return await cache.save(
        scope, CacheEntry(key, looked.state, question, await shelf.vector(question), answer), LIMITS
    )


def test_an_answer_is_found_by_its_words_and_by_words_like_them(with_shelf: Any) -> None:
    async def main(shelf: Any) -> None:
        document, cache = await shelf.put("a.md", "Said."), AnswerCache(shelf.database)
        scope = await shelf.scope()
        assert await kept(shelf, scope, "Who said it?", about(document))
        looked = await cache.look_up(scope, KEY, "Who said it?")
        assert looked.same is not None
        assert (await cache.read(scope, looked.same)) == about(document)
        other = await cache.look_up(scope, KEY, "Who said it then?")
        assert (other.same, other.others) == (None, True)
        [alike] = await cache.similar(scope, KEY, await shelf.vector("Who said it then?"), 0.5)
        assert (alike.id, alike.question) == (looked.same, "Who said it?")
        assert 0.5 < alike.similarity < 1
        assert await cache.similar(scope, KEY, await shelf.vector("Who said it then?"), 0.99) == []
        assert (await cache.look_up(scope, b"another", "Who said it?")).same is None
        assert await cache.similar(scope, b"another", await shelf.vector("Who said it?"), 0.5) == []

    with_shelf(main)


def test_of_two_who_may_read_the_same_neither_meets_an_answer_of_the_other_in_a_thousand_tries(with_shelf: Any) -> None:
    async def main(shelf: Any) -> None:
        people, cache, rights = Users(shelf.database), AnswerCache(shelf.database), Permissions(shelf.database)
        await people.add_group("local", "staff")
        both = [(await people.add("local", name, "reader")).id for name in ("anna", "ben")]
        for name in ("anna", "ben"):
            await people.join("local", "staff", name)
        documents = [await shelf.put(f"{n}.md", f"Said {n}.") for n in range(4)]
        own = await shelf.scope()
        for document, wish in zip(
            documents, ({"everyone": True}, {"groups": ("staff",)}, {"users": ("anna",)}, {}), strict=True
        ):
            await rights.share(own, document, await rights.readers(own, ShareRequest(**wish)))
        numbers, crossings, hits = random.Random(7), 0, 0
        for probe in range(1000):
            person = both[probe % 2]
            if probe % 100 == 50:  # what they may read changes all the time
                own, wish = await shelf.scope(), numbers.choice([{"users": ("anna",)}, {"users": ("ben",)}, {}])
                await rights.share(own, documents[2], await rights.readers(own, ShareRequest(**wish)))
            scope, question = await shelf.library.scope(person), f"Who said {numbers.randrange(20)} of it?"
            looked = await cache.look_up(scope, KEY, question)
            near = await cache.similar(scope, KEY, await shelf.vector(question), 0.0)
            for entry in {looked.same, *(one.id for one in near)} - {None}:
                found = await cache.read(scope, entry)
                assert found is not None
                crossings += found.text != f"told to {person} of {scope.realms}"
                hits += 1
            if looked.same is None:
                await kept(shelf, scope, question, about(documents[0], f"told to {person} of {scope.realms}"))
        assert (crossings, hits > 500) == (0, True)

    with_shelf(main)


def test_an_entry_of_somebody_else_cannot_be_read_even_by_its_id(with_shelf: Any) -> None:
    async def main(shelf: Any) -> None:
        anna = await Users(shelf.database).add("local", "anna", "reader")
        document, cache = await shelf.put("a.md", "Said."), AnswerCache(shelf.database)
        own = await shelf.scope()
        await Permissions(shelf.database).share(own, document, ("everyone",))
        await kept(shelf, own, "Who?", about(document))
        looked = await cache.look_up(own, KEY, "Who?")
        assert looked.same is not None
        scope = await shelf.library.scope(anna.id)
        assert await cache.read(scope, looked.same) is None
        async with shelf.database.transaction(anna.id) as connection:
            assert await rows(connection, "select * from cached_answer") == []
            changed = await connection.execute("update cached_answer set answer = 'x'")
            removed = await connection.execute("delete from cached_answer")
        assert (changed.rowcount, removed.rowcount) == (0, 0)

    with_shelf(main)


def test_a_scope_that_is_no_longer_what_one_reads_has_no_state(with_shelf: Any) -> None:
    async def main(shelf: Any) -> None:
        document, cache = await shelf.put("a.md", "Said."), AnswerCache(shelf.database)
        scope = await shelf.scope()
        for stale in (Scope("local", ()), Scope("local", (*scope.realms, 999)), Scope("nobody", ())):
            assert (await cache.look_up(stale, KEY, "Who?")).state is None
        looked = await cache.look_up(scope, KEY, "Who?")
        assert looked.state is not None
        entry = CacheEntry(KEY, looked.state, "Who?", await shelf.vector("Who?"), about(document))
        assert not await cache.save(Scope("local", (*scope.realms, 999)), entry, LIMITS)
        await shelf.put("b.md", "Something else.")
        assert not await cache.save(scope, entry, LIMITS)
        assert (await cache.look_up(scope, KEY, "Who?")).state != looked.state

    with_shelf(main)


def test_an_answer_that_names_a_document_goes_with_it(with_shelf: Any) -> None:
    async def main(shelf: Any) -> None:
        first, second = await shelf.put("a.md", "Said."), await shelf.put("b.md", "Told.")
        scope = await shelf.scope()
        related = replace(about(first), related_documents=(Related(second, "B", None),))
        assert documents_of(related) == sorted((first, second))
        await kept(shelf, scope, "Who?", related)
        await kept(shelf, scope, "What?", about(first))
        async with shelf.database.transaction("local") as connection:
            assert await forget_answers(connection, second) == 1
        receipt = await shelf.removal.remove(scope, first)
        assert (receipt.cache_entries, receipt.verified) == (1, True)
        state = (await AnswerCache(shelf.database).look_up(scope, KEY, "Who?")).state
        assert state is not None
        entry = CacheEntry(KEY, state, "Who?", await shelf.vector("Who?"), about(first))
        assert not await AnswerCache(shelf.database).save(scope, entry, LIMITS)  # what it stands on is gone

    with_shelf(main)


def test_many_writers_at_once_keep_no_more_than_allowed_and_nobody_elses_give_way(with_shelf: Any) -> None:
    async def main(shelf: Any) -> None:
        anna = (await Users(shelf.database).add("local", "anna", "reader")).id
        document = await shelf.put("a.md", "Said.")
        own, cache = await shelf.scope(), AnswerCache(shelf.database)
        await Permissions(shelf.database).share(own, document, ("everyone",))
        theirs = await shelf.library.scope(anna)
        await kept(shelf, theirs, "Who?", about(document))
        looked = await cache.look_up(own, KEY, "Who?")
        assert looked.state is not None
        entries = [
            CacheEntry(KEY, looked.state, f"{n}?", await shelf.vector(f"{n}?"), about(document)) for n in range(40)
        ]
        done = await asyncio.gather(*(cache.save(own, entry, Cache(max_entries=10)) for entry in entries))
        assert all(done)
        await cache.save(own, entries[0], Cache(max_entries=10))
        async with shelf.database.administrator() as admin:
            counts = await rows(
                admin, "select owner, count(*) from pincite.cached_answer group by owner order by owner"
            )
        assert sorted(counts) == sorted([(anna, 1), ("local", 10)])

    with_shelf(main)


def test_what_is_wrong_with_the_table_is_told_without_its_words(with_shelf: Any) -> None:
    async def main(shelf: Any) -> None:
        await shelf.put("a.md", "Said.")
        async with shelf.database.administrator() as admin:
            await admin.execute("alter table pincite.cached_answer rename to elsewhere")
        with pytest.raises(StoreDown, match=r"kept answers cannot be used \(UndefinedTable\)"):
            await AnswerCache(shelf.database).look_up(await shelf.scope(), KEY, "Who?")

    with_shelf(main)
