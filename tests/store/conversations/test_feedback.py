"""Feedback in the database: on own answers, replaced by a new rating, removed with the session."""

from typing import Any

import pytest

from pincite.errors import Invalid, NotFound
from pincite.store.access.users import Users
from pincite.store.conversations.feedback import FeedbackStore
from pincite.store.conversations.sessions import Sessions
from pincite.store.database import fetch_all
from tests.store.conversations.test_share_links import answered


def test_people_rate_own_answers_and_administrators_see_ratings_without_answers(with_store: Any) -> None:
    async def test(store: Any) -> None:
        for name in ("ada", "bob"):
            await Users(store.database).add("local", name, "reader")
        await answered(store, "ada", "a_1")
        opinions, ada, bob = (
            FeedbackStore(store.database),
            await store.library.scope("ada"),
            await store.library.scope("bob"),
        )
        with pytest.raises(NotFound):
            await opinions.rate(bob, "a_1", "up", "")
        await opinions.rate(ada, "a_1", "up", "")
        said = await opinions.rate(ada, "a_1", "down", "the wrong year")
        assert await opinions.list(ada, 10, None) == ([said], None)
        assert await opinions.list(bob, 10, None) == ([], None)
        [[seen], _] = await opinions.list(await store.scope(), 10, None)
        assert (seen.answer_id, seen.person, seen.rating, seen.comment) == ("", "ada", "down", "the wrong year")
        assert seen.trace_id == said.trace_id
        async with store.database.transaction("bob") as connection:
            assert (await connection.execute("delete from feedback")).rowcount == 0
        sessions = Sessions(store.database)
        [[session], _] = await sessions.list(ada)
        assert [turn.rating for turn in (await sessions.get(ada, session.id)).turns] == ["down"]
        await sessions.remove(ada, session.id)
        async with store.database.administrator() as admin:
            assert await fetch_all(admin, "select 1 from pincite.feedback") == []

    with_store(test)


def test_a_long_list_continues_at_its_cursor(with_store: Any) -> None:
    async def test(store: Any) -> None:
        opinions, scope = FeedbackStore(store.database), await store.scope()
        for number in range(5):
            await answered(store, "local", f"a_{number}")
            await opinions.rate(scope, f"a_{number}", "up", "")
        seen, cursor = await opinions.list(scope, 3, None)
        rest, end = await opinions.list(scope, 3, cursor)
        assert [one.answer_id for one in (*seen, *rest)] == [f"a_{number}" for number in (4, 3, 2, 1, 0)]
        assert end is None
        with pytest.raises(Invalid):
            await opinions.list(scope, 3, "forged")

    with_store(test)
