"""Indexes of the whole library: the one that is searched, one built beside it, those that stand by for a return."""

from collections.abc import Mapping
from typing import Any

from psycopg.types.json import Jsonb

from pincite.core.operations import BuildProgress, BuildState, IndexBuild
from pincite.store.database import LONG_WORK, Connection, Database, one, rows


class Generations:
    """Begins, switches and lets go of indexes; whoever calls has made sure that this may be done."""

    def __init__(self, database: Database, place: str) -> None:
        self._database = database
        self._place = place

    async def searched(self) -> int:
        """Which index is searched now; 0 before the first."""
        [found] = await self._database.run_batch("", _SEARCHED, values={})
        return int(found[0][0]) if found else 0

    async def serving(self, signature: str, settings: Mapping[str, Any]) -> tuple[int, str, Mapping[str, Any]]:
        """The index that is searched, with its signature and settings: the one wanted where nothing is served yet."""
        async with self._database.transaction("") as connection:
            row = await one(connection, "select * from serving_generation(%s, %s)", (signature, Jsonb(dict(settings))))
        assert row is not None
        return row[0], row[1], row[2]

    async def rename(self, signature: str, settings: Mapping[str, Any]) -> None:
        """Search by these settings from now on, whatever the documents were indexed by."""
        async with self._database.transaction("") as connection:
            await connection.execute("delete from generation where signature = %s and state <> 'serving'", (signature,))
            await connection.execute(
                "update generation set signature = %s, settings = %s where state = 'serving'",
                (signature, Jsonb(dict(settings))),
            )

    async def all(self) -> list[IndexBuild]:
        """Every index there is, the newest first."""
        async with self._database.transaction("") as connection:
            return [IndexBuild(*row) for row in await rows(connection, _ALL)]

    async def progress(self) -> BuildProgress | None:
        """How far the one that is built is; None where none is."""
        async with self._database.transaction("") as connection:
            if await one(connection, "select from generation where state = 'building'") is None:
                return None
            row = await one(connection, "select * from generation_progress()")
        assert row is not None
        return BuildProgress(*row)

    async def build(self, signature: str, settings: Mapping[str, Any], *, held: bool) -> int | None:
        """Begin, or go on with, an index beside the one searched; None where that one is it."""
        async with self._database.transaction("", local=LONG_WORK) as connection:
            values = (signature, Jsonb(dict(settings)), held, self._place)
            row = await one(connection, "select build_generation(%s, %s, %s, %s)", values)
        return row[0] if row else None

    async def switch(self, *, anyway: bool = False) -> bool:
        """Search the one that was built, where it is complete; `anyway` though it was to wait, or some failed."""
        async with self._database.transaction("", local=LONG_WORK) as connection:
            return await _is_true(connection, "select switch_generation(%s)", anyway)

    async def release(self) -> bool:
        """Search the one that was built and was to wait for this; it waits on where it is not complete."""
        async with self._database.transaction("", local=LONG_WORK) as connection:
            await connection.execute("select one_switch_at_a_time()")
            released = await one(connection, _RELEASE)
            switched = await _is_true(connection, "select switch_generation(false)")
            if released and not switched:
                await connection.execute("update generation set held = true where id = %s", released)
            return switched

    async def discard(self, state: BuildState, *, days: int = 0) -> int:
        """Let go of the index that is built, or of those that stand by, where the last switch is so many days ago."""
        async with self._database.transaction("", local=LONG_WORK) as connection:
            row = await one(connection, _DISCARD, {"state": state, "days": days})
        return int(row[0]) if row else 0


async def _is_true(connection: Connection, query: Any, *values: object) -> bool:
    row = await one(connection, query, values)
    return bool(row and row[0])


_DISCARD = """
    select discard_generations(%(state)s, 0) from generation where state = 'serving'
    and (%(days)s = 0 or switched_at <= now() - make_interval(days => %(days)s))
"""
_RELEASE = "update generation set held = false where state = 'building' and held returning id"
_SEARCHED = "select id from generation where state = 'serving'"
_ALL = """
    select id, signature, settings, state, held, failures, created_at, switched_at from generation
    order by coalesce(switched_at, created_at) desc, id desc
"""
