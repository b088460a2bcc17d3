"""Stored flows; each person sees only their own."""

from collections.abc import Mapping
from typing import Any

from psycopg.types.json import Json

from pincite.core.accounts.access import Scope
from pincite.core.operations import StoredFlow
from pincite.errors import Invalid, NotFound
from pincite.store.database import Database, fetch_all, fetch_one

MAX_FLOWS = 1000
"""Maximum flows of a person."""
MAX_VERSIONS = 100
"""Versions of a flow that are kept; the oldest are removed first."""


class FlowStore:
    """Stores flows for their owner, by name; another person's is `NotFound`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, scope: Scope, name: str, definition: Mapping[str, Any]) -> StoredFlow:
        """Store a flow as its newest version; an unchanged definition makes no new version."""
        values = {"owner": scope.person, "name": name, "definition": Json(dict(definition)), "kept": MAX_VERSIONS}
        async with self._database.transaction(scope.person) as connection:
            # One writer per name, so that two saves at once get two numbers.
            lock = "select pg_advisory_xact_lock(hashtextextended(%(owner)s || ' ' || %(name)s, 7))"
            await connection.execute(lock, values)
            count = await fetch_one(connection, _COUNT, values)
            if count is not None and count[0] >= MAX_FLOWS:
                raise Invalid(f"{MAX_FLOWS} flows are the maximum; remove one first")
            await connection.execute(_SAVE, values)
            await connection.execute(_FORGET, values)
        return await self.get(scope, name)

    async def get(self, scope: Scope, name: str, version: int | None = None) -> StoredFlow:
        """Return a version of a flow, by default the newest, or raise `NotFound`."""
        values = {"owner": scope.person, "name": name, "version": version}
        async with self._database.transaction(scope.person) as connection:
            row = await fetch_one(connection, _ONE, values)
        if row is None:
            which = f"version {version} of a flow '{name}'" if version is not None else f"flow '{name}'"
            raise NotFound(f"there is no {which}")
        return StoredFlow(*row)

    async def versions(self, scope: Scope, name: str) -> list[StoredFlow]:
        """Return the versions of a flow, the newest first, or raise `NotFound`."""
        async with self._database.transaction(scope.person) as connection:
            found = await fetch_all(connection, _VERSIONS, {"owner": scope.person, "name": name})
        if not found:
            raise NotFound(f"there is no flow '{name}'")
        return [StoredFlow(*row) for row in found]

    async def list(self, scope: Scope) -> list[StoredFlow]:
        """Return the newest version of every flow, by name."""
        async with self._database.transaction(scope.person) as connection:
            found = await fetch_all(connection, _ALL, {"owner": scope.person})
        return [StoredFlow(*row) for row in found]

    async def remove(self, scope: Scope, name: str) -> int:
        """Remove a flow with all its versions; return how many there were, or raise `NotFound`."""
        async with self._database.transaction(scope.person) as connection:
            removed = await connection.execute("delete from flow where owner = %s and name = %s", (scope.person, name))
        if not removed.rowcount:
            raise NotFound(f"there is no flow '{name}'")
        return removed.rowcount


_ONE = """
    select name, version, (select max(version) from flow f where f.owner = flow.owner and f.name = flow.name), created_at,
           definition
    from flow where owner = %(owner)s and name = %(name)s and (%(version)s::integer is null or version = %(version)s)
    order by version desc limit 1
"""
_ALL = """
    select distinct on (name) name, version, version, created_at, definition
    from flow where owner = %(owner)s order by name, version desc
"""
_VERSIONS = """
    select name, version, max(version) over (), created_at, definition
    from flow where owner = %(owner)s and name = %(name)s order by version desc
"""
_COUNT = "select count(distinct name) from flow where owner = %(owner)s and name <> %(name)s"
_SAVE = """
    with newest as (
        select version, definition from flow where owner = %(owner)s and name = %(name)s order by version desc limit 1)
    insert into flow (owner, name, version, definition)
    select %(owner)s, %(name)s, coalesce((select version from newest), 0) + 1, %(definition)s
    where not exists (select from newest where definition::jsonb = %(definition)s::jsonb)
"""
_FORGET = """
    delete from flow where owner = %(owner)s and name = %(name)s and version <= (
        select max(version) - %(kept)s from flow where owner = %(owner)s and name = %(name)s)
"""
