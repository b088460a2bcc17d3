"""Stored sources and the state of their files; each person sees only their own."""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from psycopg.errors import UniqueViolation
from psycopg.types.json import Json

from pincite.core.accounts.access import Scope
from pincite.core.documents.sources import KnownItem, NewSource, SourceState, StoredSource
from pincite.errors import Conflict, NotFound
from pincite.store.database import Database, fetch_all, fetch_one

CLAIM_MINUTES = 10
"""Minutes a synchronisation is claimed for; it renews its claim with every file."""


class SourceStore:
    """Stores sources for their owner; another person's is `NotFound`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, scope: Scope, new: NewSource) -> StoredSource:
        """Store a source; `Conflict` if its owner has one of the same name."""
        source_id = secrets.token_urlsafe(12)
        values = (
            *(source_id, scope.person, new.name, new.kind, new.url, new.folder),
            *(Json(dict(new.options)), new.secret_env, new.every_minutes),
        )
        try:
            async with self._database.transaction(scope.person) as connection:
                await connection.execute(
                    "insert into source (id, owner, name, kind, url, folder, options, secret_env, every_minutes)"
                    " values (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
                    values,
                )
        except UniqueViolation:
            raise Conflict(f"there is a source '{new.name}' already; choose another name") from None
        return await self.get(scope, source_id)

    async def get(self, scope: Scope, wanted: str) -> StoredSource:
        """Return a source by id or name, or raise `NotFound`."""
        async with self._database.transaction(scope.person) as connection:
            row = await fetch_one(
                connection, f"{_SELECT} and (s.id = %(wanted)s or s.name = %(wanted)s)", _values(scope, wanted)
            )
        if row is None:
            raise NotFound(f"there is no source '{wanted}'; see: pincite source list")
        return StoredSource(*row)

    async def all(self, scope: Scope) -> list[StoredSource]:
        """Return the sources by name."""
        async with self._database.transaction(scope.person) as connection:
            rows = await fetch_all(connection, f"{_SELECT} order by s.name", _values(scope, ""))
        return [StoredSource(*row) for row in rows]

    async def remove(self, scope: Scope, source_id: str) -> None:
        """Remove a source; its documents stay."""
        async with self._database.transaction(scope.person) as connection:
            await connection.execute("delete from source where id = %s and owner = %s", (source_id, scope.person))

    async def due(self) -> list[tuple[str, str]]:
        """The ids and owners of sources whose synchronisation is due."""
        async with self._database.transaction("local") as connection:
            return [(row[0], row[1]) for row in await fetch_all(connection, "select * from sources_due()", ())]

    async def claim(self, scope: Scope, source_id: str) -> bool:
        """Claim a source for a synchronisation; False if another one is running."""
        async with self._database.transaction(scope.person) as connection:
            claimed = await connection.execute(
                "update source set state = 'running', error = null, started_at = clock_timestamp(),"
                " claimed_until = clock_timestamp() + make_interval(mins => %s) where id = %s and owner = %s"
                " and (claimed_until is null or claimed_until < clock_timestamp())",
                (CLAIM_MINUTES, source_id, scope.person),
            )
        return bool(claimed.rowcount)

    async def finish(self, scope: Scope, source_id: str, state: SourceState, error: str | None) -> None:
        """Record the end of a synchronisation and release the claim."""
        async with self._database.transaction(scope.person) as connection:
            await connection.execute(
                "update source set state = %s, error = %s, finished_at = clock_timestamp(), claimed_until = null"
                " where id = %s and owner = %s",
                (state, error, source_id, scope.person),
            )

    async def items(self, scope: Scope, source_id: str) -> dict[str, KnownItem]:
        """The known files of a source by key."""
        query = "select key, stamp, document_id from source_item where source_id = %s and owner = %s"
        async with self._database.transaction(scope.person) as connection:
            rows = await fetch_all(connection, query, (source_id, scope.person))
        return {key: KnownItem(stamp, document_id) for key, stamp, document_id in rows}

    async def record(self, scope: Scope, source_id: str, items: Mapping[str, KnownItem]) -> None:
        """Record files and renew the claim."""
        rows = [(source_id, scope.person, key, item.stamp, item.document_id) for key, item in items.items()]
        async with self._database.transaction(scope.person) as connection:
            async with connection.cursor() as cursor:
                await cursor.executemany(_RECORD, rows)
            await connection.execute(
                "update source set claimed_until = clock_timestamp() + make_interval(mins => %s)"
                " where id = %s and claimed_until is not null",
                (CLAIM_MINUTES, source_id),
            )

    async def forget(self, scope: Scope, source_id: str, keys: Sequence[str]) -> None:
        """Forget files that the source no longer has."""
        async with self._database.transaction(scope.person) as connection:
            await connection.execute(
                "delete from source_item where source_id = %s and owner = %s and key = any(%s)",
                (source_id, scope.person, list(keys)),
            )


def _values(scope: Scope, wanted: str) -> dict[str, Any]:
    return {"owner": scope.person, "wanted": wanted}


_SELECT = """
    select s.id, s.owner, s.name, s.kind, s.url, s.folder, s.options, s.secret_env, s.every_minutes,
           case when s.state = 'running' and (s.claimed_until is null or s.claimed_until < clock_timestamp())
                then 'failed' else s.state end,
           case when s.state = 'running' and (s.claimed_until is null or s.claimed_until < clock_timestamp())
                then 'the synchronisation was interrupted' else s.error end,
           (select count(*) from source_item i where i.source_id = s.id and i.document_id is not null),
           s.started_at, s.finished_at, s.created_at
    from source s where s.owner = %(owner)s
"""
_RECORD = """
    insert into source_item (source_id, owner, key, stamp, document_id) values (%s, %s, %s, %s, %s)
    on conflict (source_id, key) do update set stamp = excluded.stamp, document_id = excluded.document_id
"""
