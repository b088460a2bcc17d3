"""Indexes of the whole library: the searched one, the one that is being built, and standby ones to switch back to."""

from collections.abc import Mapping
from typing import Any

from psycopg import sql
from psycopg.types.json import Jsonb

from pincite.core.operations import BuildProgress, BuildState, IndexBuild
from pincite.store.database import (
    LONG_TIMEOUTS,
    Columns,
    Connection,
    Database,
    by_name,
    fetch_all,
    fetch_one,
    select_list,
)

_COLUMNS: Columns = {
    "id": "id",
    "signature": "signature",
    "settings": "settings",
    "state": "state",
    "held": "held",
    "failures": "failures",
    "created_at": "created_at",
    "switched_at": "switched_at",
}
"""Field of `IndexBuild` → its SQL."""


class Generations:
    """Builds, switches and discards indexes; the caller checks the permission."""

    def __init__(self, database: Database, place: str) -> None:
        self._database = database
        self._place = place

    async def searched(self) -> int:
        """Return the id of the searched index; 0 before the first."""
        [found] = await self._database.run_batch("", _SEARCHED, values={})
        return int(found[0][0]) if found else 0

    async def serving(self, signature: str, settings: Mapping[str, Any]) -> tuple[int, str, Mapping[str, Any]]:
        """Return the id, signature and settings of the searched index; before the first, one with these settings."""
        async with self._database.transaction("") as connection:
            row = await fetch_one(
                connection, "select * from serving_generation(%s, %s)", (signature, Jsonb(dict(settings)))
            )
        assert row is not None
        return row[0], row[1], row[2]

    async def rename(self, signature: str, settings: Mapping[str, Any]) -> None:
        """Set the signature and settings of the searched index, without reindexing its documents."""
        async with self._database.transaction("") as connection:
            await connection.execute("delete from generation where signature = %s and state <> 'serving'", (signature,))
            await connection.execute(
                "update generation set signature = %s, settings = %s where state = 'serving'",
                (signature, Jsonb(dict(settings))),
            )

    async def all(self) -> list[IndexBuild]:
        """Return every index, newest first."""
        async with self._database.transaction("") as connection:
            return [IndexBuild(**by_name(_COLUMNS, row)) for row in await fetch_all(connection, _ALL)]

    async def progress(self) -> BuildProgress | None:
        """Return the progress of the index that is being built; None if there is none."""
        async with self._database.transaction("") as connection:
            if await fetch_one(connection, "select from generation where state = 'building'") is None:
                return None
            row = await fetch_one(connection, "select * from generation_progress()")
        assert row is not None
        return BuildProgress(*row)

    async def build(self, signature: str, settings: Mapping[str, Any], *, held: bool) -> int | None:
        """Start or continue building an index and return its id; None if the searched index has this signature.

        A `held` index is not switched to when it is complete, until `release`.
        """
        async with self._database.transaction("", local=LONG_TIMEOUTS) as connection:
            values = (signature, Jsonb(dict(settings)), held, self._place)
            row = await fetch_one(connection, "select build_generation(%s, %s, %s, %s)", values)
        return row[0] if row else None

    async def switch(self, *, anyway: bool = False) -> bool:
        """Switch to the built index if it is complete; with `anyway` also if it is held or some documents failed."""
        async with self._database.transaction("", local=LONG_TIMEOUTS) as connection:
            return await _is_true(connection, "select switch_generation(%s)", anyway)

    async def release(self) -> bool:
        """Switch to the held index if it is complete; otherwise it stays held."""
        async with self._database.transaction("", local=LONG_TIMEOUTS) as connection:
            await connection.execute("select one_switch_at_a_time()")
            released = await fetch_one(connection, _RELEASE)
            switched = await _is_true(connection, "select switch_generation(false)")
            if released and not switched:
                await connection.execute("update generation set held = true where id = %s", released)
            return switched

    async def discard(self, state: BuildState, *, days: int = 0) -> int:
        """Discard the index that is being built, or the standby ones if the last switch is at least `days` ago."""
        async with self._database.transaction("", local=LONG_TIMEOUTS) as connection:
            row = await fetch_one(connection, _DISCARD, {"state": state, "days": days})
        return int(row[0]) if row else 0


async def _is_true(connection: Connection, query: Any, *values: object) -> bool:
    row = await fetch_one(connection, query, values)
    return bool(row and row[0])


_DISCARD = """
    select discard_generations(%(state)s, 0) from generation where state = 'serving'
    and (%(days)s = 0 or switched_at <= now() - make_interval(days => %(days)s))
"""
_RELEASE = "update generation set held = false where state = 'building' and held returning id"
_SEARCHED = "select id from generation where state = 'serving'"
_ALL = sql.SQL("select {columns} from generation order by coalesce(switched_at, created_at) desc, id desc").format(
    columns=sql.SQL(select_list(_COLUMNS))
)
