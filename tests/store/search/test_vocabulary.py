"""The words of the documents somebody may see."""

import asyncio
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pincite.core.accounts.access import Scope
from pincite.core.documents.document import Listing
from pincite.core.query.question import Filters
from pincite.store.database import rows
from pincite.store.documents.versions import VersionArchive
from pincite.store.search.vocabulary import PostgresVocabulary

ALL = Filters()


async def kept(shelf: Any) -> set[str]:
    async with shelf.database.transaction("local") as connection:
        return {word for (word,) in await rows(connection, "select word from vocabulary")}


def test_words_are_held_in_any_form_of_theirs(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await shelf.put("a.md", "Employees carry five vacation days over.")
        await shelf.put("b.md", "Mitarbeiter übertragen Urlaubstage.", language="de")
        vocabulary, scope = PostgresVocabulary(shelf.database), await shelf.scope()
        asked = {"vacation", "vacations", "employee", "urlaubstagen", "ubertragen", "vacaton", "kubernetes"}
        assert await vocabulary.known_words(asked, scope=scope) == asked - {"vacaton", "kubernetes"}
        assert await vocabulary.known_words([], scope=scope) == frozenset()

    with_shelf(test)


def test_nothing_but_plain_words_is_kept(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await shelf.put("a.md", "The p53 gene, RFC2119, snake_case_name, 4711, an elephant " + "x" * 31)
        assert await kept(shelf) == {"gene", "snake", "case", "name", "elephant"}

    with_shelf(test)


def test_a_word_is_suggested_only_from_what_the_filter_leaves(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        here = await shelf.put("a.md", "A lighthouse.", folder="coast")
        await shelf.put("b.md", "A greenhouse.", folder="garden/glass")
        vocabulary, scope = PostgresVocabulary(shelf.database), await shelf.scope()
        both = frozenset({"lighthouse", "greenhouse"})

        async def among(filters: Filters) -> frozenset[str]:
            return await vocabulary.words_in([*both, "boathouse"], scope=scope, filters=filters)

        assert await among(ALL) == both
        assert await among(Filters(folder="coast")) == {"lighthouse"}
        assert await among(Filters(folder="garden")) == {"greenhouse"}
        assert await among(Filters(document_ids=(here,))) == {"lighthouse"}
        assert await among(Filters(document_ids=())) == frozenset()
        assert await vocabulary.known_words(both, scope=scope) == both  # and left alone wherever it stands

    with_shelf(test)


def test_words_of_a_removed_document_are_forgotten_unless_another_holds_them(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        gone = await shelf.put("a.md", "Lighthouses and xylophones.")
        await shelf.put("b.md", "A lighthouse.")
        await shelf.removal.remove(await shelf.scope(), gone)
        assert await kept(shelf) == {"lighthouse", "lighthouses"}

    with_shelf(test)


def test_the_words_of_two_documents_removed_at_once_are_forgotten(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope = await shelf.scope()
        for _ in range(5):
            pair = [await shelf.put(f"{n}.md", f"A xylophone, {'high' if n else 'deep'}.") for n in range(2)]
            await asyncio.gather(*(shelf.removal.remove(scope, one) for one in pair))
            assert await kept(shelf) == set()

    with_shelf(test)


def test_words_of_a_replaced_version_are_forgotten_with_the_version(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        vocabulary, scope = PostgresVocabulary(shelf.database), await shelf.scope()
        await shelf.put("a.md", "A xylophone.")
        await shelf.put("a.md", "A saxophone.")
        asked = ["xylophone", "saxophone"]
        assert await vocabulary.words_in(asked, scope=scope, filters=ALL) == {"saxophone"}
        await shelf.indexing.clear_abandoned()
        assert await kept(shelf) == {"saxophone", "xylophone"}  # the version can still be asked
        await VersionArchive(shelf.database, shelf.files).forget(keep=1, days=0)
        assert await kept(shelf) == {"saxophone"}

    with_shelf(test)


async def neighbour(shelf: Any, database_url: str) -> Scope:
    """Somebody else with a realm of their own."""
    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as admin:
        await admin.execute("insert into pincite.person (id, name, role) values ('other', 'Other', 'editor')")
        await admin.execute("insert into pincite.realm (owner) values ('other')")
    return await shelf.library.scope("other")


def test_foreign_words_are_neither_held_nor_suggested(with_shelf: Any, database_url: str, tmp_path: Path) -> None:
    async def test(shelf: Any) -> None:
        mine, theirs = await shelf.scope(), await neighbour(shelf, database_url)
        await shelf.put("a.md", "A saxophone and a xylophone.")
        shelf.scope = lambda: asyncio.sleep(0, theirs)
        await shelf.put("b.md", "A xylophone and the merger with Quendelbach.")
        vocabulary = PostgresVocabulary(shelf.database)
        asked = ["saxophone", "xylophone", "quendelbach", "merger"]
        seen = {"mine": {"saxophone", "xylophone"}, "theirs": {"xylophone", "quendelbach", "merger"}}
        for scope, words in ((mine, seen["mine"]), (theirs, seen["theirs"])):
            assert await vocabulary.known_words(asked, scope=scope) == words
            assert await vocabulary.words_in(asked, scope=scope, filters=ALL) == words
        for scope in (
            Scope("local", ()),
            Scope("local", theirs.realms),
            Scope("", mine.realms),
            Scope("nobody", mine.realms),
        ):
            assert await vocabulary.known_words(asked, scope=scope) == frozenset()
            assert await vocabulary.words_in(asked, scope=scope, filters=ALL) == frozenset()
        # what both hold stays with the one who keeps it
        [document] = (await shelf.library.documents(theirs, Listing()))[0]
        await shelf.removal.remove(theirs, document.id)
        assert await vocabulary.words_in(asked, scope=mine, filters=ALL) == seen["mine"]
        assert await vocabulary.known_words(asked, scope=theirs) == frozenset()

    with_shelf(test)


@pytest.mark.parametrize("text", ["'; drop table vocabulary; --", "%s %(words)s", "\\x00", "{a,b}"])
def test_hostile_words_are_words(with_shelf: Any, text: str) -> None:
    async def test(shelf: Any) -> None:
        await shelf.put("a.md", "A xylophone.")
        vocabulary, scope = PostgresVocabulary(shelf.database), await shelf.scope()
        assert await vocabulary.known_words([text, "xylophone"], scope=scope) == {"xylophone"}
        assert await vocabulary.words_in([text, "xylophone"], scope=scope, filters=ALL) == {"xylophone"}

    with_shelf(test)
