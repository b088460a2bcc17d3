"""The administrator's settings in the database: current values, their history, and notifications of changes."""

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
from pincite.store.database import Columns, Connection, Database, by_name, fetch_all, fetch_one, select_list

log = logging.getLogger(__name__)

_EVENTS: Mapping[ChangeKind, EventName] = {
    "set": "settings.set",
    "reset": "settings.reset",
    "undo": "settings.undo",
    "apply": "settings.apply",
}
CHANNEL = "pincite_settings"
"""Notifications of changes."""
LOCK = 0x70696E73  # "pins": advisory lock; one change at a time across processes
POLL_S = 0.5
"""Seconds between two reads of the revision without a notification, as behind a connection pooler."""
QUERY_TIMEOUT_S = 5.0
"""Seconds after which a connection that does not return the revision is replaced."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The stored settings at a revision; `last` is the newest batch of changes that was not undone."""

    revision: int
    values: Mapping[str, Any]
    last: tuple[SettingChange, ...] = ()


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """Changes to make together; None removes the stored value of a key."""

    kind: ChangeKind
    values: Mapping[str, Any]
    profile: str | None = None
    undoes: int | None = None


class StoredSettings:
    """Reads and writes settings; writers run one at a time, each sees the changes of the previous one."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = asyncio.Lock()

    async def current(self) -> Stored:
        """Return the stored settings."""
        async with self._database.transaction("") as connection:
            return await _stored(connection)

    async def revise(
        self, caller: Caller, decide: Callable[[Stored], Awaitable[SettingsChange]]
    ) -> tuple[SettingChange, ...]:
        """Write the change that `decide` returns while other writers wait; `decide` raises to refuse a change.

        Unchanged values are not written. Writers of this process wait for a local lock first, so that waiting ones do
        not occupy all connections.
        """
        async with self._lock, self._database.transaction(caller.person) as connection:
            await connection.execute("select pg_advisory_xact_lock(%s)", (LOCK,))
            stored = await _stored(connection)
            last = await _last(connection)
            change = await decide(replace(stored, last=last))
            changed = {key: value for key, value in change.values.items() if value != stored.values.get(key)}
            if not changed:
                return ()
            await _write(connection, changed)
            recorded = await _record(connection, caller, replace(change, values=changed), stored)
            details = {"keys": sorted(changed), "profile": change.profile}
            await record(connection, AuditEntry(_EVENTS[change.kind], details=details))
            return recorded

    async def history(self, person: str, *, limit: int, before: int | None = None) -> list[SettingChange]:
        """Return the changes of the newest `limit` batches, newest first; with `before`, of earlier batches only."""
        async with self._database.transaction(person) as connection:
            batches = await fetch_all(
                connection,
                "select distinct batch from setting_change where %(before)s::bigint is null or batch < %(before)s"
                " order by batch desc limit %(limit)s",
                {"before": before, "limit": limit},
            )
            return await _changes(connection, [batch for (batch,) in batches])

    async def follow(self, hear: Callable[[int], Awaitable[None]]) -> None:
        """Call `hear` with the revision forever: at each notification of a change, and at least every `POLL_S`.

        A lost or unresponsive connection, as after a restart of the server, is replaced. Behind a pooler without a
        direct address no notification arrives, and the revision is read every `POLL_S`.
        """
        while True:
            try:
                if self._database.can_listen:
                    async with (
                        asyncio.timeout(QUERY_TIMEOUT_S) as opening,
                        self._database.listen(CHANNEL) as connection,
                    ):
                        opening.reschedule(None)
                        while True:
                            await _tell_revision(connection, hear)
                            async for _ in connection.notifies(timeout=POLL_S, stop_after=1):
                                pass
                async with self._database.transaction("") as connection:
                    await _tell_revision(connection, hear)
            except (StoreDown, TimeoutError, psycopg.Error) as error:
                log.debug("changes of settings cannot be read for now: %s", error)
            await asyncio.sleep(POLL_S)


async def _tell_revision(connection: Connection, hear: Callable[[int], Awaitable[None]]) -> None:
    async with asyncio.timeout(QUERY_TIMEOUT_S):
        row = await fetch_one(connection, "select settings_revision()")
    await hear(int(row[0]) if row else 0)


_COLUMNS: Columns = {
    "batch": "c.batch",
    "kind": "c.kind",
    "key": "c.key",
    "before": "c.before",
    "after": "c.after",
    "profile": "c.profile",
    "undoes": "c.undoes",
    "person": "c.person",
    "key_id": "c.key_id",
    "changed_at": "c.changed_at",
    "undone": "exists (select from setting_change u where u.undoes = c.batch)",
}
"""Field of `SettingChange` → its SQL."""
_CHANGE = "select " + select_list(_COLUMNS) + " from setting_change c"  # noqa: S608 - constant columns


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
    return [SettingChange(**by_name(_COLUMNS, row)) for row in found]


async def _write(connection: Connection, changed: Mapping[str, Any]) -> None:
    removed = [key for key, value in changed.items() if value is None]
    await connection.execute("delete from setting where key = any(%s)", (removed,))
    await connection.execute(
        "insert into setting (key, value) select key, value from jsonb_each(%s)"
        " on conflict (key) do update set value = excluded.value",
        (Jsonb({key: value for key, value in changed.items() if value is not None}),),
    )


async def _record(
    connection: Connection, caller: Caller, change: SettingsChange, stored: Stored
) -> tuple[SettingChange, ...]:
    """Add a change to the history and notify the other processes; return its entries."""
    batch = stored.revision + 1
    changes = [{"key": key, "before": stored.values.get(key), "after": value} for key, value in change.values.items()]
    await connection.execute(
        "insert into setting_change (batch, kind, key, before, after, profile, undoes, person, key_id)"
        " select %(batch)s, %(kind)s, c.key, c.before, c.after, %(profile)s, %(undoes)s,"
        " %(person)s, %(key_id)s from jsonb_to_recordset(%(changes)s) as c (key text, before jsonb, after jsonb)",
        {
            "batch": batch,
            "kind": change.kind,
            "profile": change.profile,
            "undoes": change.undoes,
            "person": caller.person,
            "key_id": caller.key_id,
            "changes": Jsonb(changes),
        },
    )
    await connection.execute("select pg_notify(%s, %s)", (CHANNEL, str(batch)))
    return tuple(await _changes(connection, [batch]))
