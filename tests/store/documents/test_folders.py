"""Folders."""

from typing import Any

import pytest

from pincite.core.accounts.access import Scope
from pincite.core.documents.document import Folder
from pincite.errors import Conflict, NotFound
from pincite.store.documents.folders import Folders


def test_a_folder_exists_if_it_has_documents_or_was_created(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope, folders = await store.scope(), Folders(store.database)
        await store.put("top.md", "Cats.")
        await store.put("a.md", "Cats.", folder="hr/rules")
        await store.put("b.md", "Dogs.", folder="hr")
        await folders.make(scope, Folder("it/help", "Be brief.", "Help"))
        assert await folders.all(scope) == [
            Folder("hr", documents=2),
            Folder("hr/rules", documents=1),
            Folder("it"),
            Folder("it/help", "Be brief.", "Help"),
        ]
        assert await folders.all(Scope("nobody", ())) == []
        with pytest.raises(NotFound):
            await folders.get(scope, "hr/none")
        with pytest.raises(Conflict):
            await folders.make(scope, Folder("it/help"))

    with_store(test)


def test_the_nearest_prompt_and_label_apply(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope, folders = await store.scope(), Folders(store.database)
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

    with_store(test)


def test_a_folder_moves_with_its_content_and_ids_stay(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope, folders = await store.scope(), Folders(store.database)
        deep, near = await store.put("a.md", "A.", folder="hr/old"), await store.put("b.md", "B.", folder="hrx")
        await folders.make(scope, Folder("hr", "Be formal."))
        await folders.move(scope, "hr", "people/hr")
        assert (await store.library.get(scope, deep)).folder == "people/hr/old"
        assert (await store.library.get(scope, near)).folder == "hrx"
        assert await folders.prompt(scope, "people/hr/old") == "Be formal."
        await folders.move(scope, "people/hr", "people/hr/archive")  # into itself
        assert (await store.library.get(scope, deep)).folder == "people/hr/archive/old"
        with pytest.raises(NotFound):
            await folders.move(scope, "nonesuch", "x")

    with_store(test)


def test_a_folder_move_with_a_name_conflict_moves_nothing(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope, folders = await store.scope(), Folders(store.database)
        first, _ = await store.put("a.md", "A.", folder="x"), await store.put("a.md", "B.", folder="y")
        other = await store.put("c.md", "C.", folder="x")
        with pytest.raises(Conflict, match="same name"):
            await folders.move(scope, "x", "y")
        assert {(await store.library.get(scope, one)).folder for one in (first, other)} == {"x"}

    with_store(test)


def test_only_a_folder_without_documents_is_removed(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope, folders = await store.scope(), Folders(store.database)
        document_id = await store.put("a.md", "A.", folder="x/y")
        await folders.make(scope, Folder("x", "Prompt."))
        assert await folders.own_documents(scope, "x") == [document_id]
        with pytest.raises(Conflict, match="contains documents"):
            await folders.remove(scope, "x")
        await store.removal.remove(scope, document_id)
        await folders.remove(scope, "x")
        assert await folders.all(scope) == []

    with_store(test)
