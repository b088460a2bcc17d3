"""Budgets in the database: taken in shares, concurrently, and only for oneself."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from pincite.core.accounts.access import Scope
from pincite.core.documents.document import Upload
from pincite.errors import Invalid, NotAllowed, NotFound, OverBudget, OverQuota
from pincite.store.access.usage import Quota, UsageStore
from pincite.store.access.users import Users
from pincite.store.database import fetch_all
from pincite.store.indexing.uploads import UploadStore


async def bob_of(store: Any) -> Scope:
    await Users(store.database).add("local", "bob", "editor")
    scope: Scope = await store.library.scope("bob")
    return scope


def test_a_budget_is_taken_in_parts_until_nothing_is_left(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await bob_of(store)
        budgets = UsageStore(store.database)
        taken = [await budgets.take("requests_per_minute", 45, person="bob", share=4) for _ in range(6)]
        assert [one.amount for one in taken] == [11, 11, 11, 11, 1, 0]
        assert [one.used for one in taken] == [0, 11, 22, 33, 44, 45]
        assert {one.most for one in taken} == {45}
        assert all(0 < one.left_s <= 60 for one in taken)
        assert (await budgets.take("requests_per_minute", 45, person="local")).amount == 2  # others have their own
        assert (await budgets.take("anonymous_per_minute", 40, address="192.0.2.1")).amount == 2
        free = await budgets.take("questions_per_minute", 0, person="bob")
        assert (free.amount, free.most) == (0, 0)

    with_store(test)


def test_concurrent_takes_never_exceed_the_budget(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await bob_of(store)
        budgets = UsageStore(store.database)
        taken = await asyncio.gather(
            *(budgets.take("requests_per_minute", 7, person="bob", share=7) for _ in range(50))
        )
        assert sum(one.amount for one in taken) == 7

    with_store(test)


def test_tokens_are_reserved_completely_or_not_and_corrected_later(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await bob_of(store)
        budgets = UsageStore(store.database)
        taken = await asyncio.gather(*(budgets.reserve("bob", "tokens_per_day", 1000, 3500) for _ in range(50)))
        assert sorted(one.amount for one in taken)[-4:] == [0, 1000, 1000, 1000]
        await budgets.settle("bob", "tokens_per_day", -2990)
        assert (await budgets.used("bob", "bob")).tokens_today == 10
        await budgets.settle("bob", "tokens_per_day", -100)
        assert (await budgets.used("bob", "bob")).tokens_today == 0

    with_store(test)


def test_of_fifty_concurrent_streams_only_the_allowed_number_begins(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await bob_of(store)
        budgets, leaving, begun = UsageStore(store.database), asyncio.Event(), 0

        async def stream() -> None:
            nonlocal begun
            async with budgets.streaming("bob", 7, 60):
                begun += 1
                await leaving.wait()

        streams = [asyncio.create_task(stream()) for _ in range(50)]
        while sum(one.done() for one in streams) < 43:
            await asyncio.sleep(0.01)
        assert begun == 7
        assert (await budgets.used("bob", "bob")).streams == 7
        leaving.set()
        refused = [one for one in await asyncio.gather(*streams, return_exceptions=True) if one]
        codes = {(type(one), getattr(one, "code", None)) for one in refused}
        assert codes == {(OverBudget, "too_many_streams")}
        assert (await budgets.used("bob", "bob")).streams == 0
        async with budgets.streaming("bob", 7, 60):  # a place is free again
            pass

    with_store(test)


def test_a_stream_of_a_dead_server_expires(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await bob_of(store)
        budgets = UsageStore(store.database)
        lost = budgets.streaming("bob", 1, 0.05)
        await lost.__aenter__()
        await asyncio.sleep(0.1)
        async with budgets.streaming("bob", 1, 60):
            assert (await budgets.used("bob", "bob")).streams == 1
        await budgets.remove_expired()
        async with store.database.administrator() as admin:
            assert await fetch_all(admin, "select * from pincite.streaming") == []

    with_store(test)


@pytest.mark.parametrize("size", [10, 40_000])  # stored together, and one by one
@pytest.mark.parametrize(
    ("quota", "code", "fit"),
    [
        (Quota(documents=7), "quota_documents", 7),
        (Quota(jobs=7), "quota_jobs", 7),
        (Quota(documents=20, jobs=5), "quota_jobs", 5),
    ],
)
def test_of_fifty_concurrent_uploads_exactly_the_allowed_number_is_stored(
    with_store: Any, tmp_path: Path, size: int, quota: Quota, code: str, fit: int
) -> None:
    async def test(store: Any) -> None:
        scope = await bob_of(store)
        intake = UploadStore(store.database, store.originals, "s1", quota)
        ended = await asyncio.gather(
            *(
                intake.accept(scope, Upload(f"{n}.md", b"x" * size), mime="text/markdown", checksum=str(n))
                for n in range(50)
            ),
            return_exceptions=True,
        )
        refused = [one for one in ended if isinstance(one, Exception)]
        assert {one.code for one in refused} == {code}  # type: ignore[attr-defined]
        assert len(ended) - len(refused) == fit
        used = await UsageStore(store.database).used("local", "bob")
        assert (used.documents, used.jobs, used.storage_bytes) == (fit, fit, fit * size)
        assert len(list(tmp_path.rglob("*Z"))) == fit  # and no file is left

    with_store(test)


def test_storage_counts_every_version_and_a_removal_frees_it(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope = await bob_of(store)
        intake = UploadStore(store.database, store.originals, "s1", Quota(storage_mb=1))

        async def accept(name: str, size: int) -> str:
            upload = Upload(name, b"x" * size)
            document, _ = await intake.accept(scope, upload, mime="text/markdown", checksum=f"{name} {size}")
            return document.id

        first = await accept("a.md", 400_000)
        await accept("a.md", 400_001)
        with pytest.raises(OverQuota, match=r"your files use 0\.8 MB of 1 MB .* does not fit") as refused:
            await accept("b.md", 400_000)
        assert (refused.value.status, refused.value.code) == (409, "quota_storage")
        await accept("small.md", 1000)
        await store.removal.remove(await store.library.scope("bob"), first)
        scope = await store.library.scope("bob")
        await accept("b.md", 400_000)

    with_store(test)


def test_the_owner_of_the_data_folder_has_no_storage_limits(with_store: Any) -> None:
    async def test(store: Any) -> None:
        store.intake = UploadStore(store.database, store.originals, "s1", Quota(documents=1))
        for name in ("a.md", "b.md"):
            await store.accept(name, name)
        await UsageStore(store.database).allow("local", "local", {"documents": 2})  # unless they wish otherwise
        with pytest.raises(OverQuota):
            await store.accept("c.md", "c")

    with_store(test)


def test_a_personal_limit_takes_precedence_and_only_administrators_set_it(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await bob_of(store)
        budgets = UsageStore(store.database)
        await budgets.allow("local", "bob", {"requests_per_minute": 3, "streams": 0})
        assert (await budgets.take("requests_per_minute", 1000, person="bob")).most == 3
        async with budgets.streaming("bob", 1, 60), budgets.streaming("bob", 1, 60):
            pass
        assert dict((await budgets.used("bob", "bob")).own) == {"requests_per_minute": 3, "streams": 0}
        async with store.database.administrator() as admin:
            query = "select count(*) from pincite.audit_event where event = 'user.limit'"
            assert await fetch_all(admin, query) == [(1,)]
        await budgets.allow("local", "bob", {"requests_per_minute": None})
        assert dict((await budgets.used("bob", "bob")).own) == {"streams": 0}
        for by in ("bob", "", "nobody"):
            with pytest.raises(NotAllowed):
                await budgets.allow(by, "bob", {"streams": 1})
        with pytest.raises(Invalid, match="there is no limit 'sream'"):
            await budgets.allow("local", "bob", {"sream": 1})
        async with store.database.transaction("bob") as connection:
            assert (await connection.execute("update allowance set most = 0")).rowcount == 0
            assert await fetch_all(connection, "select * from spent") == []
            assert await fetch_all(connection, "select * from streaming") == []

    with_store(test)


def test_usage_is_visible_to_the_person_and_administrators_only(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await bob_of(store)
        await store.put("a.md", "one text")
        budgets = UsageStore(store.database)
        assert (await budgets.used("local", "local")).documents == 1
        with pytest.raises(NotFound):
            await budgets.used("bob", "local")

    with_store(test)
