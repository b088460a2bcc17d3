from typing import Any

import pytest

from pincite.core.accounts.access import Scope
from pincite.core.documents.document import Listing
from pincite.errors import Invalid, NotFound


def test_another_persons_document_is_not_found(with_store: Any) -> None:
    async def test(store: Any) -> None:
        document_id = await store.put("a.md", "mine")
        [realm] = (await store.scope()).realms
        for stranger in (Scope("stranger", (realm,)), Scope("stranger", ()), Scope("local", ())):
            for call in (store.library.get, store.library.text, store.removal.remove, store.library.versions):
                with pytest.raises(NotFound):
                    await call(stranger, document_id)
            assert await store.library.documents(stranger, Listing()) == ([], None)

    with_store(test)


def test_listing_by_folder_status_words_and_page(with_store: Any) -> None:
    async def test(store: Any) -> None:
        for name, folder in [("a.md", ""), ("b.md", "hr"), ("c.md", "hr/policies"), ("d.md", "hrx")]:
            await store.put(name, f"text of {name}", folder=folder)
        await store.accept("waiting.md", "later")
        scope = await store.scope()

        async def names(**listing: Any) -> list[str]:
            return [document.name for document in (await store.library.documents(scope, Listing(**listing)))[0]]

        assert await names() == ["a.md", "waiting.md", "b.md", "c.md", "d.md"]
        assert await names(folder="hr") == ["b.md", "c.md"]
        assert await names(status="pending") == ["waiting.md"]
        assert await names(q="WAIT") == ["waiting.md"]
        assert await names(q="%") == []
        page, cursor = await store.library.documents(scope, Listing(limit=3))
        rest, end = await store.library.documents(scope, Listing(limit=3, cursor=cursor))
        assert [d.name for d in page + rest] == await names()
        assert end is None
        with pytest.raises(Invalid, match="cursor"):
            await store.library.documents(scope, Listing(cursor="nonsense"))

    with_store(test)
