"""Which documents came from the web."""

from dataclasses import replace
from typing import Any

from pincite.core.accounts.access import Scope
from pincite.store.documents.web_fetches import Fetch, Fetches

URL = "https://site.example/a"


def test_a_document_is_known_by_its_address(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope, fetches = await shelf.scope(), Fetches(shelf.database)
        assert await fetches.known(scope, URL) is None
        document_id = await shelf.put("a.md", "A.")
        await fetches.record(scope, document_id, URL, etag='"1"', modified="then")
        assert await fetches.known(scope, URL) == Fetch(document_id, "", "a.md", '"1"', "then")
        await fetches.record(scope, document_id, URL, etag='"2"', modified="")
        assert (await fetches.known(scope, URL)) == Fetch(document_id, "", "a.md", '"2"', "")
        await shelf.removal.remove(scope, document_id)
        assert await fetches.known(scope, URL) is None

    with_shelf(test)


def test_stamps_count_only_for_the_bytes_that_were_fetched(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope, fetches = await shelf.scope(), Fetches(shelf.database)
        document_id = await shelf.put("a.md", "A.")
        await fetches.record(scope, document_id, URL, etag='"1"', modified="then")
        assert await shelf.put("a.md", "B.") == document_id
        assert await fetches.known(scope, URL) == Fetch(document_id, "", "a.md", "", "")

    with_shelf(test)


def test_nobody_knows_of_others_documents(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope, fetches = await shelf.scope(), Fetches(shelf.database)
        document_id = await shelf.put("a.md", "A.")
        await fetches.record(scope, document_id, URL, etag="", modified="")
        for other in (Scope("somebody", scope.realms), replace(scope, realms=())):
            assert await fetches.known(other, URL) is None
        assert await fetches.is_taken(scope, "", "a.md")
        assert not await fetches.is_taken(scope, "", "b.md")
        assert not await fetches.is_taken(Scope("somebody", ()), "", "a.md")
        await fetches.record(Scope("somebody", ()), document_id, "https://evil.example/", etag="", modified="")
        assert await fetches.known(scope, URL) is not None

    with_shelf(test)
