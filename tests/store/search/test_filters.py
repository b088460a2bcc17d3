"""Filters of a question that match nothing."""

from datetime import UTC, datetime
from typing import Any

import pytest

from pincite.core.query.question import Filters
from pincite.errors import NotFound
from pincite.store.search.filters import check_filters


@pytest.mark.parametrize(
    ("folder", "told"),
    [
        ("paper", "there is no folder 'paper'; did you mean 'papers'?"),
        ("2023", "there is no folder '2023'; did you mean 'papers/2024'?"),
        ("qqqq", "there is no folder 'qqqq'; choose one of 'a', 'b', 'papers' and 1 more"),
        ("secret", "there is no folder 'secret'; choose one of 'a', 'b', 'papers' and 1 more"),
    ],
)
def test_an_unknown_folder_is_an_error_with_known_ones(with_store: Any, folder: str, told: str) -> None:
    async def test(store: Any) -> None:
        for path in ("papers/2024", "a", "b"):
            await store.put(f"{path[0]}.md", "heron", folder=path)
        scope = await store.scope()
        for known in ("papers", "papers/2024", "a", ""):
            assert await check_filters(store.database, scope, Filters(folder=known)) == []
        with pytest.raises(NotFound) as raised:
            await check_filters(store.database, scope, Filters(folder=folder))
        assert str(raised.value) == told

    with_store(test)


def test_without_folders_the_message_says_so(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await store.put("a.md", "heron")
        with pytest.raises(NotFound, match="there is no folder 'x'; no document is in a folder"):
            await check_filters(store.database, await store.scope(), Filters(folder="x"))

    with_store(test)


def test_unknown_documents_and_tags_are_warnings(with_store: Any) -> None:
    async def test(store: Any) -> None:
        known = await store.put("a.md", "heron")
        filters = Filters(document_ids=(known, "n1", "n2", "n3", "n4"), tags=("sea",))
        told = await check_filters(store.database, await store.scope(), filters)
        assert told == ["there is no document 'n1', 'n2', 'n3' and 1 more", "no document has the tag 'sea'"]

    with_store(test)


def test_a_time_before_the_first_version_is_a_warning(with_store: Any) -> None:
    async def test(store: Any) -> None:
        old, new = await store.put("a.md", "heron", folder="a"), await store.put("b.md", "stork", folder="b")
        async with store.database.administrator() as admin:
            await admin.execute(
                "update pincite.version set created_at = '2020-05-01 10:30Z' where document_id = %s", (old,)
            )
            await admin.execute(
                "update pincite.version set created_at = '2022-05-01 10:30Z' where document_id = %s", (new,)
            )
        scope, moment = await store.scope(), datetime(2021, 1, 1, tzinfo=UTC)
        told = "no document is as old as 2021-01-01 00:00 UTC; the first version was added at 2022-05-01 10:30 UTC"
        for filters in (Filters(folder="b", as_of=moment), Filters(document_ids=(new,), as_of=moment)):
            assert await check_filters(store.database, scope, filters) == [told]
        assert await check_filters(store.database, scope, Filters(as_of=moment)) == []
        assert await check_filters(store.database, scope, Filters(folder="a", as_of=moment)) == []

    with_store(test)
