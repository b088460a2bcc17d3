"""Stored flows."""

import asyncio
from typing import Any

import pytest

from pincite.core.accounts.access import Scope
from pincite.errors import Invalid, NotFound
from pincite.store.operations import flows as module
from pincite.store.operations.flows import FlowStore

ONE = {"nodes": [{"id": "answer", "type": "completion"}]}
TWO = {**ONE, "input": "How many?"}


def test_a_change_makes_a_version_and_an_unchanged_flow_none(with_store: Any) -> None:
    async def test(store: Any) -> None:
        flows, scope = FlowStore(store.database), await store.scope()
        first = await flows.save(scope, "leave", ONE)
        assert (first.name, first.version, first.versions, first.definition) == ("leave", 1, 1, ONE)
        assert (await flows.save(scope, "leave", ONE)).version == 1
        assert (await flows.save(scope, "leave", TWO)).version == 2
        await flows.save(scope, "again", ONE)
        assert [(one.name, one.version) for one in await flows.list(scope)] == [("again", 1), ("leave", 2)]
        old = await flows.get(scope, "leave", 1)
        assert (old.definition, old.versions) == (ONE, 2)
        assert [one.version for one in await flows.versions(scope, "leave")] == [2, 1]
        with pytest.raises(NotFound, match="no version 3 of a flow 'leave'"):
            await flows.get(scope, "leave", 3)
        assert await flows.remove(scope, "leave") == 2
        for call in (flows.get(scope, "leave"), flows.versions(scope, "leave"), flows.remove(scope, "leave")):
            with pytest.raises(NotFound, match="no flow 'leave'"):
                await call

    with_store(test)


def test_a_flow_is_its_owners_alone(with_store: Any) -> None:
    async def test(store: Any) -> None:
        flows, scope = FlowStore(store.database), await store.scope()
        await flows.save(scope, "leave", ONE)
        stranger = Scope("stranger", scope.realms)
        assert await flows.list(stranger) == []
        for call in (flows.get(stranger, "leave"), flows.versions(stranger, "leave"), flows.remove(stranger, "leave")):
            with pytest.raises(NotFound):
                await call
        async with store.database.transaction("stranger") as connection:  # the database itself shows nothing
            found = await connection.execute("select count(*) from flow")
            assert await found.fetchone() == (0,)

    with_store(test)


def test_saves_at_once_get_different_versions_and_old_ones_are_forgotten(
    with_store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_VERSIONS", 3)
    monkeypatch.setattr(module, "MAX_FLOWS", 1)

    async def test(store: Any) -> None:
        flows, scope = FlowStore(store.database), await store.scope()
        await asyncio.gather(*(flows.save(scope, "leave", {**ONE, "input": str(n)}) for n in range(5)))
        assert [one.version for one in await flows.versions(scope, "leave")] == [5, 4, 3]
        with pytest.raises(Invalid, match="1 flows are the maximum"):
            await flows.save(scope, "other", ONE)

    with_store(test)
