"""Documents filed anew."""

from typing import Any

import pytest

from pincite.core.documents.document import DocumentChange
from pincite.errors import Conflict, NotFound
from pincite.store.documents.rename import DocumentEditor


def test_a_document_gets_another_title_tags_folder_and_name_and_keeps_its_id(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope, filing = await shelf.scope(), DocumentEditor(shelf.database)
        document_id = await shelf.put("a.md", "Cats purr.", folder="old")
        await filing.update(scope, document_id, DocumentChange("Cats", ("x", "y"), "new/place", "b.md"))
        found = await shelf.library.get(scope, document_id)
        assert (found.title, found.tags, found.folder, found.name) == ("Cats", ("x", "y"), "new/place", "b.md")
        await filing.update(scope, document_id, DocumentChange(tags=()))
        found = await shelf.library.get(scope, document_id)
        assert (found.title, found.tags, found.folder) == ("Cats", (), "new/place")

    with_shelf(test)


def test_a_title_that_is_the_files_name_follows_it(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope, document_id = await shelf.scope(), await shelf.put("a.md", "Cats purr.")
        assert (await shelf.library.get(scope, document_id)).title == "a.md"
        await DocumentEditor(shelf.database).update(scope, document_id, DocumentChange(name="b.md"))
        assert (await shelf.library.get(scope, document_id)).title == "b.md"

    with_shelf(test)


def test_no_document_takes_anothers_place(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope, filing = await shelf.scope(), DocumentEditor(shelf.database)
        first, _ = await shelf.put("a.md", "Cats."), await shelf.put("a.md", "Dogs.", folder="other")
        with pytest.raises(Conflict, match="same name in the folder 'other'"):
            await filing.update(scope, first, DocumentChange(folder="other"))
        with pytest.raises(NotFound):
            await filing.update(scope, "nonesuch", DocumentChange(folder="other"))

    with_shelf(test)


def test_the_same_file_may_come_in_again_where_one_was_moved_away(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope, first = await shelf.scope(), await shelf.put("a.md", "Cats purr.")
        await DocumentEditor(shelf.database).update(scope, first, DocumentChange(folder="away"))
        second = await shelf.put("a.md", "Cats purr.")
        assert second != first
        assert (await shelf.library.get(scope, first)).folder == "away"

    with_shelf(test)
