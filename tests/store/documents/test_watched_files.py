"""Documents of watched files."""

from typing import Any

from pincite.core.accounts.access import Scope
from pincite.store.documents.watched_files import WatchedFiles


def test_a_document_has_one_file_and_a_file_one_document(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope, origins = await store.scope(), WatchedFiles(store.database, "here")
        first, second = await store.put("a.md", "A."), await store.put("b.md", "B.")
        await origins.record(scope, "/docs", {"a.md": first, "b.md": second})
        found = await origins.below(scope, "/docs")
        assert {path: one.document_id for path, one in found.items()} == {"a.md": first, "b.md": second}
        assert found["a.md"].checksum == (await store.library.get(scope, first)).checksum
        await origins.record(scope, "/docs", {"b.md": first})  # renamed over the other
        assert {path: one.document_id for path, one in (await origins.below(scope, "/docs")).items()} == {"b.md": first}
        await store.removal.remove(scope, first)
        assert await origins.below(scope, "/docs") == {}

    with_store(test)


def test_another_root_place_or_person_has_no_watched_files(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope, origins = await store.scope(), WatchedFiles(store.database, "here")
        document_id = await store.put("a.md", "A.")
        await origins.record(scope, "/docs", {"a.md": document_id})
        assert await origins.below(scope, "/doc") == {}
        assert await WatchedFiles(store.database, "there").below(scope, "/docs") == {}
        assert await origins.below(Scope("somebody", scope.realms), "/docs") == {}
        await origins.record(Scope("somebody", ()), "/docs", {"x.md": document_id})
        assert list(await origins.below(scope, "/docs")) == ["a.md"]

    with_store(test)
