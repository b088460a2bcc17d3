"""Changing title, tags, folder and name of documents."""

from typing import Any

import pytest

from pincite.core.documents.document import DocumentChange
from pincite.errors import Conflict, NotFound
from pincite.store.documents.rename import DocumentEditor


def test_a_document_gets_another_title_tags_folder_and_name_and_keeps_its_id(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope, filing = await store.scope(), DocumentEditor(store.database)
        document_id = await store.put("a.md", "Cats purr.", folder="old")
        await filing.update(scope, document_id, DocumentChange("Cats", ("x", "y"), "new/place", "b.md"))
        found = await store.library.get(scope, document_id)
        assert (found.title, found.tags, found.folder, found.name) == ("Cats", ("x", "y"), "new/place", "b.md")
        await filing.update(scope, document_id, DocumentChange(tags=()))
        found = await store.library.get(scope, document_id)
        assert (found.title, found.tags, found.folder) == ("Cats", (), "new/place")

    with_store(test)


def test_a_title_equal_to_the_file_name_changes_with_it(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope, document_id = await store.scope(), await store.put("a.md", "Cats purr.")
        assert (await store.library.get(scope, document_id)).title == "a.md"
        await DocumentEditor(store.database).update(scope, document_id, DocumentChange(name="b.md"))
        assert (await store.library.get(scope, document_id)).title == "b.md"

    with_store(test)


def test_a_document_cannot_be_moved_onto_an_existing_name(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope, filing = await store.scope(), DocumentEditor(store.database)
        first, _ = await store.put("a.md", "Cats."), await store.put("a.md", "Dogs.", folder="other")
        with pytest.raises(Conflict, match="same name in the folder 'other'"):
            await filing.update(scope, first, DocumentChange(folder="other"))
        with pytest.raises(NotFound):
            await filing.update(scope, "nonesuch", DocumentChange(folder="other"))

    with_store(test)


def test_a_file_can_be_uploaded_again_after_its_document_was_moved(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope, first = await store.scope(), await store.put("a.md", "Cats purr.")
        await DocumentEditor(store.database).update(scope, first, DocumentChange(folder="away"))
        second = await store.put("a.md", "Cats purr.")
        assert second != first
        assert (await store.library.get(scope, first)).folder == "away"

    with_store(test)
