"""Folders in the database."""

from typing import Any

import pytest

from pincite.core.accounts.access import Scope
from pincite.core.documents.document import Folder
from pincite.errors import Conflict, NotFound
from pincite.store.documents.folders import Folders


def test_a_folder_is_there_where_documents_lie_or_somebody_made_it(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope, folders = await shelf.scope(), Folders(shelf.database)
        await shelf.put("top.md", "Cats.")
        await shelf.put("a.md", "Cats.", folder="hr/rules")
        await shelf.put("b.md", "Dogs.", folder="hr")
        await folders.make(scope, Folder("it/help", "Be brief.", "Help"))
        assert await folders.all(scope) == [
            Folder("hr", documents=2), Folder("hr/rules", documents=1), Folder("it"), Folder("it/help", "Be brief.", "Help"),
        ]  # fmt: skip
        assert await folders.all(Scope("nobody", ())) == []
        with pytest.raises(NotFound):
            await folders.get(scope, "hr/none")
        with pytest.raises(Conflict):
            await folders.make(scope, Folder("it/help"))

    with_shelf(test)


def test_the_nearest_prompt_and_label_hold(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope, folders = await shelf.scope(), Folders(shelf.database)
        await folders.make(scope, Folder("hr", "Be formal.", "Human resources"))
        await folders.make(scope, Folder("hr/jokes", "Be funny."))
        assert await folders.prompt(scope, "hr") == "Be formal."
        assert await folders.prompt(scope, "hr/rules/2024") == "Be formal."
        assert await folders.prompt(scope, "hr/jokes/old") == "Be funny."
        assert await folders.prompt(scope, "hrx") is None
        assert await folders.labels(scope) == {"hr": "Human resources"}
        await folders.update(scope, Folder("hr/jokes", None))
        assert await folders.prompt(scope, "hr/jokes/old") == "Be formal."
        assert await folders.prompt(Scope("somebody", ()), "hr") is None

    with_shelf(test)


def test_a_folder_moves_with_all_that_is_in_it_and_ids_stay(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope, folders = await shelf.scope(), Folders(shelf.database)
        deep, near = await shelf.put("a.md", "A.", folder="hr/old"), await shelf.put("b.md", "B.", folder="hrx")
        await folders.make(scope, Folder("hr", "Be formal."))
        await folders.move(scope, "hr", "people/hr")
        assert (await shelf.library.get(scope, deep)).folder == "people/hr/old"
        assert (await shelf.library.get(scope, near)).folder == "hrx"
        assert await folders.prompt(scope, "people/hr/old") == "Be formal."
        await folders.move(scope, "people/hr", "people/hr/archive")  # into itself
        assert (await shelf.library.get(scope, deep)).folder == "people/hr/archive/old"
        with pytest.raises(NotFound):
            await folders.move(scope, "nonesuch", "x")

    with_shelf(test)


def test_a_move_that_would_put_two_documents_in_one_place_moves_nothing(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope, folders = await shelf.scope(), Folders(shelf.database)
        first, _ = await shelf.put("a.md", "A.", folder="x"), await shelf.put("a.md", "B.", folder="y")
        other = await shelf.put("c.md", "C.", folder="x")
        with pytest.raises(Conflict, match="same name"):
            await folders.move(scope, "x", "y")
        assert {(await shelf.library.get(scope, one)).folder for one in (first, other)} == {"x"}

    with_shelf(test)


def test_only_a_folder_without_documents_is_forgotten(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        scope, folders = await shelf.scope(), Folders(shelf.database)
        document_id = await shelf.put("a.md", "A.", folder="x/y")
        await folders.make(scope, Folder("x", "Prompt."))
        assert await folders.own_documents(scope, "x") == [document_id]
        with pytest.raises(Conflict, match="contains documents"):
            await folders.remove(scope, "x")
        await shelf.removal.remove(scope, document_id)
        await folders.remove(scope, "x")
        assert await folders.all(scope) == []

    with_shelf(test)
