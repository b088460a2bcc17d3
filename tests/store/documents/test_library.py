from typing import Any

import pytest

from pincite.core.accounts.access import Scope
from pincite.core.documents.document import Listing
from pincite.errors import Invalid, NotFound


def test_a_document_of_somebody_else_is_not_there(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        document_id = await shelf.put("a.md", "mine")
        [realm] = (await shelf.scope()).realms
        for stranger in (Scope("stranger", (realm,)), Scope("stranger", ()), Scope("local", ())):
            for call in (shelf.library.get, shelf.library.text, shelf.removal.remove, shelf.library.versions):
                with pytest.raises(NotFound):
                    await call(stranger, document_id)
            assert await shelf.library.documents(stranger, Listing()) == ([], None)

    with_shelf(test)


def test_listing_by_folder_status_words_and_page(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        for name, folder in [("a.md", ""), ("b.md", "hr"), ("c.md", "hr/policies"), ("d.md", "hrx")]:
            await shelf.put(name, f"text of {name}", folder=folder)
        await shelf.accept("waiting.md", "later")
        scope = await shelf.scope()

        async def names(**listing: Any) -> list[str]:
            return [document.name for document in (await shelf.library.documents(scope, Listing(**listing)))[0]]

        assert await names() == ["a.md", "waiting.md", "b.md", "c.md", "d.md"]
        assert await names(folder="hr") == ["b.md", "c.md"]
        assert await names(status="pending") == ["waiting.md"]
        assert await names(q="WAIT") == ["waiting.md"]
        assert await names(q="%") == []
        page, cursor = await shelf.library.documents(scope, Listing(limit=3))
        rest, end = await shelf.library.documents(scope, Listing(limit=3, cursor=cursor))
        assert [d.name for d in page + rest] == await names()
        assert end is None
        with pytest.raises(Invalid, match="cursor"):
            await shelf.library.documents(scope, Listing(cursor="nonsense"))

    with_shelf(test)
