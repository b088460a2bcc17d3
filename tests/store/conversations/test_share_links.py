"""Share links in the database: hashes, owners and expiry."""

from dataclasses import replace
from typing import Any

import pytest

from pincite.core.accounts.conversations import KeptTurn
from pincite.errors import NotFound
from pincite.store.access.users import Users
from pincite.store.conversations.sessions import Sessions
from pincite.store.conversations.share_links import ShareLinks
from pincite.store.database import fetch_all
from tests.builders import answer


async def answered(store: Any, person: str, answer_id: str) -> None:
    scope, sessions = await store.library.scope(person), Sessions(store.database)
    session = await sessions.create(scope)
    kept = replace(answer("Five days."), id=answer_id)
    await sessions.save_turn(scope, session.id, KeptTurn("q", "q", kept.text, kept, True, "t", ()))


def test_a_link_is_stored_as_a_hash_visible_to_its_owner_only(with_store: Any) -> None:
    async def test(store: Any) -> None:
        for name in ("ada", "bob"):
            await Users(store.database).add("local", name, "reader")
        await answered(store, "ada", "a_1")
        shares, ada, bob = (
            ShareLinks(store.database),
            await store.library.scope("ada"),
            await store.library.scope("bob"),
        )
        link, made = await shares.create(ada, "a_1", 1)
        async with store.database.administrator() as admin:
            [(kept,)] = await fetch_all(admin, "select row_to_json(s)::text from pincite.share s")
        assert link not in kept
        async with store.database.transaction("bob") as connection:
            assert await fetch_all(connection, "select 1 from share") == []
            assert (await connection.execute("delete from share")).rowcount == 0
        assert await shares.all(ada) == [made]
        assert await shares.all(bob) == []
        assert (await shares.open(bob, link)).id == made.id
        with pytest.raises(NotFound):
            await shares.show(bob, made.id)
        with pytest.raises(NotFound):
            await shares.create(bob, "a_1", 1)
        assert [one.id for one in await shares.all(await store.scope())] == [made.id]  # an administrator's list

    with_store(test)


def test_an_expired_link_opens_nothing_and_is_removed(with_store: Any) -> None:
    async def test(store: Any) -> None:
        await answered(store, "local", "a_1")
        shares, scope = ShareLinks(store.database), await store.scope()
        link, _ = await shares.create(scope, "a_1", 1)
        await shares.remove_expired()
        assert (await shares.open(scope, link)).answer.id == "a_1"
        async with store.database.administrator() as admin:
            await admin.execute("update pincite.share set expires_at = now() - interval '1 second'")
        with pytest.raises(NotFound):
            await shares.open(scope, link)
        assert await shares.all(scope) == []
        await shares.remove_expired()
        async with store.database.administrator() as admin:
            assert await fetch_all(admin, "select 1 from pincite.share") == []

    with_store(test)
