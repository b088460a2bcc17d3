from typing import Any

import pytest

from pincite.core.accounts.access import ShareRequest
from pincite.core.documents.document import Listing
from pincite.errors import Conflict, Invalid, NotAllowed, NotFound, Unauthorized
from pincite.store.access.api_keys import ApiKeys
from pincite.store.access.permissions import Permissions
from pincite.store.access.users import Users
from pincite.store.database import fetch_all
from pincite.store.operations.flows import FlowStore


def test_users_are_found_by_name_in_any_case(with_store: Any) -> None:
    async def test(store: Any) -> None:
        people = Users(store.database)
        made = await people.add("local", "  Anna  Weber ", "editor")
        assert (made.id, made.name, made.role, made.suspended) == ("Anna Weber", "Anna Weber", "editor", False)
        assert await people.get("local", "anna weber") == made
        assert [one.id for one in await people.all("local")] == ["Anna Weber", "local"]
        for name in ("ANNA WEBER", "local"):
            with pytest.raises(Conflict):
                await people.add("local", name, "reader")
        for name in ("", " ", "a,b", "user:x", "x" * 101, "tab\u200bbed\x07"):
            with pytest.raises(Invalid):
                await people.add("local", name, "reader")

    with_store(test)


def test_the_database_lets_only_administrators_manage_users(with_store: Any) -> None:
    async def test(store: Any) -> None:
        people = Users(store.database)
        await people.add("local", "bob", "editor")
        await people.add_group("local", "staff")
        for by in ("bob", "", "nobody"):
            with pytest.raises(NotAllowed):
                await people.add(by, "eve", "administrator")
            with pytest.raises(NotFound):
                await people.get(by, "bob")
            assert await people.all(by) == []
            assert await people.groups(by) == []
        async with store.database.transaction("bob") as connection:
            assert (await connection.execute("update person set role = 'administrator'")).rowcount == 0
            assert (await connection.execute("delete from membership")).rowcount == 0
            assert await fetch_all(connection, "select id from person") == [("bob",)]
            assert await fetch_all(connection, "select * from password") == []
            assert await fetch_all(connection, "select * from reader") == []
        assert (await people.own_profile("bob", "reader")).role == "reader"

    with_store(test)


def test_an_administrator_may_give_up_the_role(with_store: Any) -> None:
    async def test(store: Any) -> None:
        people = Users(store.database)
        await people.add("local", "bob", "administrator")
        assert (await people.change_role("bob", "bob", "reader")).role == "reader"
        assert (await people.get("local", "bob")).role == "reader"
        with pytest.raises(NotFound):
            await people.change_role("bob", "bob", "administrator")

    with_store(test)


def test_a_key_has_at_most_the_role_of_its_owner(with_store: Any) -> None:
    async def test(store: Any) -> None:
        people, keys = Users(store.database), ApiKeys(store.database)
        await people.add("local", "bob", "administrator")
        key, _ = await keys.create("bob", "k", "administrator", None, by="local")
        metrics, _ = await keys.create("bob", "m", "metrics", None, by="local")
        assert (await keys.recognise(key)).role == "administrator"
        assert (await keys.recognise(metrics)).role == "metrics"
        await people.change_role("local", "bob", "reader")
        assert (await keys.recognise(key)).role == "reader"
        with pytest.raises(Unauthorized):
            await keys.recognise(metrics)
        await people.suspend("local", "bob", suspended=True)
        with pytest.raises(Unauthorized):
            await keys.recognise(key)
        await people.suspend("local", "bob", suspended=False)
        assert (await keys.recognise(key)).person == "bob"
        await people.remove("local", "bob")
        with pytest.raises(Unauthorized):
            await keys.recognise(key)
        with pytest.raises(NotFound):
            await people.get("local", "bob")
        with pytest.raises(Conflict):  # the history names them, so the name is not reused
            await people.add("local", "bob", "reader")

    with_store(test)


def test_the_owner_of_the_data_folder_cannot_be_suspended_or_removed(with_store: Any) -> None:
    async def test(store: Any) -> None:
        people = Users(store.database)
        await people.add("local", "boss", "administrator")
        for change in (
            people.remove("boss", "local"),
            people.suspend("boss", "local", suspended=True),
            people.change_role("boss", "local", "reader"),
        ):
            with pytest.raises(Conflict):
                await change

    with_store(test)


def test_a_user_who_owns_documents_is_not_removed(with_store: Any) -> None:
    async def test(store: Any) -> None:
        from pincite.core.documents.document import Upload

        people = Users(store.database)
        await people.add("local", "bob", "editor")
        scope = await store.library.scope("bob")
        await store.intake.accept(scope, Upload("a.md", b"x"), mime="text/markdown", checksum="x")
        with pytest.raises(Conflict, match="owns documents"):
            await people.remove("local", "bob")
        listed, _ = await store.library.documents(await store.scope(), Listing())
        assert listed == []  # an administrator does not see it for being one

    with_store(test)


def test_the_flows_of_a_removed_user_are_removed(with_store: Any) -> None:
    async def test(store: Any) -> None:
        people, flows = Users(store.database), FlowStore(store.database)
        await people.add("local", "bob", "reader")
        scope = await store.library.scope("bob")
        await flows.save(scope, "leave", {"nodes": []})
        await people.remove("local", "bob")
        assert await flows.list(scope) == []

    with_store(test)


def test_a_group_of_the_same_name_inherits_nothing(with_store: Any) -> None:
    async def test(store: Any) -> None:
        people, rights = Users(store.database), Permissions(store.database)
        await people.add("local", "bob", "reader")
        await people.add_group("local", "staff")
        await people.join("local", "staff", "bob")
        one = await store.put("a.md", "dunlin", folder="hr")
        staff = await rights.readers(await store.scope(), ShareRequest(groups=("staff",)))
        await rights.share(await store.scope(), one, staff)
        await rights.share_folder(await store.scope(), "hr", staff)
        assert (await store.library.get(await store.scope(), one)).access.groups == ("staff",)
        assert (await store.library.scope("bob")).realms
        assert (await people.leave("local", "staff", "bob")).members == ()
        assert not (await store.library.scope("bob")).realms
        await people.remove_group("local", "staff")
        await people.add_group("local", "staff")
        await people.join("local", "staff", "bob")
        assert not (await store.library.scope("bob")).realms
        assert (await store.library.get(await store.scope(), one)).access.groups == ()

    with_store(test)
