import asyncio
from typing import Any

import pytest

from pincite.errors import NotFound, Unauthorized
from pincite.store.access.api_keys import ApiKeys


def test_a_key_is_known_until_it_is_revoked(with_store: Any) -> None:
    async def test(store: Any) -> None:
        keys = ApiKeys(store.database)
        key, key_id = await keys.create("local", "laptop", "reader", None)
        caller = await keys.recognise(key)
        assert (caller.person, caller.role, caller.key_id) == ("local", "reader", key_id)
        await keys.revoke("local", key_id)
        with pytest.raises(Unauthorized):
            await keys.recognise(key)
        assert (await keys.all("local"))[0].revoked_at is not None
        with pytest.raises(NotFound):
            await keys.revoke("stranger", key_id)

    with_store(test)


@pytest.mark.parametrize("wrong", ["", "pc_", "pc_wrong", "\x00", "ü" * 1000])
def test_an_unknown_key_is_refused(with_store: Any, wrong: str) -> None:
    async def test(store: Any) -> None:
        with pytest.raises(Unauthorized):
            await ApiKeys(store.database).recognise(wrong)

    with_store(test)


def test_a_key_expires(with_store: Any) -> None:
    async def test(store: Any) -> None:
        keys = ApiKeys(store.database)
        key, _ = await keys.create("local", "short", "reader", 0)
        await asyncio.sleep(0.01)
        with pytest.raises(Unauthorized):
            await keys.recognise(key)
        lasting, _ = await keys.create("local", "long", "reader", 1)
        assert await keys.recognise(lasting)

    with_store(test)


def test_the_key_itself_is_nowhere_in_the_database(with_store: Any) -> None:
    async def test(store: Any) -> None:
        key, _ = await ApiKeys(store.database).create("local", "laptop", "reader", None)
        assert len(key) > 40
        async with store.database.transaction("local") as connection:
            rows = await (await connection.execute("select * from api_key")).fetchall()
        assert key not in repr(rows)

    with_store(test)
