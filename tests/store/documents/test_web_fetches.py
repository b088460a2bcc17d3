"""Documents fetched from the web."""

from dataclasses import replace
from typing import Any

from pincite.core.accounts.access import Scope
from pincite.store.documents.web_fetches import Fetch, Fetches

URL = "https://site.example/a"


def test_a_fetched_document_is_found_by_its_url(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope, fetches = await store.scope(), Fetches(store.database)
        assert await fetches.known(scope, URL) is None
        document_id = await store.put("a.md", "A.")
        await fetches.record(scope, document_id, URL, etag='"1"', modified="then")
        assert await fetches.known(scope, URL) == Fetch(document_id, "", "a.md", '"1"', "then")
        await fetches.record(scope, document_id, URL, etag='"2"', modified="")
        assert (await fetches.known(scope, URL)) == Fetch(document_id, "", "a.md", '"2"', "")
        await store.removal.remove(scope, document_id)
        assert await fetches.known(scope, URL) is None

    with_store(test)


def test_validators_apply_only_to_the_fetched_bytes(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope, fetches = await store.scope(), Fetches(store.database)
        document_id = await store.put("a.md", "A.")
        await fetches.record(scope, document_id, URL, etag='"1"', modified="then")
        assert await store.put("a.md", "B.") == document_id
        assert await fetches.known(scope, URL) == Fetch(document_id, "", "a.md", "", "")

    with_store(test)


def test_fetches_of_others_are_not_visible(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope, fetches = await store.scope(), Fetches(store.database)
        document_id = await store.put("a.md", "A.")
        await fetches.record(scope, document_id, URL, etag="", modified="")
        for other in (Scope("somebody", scope.realms), replace(scope, realms=())):
            assert await fetches.known(other, URL) is None
        assert await fetches.is_taken(scope, "", "a.md")
        assert not await fetches.is_taken(scope, "", "b.md")
        assert not await fetches.is_taken(Scope("somebody", ()), "", "a.md")
        await fetches.record(Scope("somebody", ()), document_id, "https://evil.example/", etag="", modified="")
        assert await fetches.known(scope, URL) is not None

    with_store(test)
