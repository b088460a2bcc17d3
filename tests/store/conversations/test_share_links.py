"""Links to answers in the database: hashes, whose they are, and when they end."""

from dataclasses import replace
from typing import Any

import pytest

from pincite.core.accounts.conversations import KeptTurn
from pincite.errors import NotFound
from pincite.store.access.users import Users
from pincite.store.conversations.sessions import Sessions
from pincite.store.conversations.share_links import ShareLinks
from pincite.store.database import rows
from tests.builders import answer


async def answered(shelf: Any, person: str, answer_id: str) -> None:
    scope, sessions = await shelf.library.scope(person), Sessions(shelf.database)
    session = await sessions.create(scope)
    kept = replace(answer("Five days."), id=answer_id)
    await sessions.save_turn(scope, session.id, KeptTurn("q", "q", kept.text, kept, True, "t", ()))


def test_a_link_is_kept_as_a_hash_and_its_row_is_its_owners(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        for name in ("ada", "bob"):
            await Users(shelf.database).add("local", name, "reader")
        await answered(shelf, "ada", "a_1")
        shares, ada, bob = (
            ShareLinks(shelf.database),
            await shelf.library.scope("ada"),
            await shelf.library.scope("bob"),
        )
        link, made = await shares.create(ada, "a_1", 1)
        async with shelf.database.administrator() as admin:
            [(kept,)] = await rows(admin, "select row_to_json(s)::text from pincite.share s")
        assert link not in kept
        async with shelf.database.transaction("bob") as connection:
            assert await rows(connection, "select 1 from share") == []
            assert (await connection.execute("delete from share")).rowcount == 0
        assert await shares.all(ada) == [made]
        assert await shares.all(bob) == []
        assert (await shares.open(bob, link)).id == made.id
        with pytest.raises(NotFound):
            await shares.show(bob, made.id)
        with pytest.raises(NotFound):
            await shares.create(bob, "a_1", 1)
        assert [one.id for one in await shares.all(await shelf.scope())] == [made.id]  # an administrator's list

    with_shelf(test)


def test_a_link_that_has_expired_opens_nothing_and_is_cleared_away(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        await answered(shelf, "local", "a_1")
        shares, scope = ShareLinks(shelf.database), await shelf.scope()
        link, _ = await shares.create(scope, "a_1", 1)
        await shares.forget_expired()
        assert (await shares.open(scope, link)).answer.id == "a_1"
        async with shelf.database.administrator() as admin:
            await admin.execute("update pincite.share set expires_at = now() - interval '1 second'")
        with pytest.raises(NotFound):
            await shares.open(scope, link)
        assert await shares.all(scope) == []
        await shares.forget_expired()
        async with shelf.database.administrator() as admin:
            assert await rows(admin, "select 1 from pincite.share") == []

    with_shelf(test)
