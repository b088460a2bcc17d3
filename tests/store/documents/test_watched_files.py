"""Which document came from which file."""

from typing import Any

from pincite.core.accounts.access import Scope
from pincite.store.documents.watched_files import WatchedFiles


def test_a_document_has_one_file_and_a_file_one_document(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope, origins = await shelf.scope(), WatchedFiles(shelf.database, "here")
        first, second = await shelf.put("a.md", "A."), await shelf.put("b.md", "B.")
        await origins.record(scope, "/docs", {"a.md": first, "b.md": second})
        found = await origins.below(scope, "/docs")
        assert {path: one.document_id for path, one in found.items()} == {"a.md": first, "b.md": second}
        assert found["a.md"].checksum == (await shelf.library.get(scope, first)).checksum
        await origins.record(scope, "/docs", {"b.md": first})  # renamed over the other
        assert {path: one.document_id for path, one in (await origins.below(scope, "/docs")).items()} == {"b.md": first}
        await shelf.removal.remove(scope, first)
        assert await origins.below(scope, "/docs") == {}

    with_shelf(test)


def test_another_root_place_or_person_knows_nothing_of_it(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope, origins = await shelf.scope(), WatchedFiles(shelf.database, "here")
        document_id = await shelf.put("a.md", "A.")
        await origins.record(scope, "/docs", {"a.md": document_id})
        assert await origins.below(scope, "/doc") == {}
        assert await WatchedFiles(shelf.database, "there").below(scope, "/docs") == {}
        assert await origins.below(Scope("somebody", scope.realms), "/docs") == {}
        await origins.record(Scope("somebody", ()), "/docs", {"x.md": document_id})
        assert list(await origins.below(scope, "/docs")) == ["a.md"]

    with_shelf(test)
