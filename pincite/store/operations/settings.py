"""The administrator's settings in the database: the changes in force, their history, and word of new ones."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from pincite.core.accounts.access import Caller
from pincite.core.accounts.audit import AuditEntry, EventName
from pincite.core.operations import ChangeKind, SettingChange
from pincite.errors import StoreDown
from pincite.store.access.audit_log import record
from pincite.store.database import Connection, Database, fetch_all, fetch_one

log = logging.getLogger(__name__)

_EVENTS: Mapping[ChangeKind, EventName] = {
    "set": "settings.set", "reset": "settings.reset", "undo": "settings.undo", "apply": "settings.apply",
}  # fmt: skip
LOCK = 0x70696E73  # "pins": one change at a time, in whichever process
POLL_S = 0.5
"""How often the revision is looked up where no word of a change came, as behind a pooler."""
QUERY_TIMEOUT_S = 5.0
"""A connection that does not say the revision within this time is given up."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What the database says now; `last` is the newest batch that was not taken back."""

    revision: int
    values: Mapping[str, Any]
    last: tuple[SettingChange, ...] = ()


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """Changes to make together; a key that shall have none any more is None."""

    kind: ChangeKind
    values: Mapping[str, Any]
    profile: str | None = None
    undoes: int | None = None


class StoredSettings:
    """Reads and writes changes; one writer at a time sees what the one before wrote."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._turn = asyncio.Lock()

    async def current(self) -> Stored:
        """The changes in force."""
        async with self._database.transaction("") as connection:
            return await _stored(connection)

    async def revise(
        self, caller: Caller, decide: Callable[[Stored], Awaitable[SettingsChange]]
    ) -> tuple[SettingChange, ...]:
        """Let `decide` say what to change, with everybody else kept waiting; it raises where nothing may.

        What changes nothing is not written. Waiting for one's turn happens here first, lest all connections wait.
        """
        async with self._turn, self._database.transaction(caller.person) as connection:
            await connection.execute("select pg_advisory_xact_lock(%s)", (LOCK,))
            stored = await _stored(connection)
            last = await _last(connection)
            wish = await decide(replace(stored, last=last))
            changed = {key: value for key, value in wish.values.items() if value != stored.values.get(key)}
            if not changed:
                return ()
            await _write(connection, changed)
            recorded = await _record(connection, caller, replace(wish, values=changed), stored)
            await record(
                connection, AuditEntry(_EVENTS[wish.kind], details={"keys": sorted(changed), "profile": wish.profile})
            )
            return recorded

    async def history(self, person: str, *, limit: int, before: int | None = None) -> list[SettingChange]:
        """Changes, newest first, whole batches of them; those of batches earlier than `before`."""
        async with self._database.transaction(person) as connection:
            batches = await fetch_all(
                connection,
                "select distinct batch from setting_change where %(before)s::bigint is null or batch < %(before)s"
                " order by batch desc limit %(limit)s",
                {"before": before, "limit": limit},
            )
            return await _changes(connection, [batch for (batch,) in batches])

    async def follow(self, hear: Callable[[int], Awaitable[None]]) -> None:
        """Tell `hear` the revision for ever: at each word of a change, and every POLL_S in any case.

        A connection that is lost, as when the server is started again, or that says nothing any more is made anew.
        """
        while True:
            try:
                async with self._database.connection() as connection:
                    async with asyncio.timeout(QUERY_TIMEOUT_S):
                        await connection.execute("listen pincite_settings")
                    while True:
                        async with asyncio.timeout(QUERY_TIMEOUT_S):
                            row = await fetch_one(connection, "select settings_revision()")
                        await hear(int(row[0]) if row else 0)
                        async for _ in connection.notifies(timeout=POLL_S, stop_after=1):
                            pass
            except (StoreDown, TimeoutError, psycopg.Error) as error:
                log.debug("settings cannot be followed for now: %s", error)
            await asyncio.sleep(POLL_S)


_CHANGE = """
    select c.batch, c.kind, c.key, c.before, c.after, c.profile, c.undoes, c.person, c.key_id, c.changed_at,
           exists (select from setting_change u where u.undoes = c.batch) from setting_change c
"""


async def _stored(connection: Connection) -> Stored:
    row = await fetch_one(
        connection,
        "select settings_revision(), (select coalesce(jsonb_object_agg(key, value), '{}') from setting)",
    )
    assert row is not None
    return Stored(int(row[0]), row[1])


async def _last(connection: Connection) -> tuple[SettingChange, ...]:
    row = await fetch_one(
        connection,
        "select max(b.batch) from setting_change b where b.kind <> 'undo'"
        " and not exists (select from setting_change u where u.undoes = b.batch)",
    )
    return tuple(await _changes(connection, [row[0]] if row else []))


async def _changes(connection: Connection, batches: Sequence[int]) -> list[SettingChange]:
    found = await fetch_all(
        connection, _CHANGE + " where c.batch = any(%s) order by c.batch desc, c.id", (list(batches),)
    )
    return [SettingChange(*row) for row in found]


async def _write(connection: Connection, changed: Mapping[str, Any]) -> None:
    gone = [key for key, value in changed.items() if value is None]
    await connection.execute("delete from setting where key = any(%s)", (gone,))
    await connection.execute(
        "insert into setting (key, value) select key, value from jsonb_each(%s)"
        " on conflict (key) do update set value = excluded.value",
        (Jsonb({key: value for key, value in changed.items() if value is not None}),),
    )


async def _record(
    connection: Connection, caller: Caller, wish: SettingsChange, stored: Stored
) -> tuple[SettingChange, ...]:
    batch = stored.revision + 1
    await connection.execute(
        "insert into setting_change (batch, kind, key, before, after, profile, undoes, person, key_id)"
        " select %(batch)s, %(kind)s, c.key, c.before, c.after, %(profile)s, %(undoes)s,"
        " %(person)s, %(key_id)s from jsonb_to_recordset(%(changes)s) as c (key text, before jsonb, after jsonb)",
        {
            "batch": batch, "kind": wish.kind, "profile": wish.profile, "undoes": wish.undoes,
            "person": caller.person, "key_id": caller.key_id,
            "changes": Jsonb([{"key": key, "before": stored.values.get(key), "after": value}
                              for key, value in wish.values.items()]),
        },
    )  # fmt: skip
    await connection.execute("select pg_notify('pincite_settings', %s)", (str(batch),))
    return tuple(await _changes(connection, [batch]))
