"""The vocabulary of the readable documents."""

import asyncio
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pincite.core.accounts.access import Scope
from pincite.core.documents.document import Listing
from pincite.core.query.question import Filters
from pincite.store.database import fetch_all
from pincite.store.documents.versions import VersionArchive
from pincite.store.search.vocabulary import PostgresVocabulary

ALL = Filters()


async def kept(store: Any) -> set[str]:
    async with store.database.transaction("local") as connection:
        return {word for (word,) in await fetch_all(connection, "select word from vocabulary")}


def test_words_are_known_in_any_form(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await store.put("a.md", "Employees carry five vacation days over.")
        await store.put("b.md", "Mitarbeiter übertragen Urlaubstage.", language="de")
        vocabulary, scope = PostgresVocabulary(store.database), await store.scope()
        asked = {"vacation", "vacations", "employee", "urlaubstagen", "ubertragen", "vacaton", "kubernetes"}
        assert await vocabulary.known_words(asked, scope=scope) == asked - {"vacaton", "kubernetes"}
        assert await vocabulary.known_words([], scope=scope) == frozenset()

    with_store(test)


def test_only_plain_words_are_stored(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await store.put("a.md", "The p53 gene, RFC2119, snake_case_name, 4711, an elephant " + "x" * 31)
        assert await kept(store) == {"gene", "snake", "case", "name", "elephant"}

    with_store(test)


def test_words_are_suggested_only_from_filtered_documents(with_store: Any) -> None:
    async def test(store: Any) -> None:
        here = await store.put("a.md", "A lighthouse.", folder="coast")
        await store.put("b.md", "A greenhouse.", folder="garden/glass")
        vocabulary, scope = PostgresVocabulary(store.database), await store.scope()
        both = frozenset({"lighthouse", "greenhouse"})

        async def among(filters: Filters) -> frozenset[str]:
            return await vocabulary.words_in_scope([*both, "boathouse"], scope=scope, filters=filters)

        assert await among(ALL) == both
        assert await among(Filters(folder="coast")) == {"lighthouse"}
        assert await among(Filters(folder="garden")) == {"greenhouse"}
        assert await among(Filters(document_ids=(here,))) == {"lighthouse"}
        assert await among(Filters(document_ids=())) == frozenset()
        assert await vocabulary.known_words(both, scope=scope) == both  # words of all documents stay known

    with_store(test)


def test_words_of_a_removed_document_are_removed_unless_another_has_them(with_store: Any) -> None:
    async def test(store: Any) -> None:
        gone = await store.put("a.md", "Lighthouses and xylophones.")
        await store.put("b.md", "A lighthouse.")
        await store.removal.remove(await store.scope(), gone)
        assert await kept(store) == {"lighthouse", "lighthouses"}

    with_store(test)


def test_words_of_two_concurrently_removed_documents_are_removed(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope = await store.scope()
        for _ in range(5):
            pair = [await store.put(f"{n}.md", f"A xylophone, {'high' if n else 'deep'}.") for n in range(2)]
            await asyncio.gather(*(store.removal.remove(scope, one) for one in pair))
            assert await kept(store) == set()

    with_store(test)


def test_words_of_a_replaced_version_are_removed_with_it(with_store: Any) -> None:
    async def test(store: Any) -> None:
        vocabulary, scope = PostgresVocabulary(store.database), await store.scope()
        await store.put("a.md", "A xylophone.")
        await store.put("a.md", "A saxophone.")
        asked = ["xylophone", "saxophone"]
        assert await vocabulary.words_in_scope(asked, scope=scope, filters=ALL) == {"saxophone"}
        await store.indexing.clear_abandoned()
        assert await kept(store) == {"saxophone", "xylophone"}  # the version can still be searched
        await VersionArchive(store.database, store.files).remove_old(keep=1, days=0)
        assert await kept(store) == {"saxophone"}

    with_store(test)


async def neighbour(store: Any, database_url: str) -> Scope:
    """Add another person with an own realm; return the scope."""
    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as admin:
        await admin.execute("insert into pincite.person (id, name, role) values ('other', 'Other', 'editor')")
        await admin.execute("insert into pincite.realm (owner) values ('other')")
    return await store.library.scope("other")


def test_words_of_other_people_are_neither_known_nor_suggested(
    with_store: Any, database_url: str, tmp_path: Path
) -> None:
    async def test(store: Any) -> None:
        mine, theirs = await store.scope(), await neighbour(store, database_url)
        await store.put("a.md", "A saxophone and a xylophone.")
        store.scope = lambda: asyncio.sleep(0, theirs)
        await store.put("b.md", "A xylophone and the merger with Quendelbach.")
        vocabulary = PostgresVocabulary(store.database)
        asked = ["saxophone", "xylophone", "quendelbach", "merger"]
        seen = {"mine": {"saxophone", "xylophone"}, "theirs": {"xylophone", "quendelbach", "merger"}}
        for scope, words in ((mine, seen["mine"]), (theirs, seen["theirs"])):
            assert await vocabulary.known_words(asked, scope=scope) == words
            assert await vocabulary.words_in_scope(asked, scope=scope, filters=ALL) == words
        for scope in (
            Scope("local", ()),
            Scope("local", theirs.realms),
            Scope("", mine.realms),
            Scope("nobody", mine.realms),
        ):
            assert await vocabulary.known_words(asked, scope=scope) == frozenset()
            assert await vocabulary.words_in_scope(asked, scope=scope, filters=ALL) == frozenset()
        # words of both people stay for the one who keeps them
        [document] = (await store.library.documents(theirs, Listing()))[0]
        await store.removal.remove(theirs, document.id)
        assert await vocabulary.words_in_scope(asked, scope=mine, filters=ALL) == seen["mine"]
        assert await vocabulary.known_words(asked, scope=theirs) == frozenset()

    with_store(test)


@pytest.mark.parametrize("text", ["'; drop table vocabulary; --", "%s %(words)s", "\\x00", "{a,b}"])
def test_words_with_sql_syntax_are_plain_words(with_store: Any, text: str) -> None:
    async def test(store: Any) -> None:
        await store.put("a.md", "A xylophone.")
        vocabulary, scope = PostgresVocabulary(store.database), await store.scope()
        assert await vocabulary.known_words([text, "xylophone"], scope=scope) == {"xylophone"}
        assert await vocabulary.words_in_scope([text, "xylophone"], scope=scope, filters=ALL) == {"xylophone"}

    with_store(test)
