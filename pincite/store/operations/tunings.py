"""Tunings of settings on a person's question sets; each person sees only their own."""

import secrets
from collections.abc import Mapping
from typing import Any

from psycopg.types.json import Jsonb

from pincite.core.accounts.access import Scope
from pincite.core.evaluations import StoredTuning
from pincite.errors import NotFound
from pincite.store.database import Database, fetch_all, fetch_one


class Tunings:
    """Stores tunings for their owner; another person's is `NotFound`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, scope: Scope, set_id: str, revision: int) -> StoredTuning:
        """Start a tuning on a set."""
        tuning_id = f"tu_{secrets.token_urlsafe(9)}"
        async with self._database.transaction(scope.person) as connection:
            await connection.execute(
                "insert into evaluation (id, owner, set_id, revision, settings, purpose)"
                " values (%s, %s, %s, %s, '{}', 'tune')",
                (tuning_id, scope.person, set_id, revision),
            )
        return await self.get(scope, tuning_id)

    async def advance(self, scope: Scope, tuning_id: str, progress: float) -> None:
        """Report the progress of a tuning, which also marks it as alive."""
        await self._change(scope, tuning_id, "running", progress=progress)

    async def finish(self, scope: Scope, tuning_id: str, result: Mapping[str, Any]) -> None:
        """Store the result of a tuning and end it."""
        await self._change(scope, tuning_id, "done", progress=1.0, outcome=Jsonb(dict(result)))

    async def fail(self, scope: Scope, tuning_id: str, error: str) -> None:
        """End a tuning with an error."""
        await self._change(scope, tuning_id, "failed", error=error.replace("\0", " "))

    async def get(self, scope: Scope, tuning_id: str) -> StoredTuning:
        """Return one tuning, or raise `NotFound`."""
        async with self._database.transaction(scope.person) as connection:
            row = await fetch_one(connection, _TUNING + " and e.id = %(id)s", {"owner": scope.person, "id": tuning_id})
        if row is None:
            raise NotFound(f"there is no tuning '{tuning_id}'")
        return StoredTuning(*row)

    async def list(self, scope: Scope, limit: int) -> list[StoredTuning]:
        """Return the newest tunings."""
        async with self._database.transaction(scope.person) as connection:
            found = await fetch_all(
                connection,
                _TUNING + " order by e.started_at desc, e.id desc limit %(limit)s",
                {"owner": scope.person, "limit": limit},
            )
        return [StoredTuning(*row) for row in found]

    async def _change(self, scope: Scope, tuning_id: str, state: str, **changes: Any) -> None:
        unchanged = dict.fromkeys(("progress", "error", "outcome"))
        async with self._database.transaction(scope.person, durable=False) as connection:
            await connection.execute(
                _CHANGE, {**unchanged, **changes, "state": state, "id": tuning_id, "owner": scope.person}
            )


# A tuning without a report for a minute counts as interrupted: its process died.
_TUNING = """
    select e.id, e.set_id, s.version,
           case when e.state = 'running' and e.seen_at < clock_timestamp() - interval '60 s' then 'interrupted'
                else e.state end,
           e.progress, e.started_at, e.finished_at, e.error, e.outcome
    from evaluation e left join evaluation_set s on s.id = e.set_id
    where e.owner = %(owner)s and e.purpose = 'tune'
"""
_CHANGE = """
    update evaluation set state = %(state)s, progress = coalesce(%(progress)s, progress), error = %(error)s,
           outcome = %(outcome)s, seen_at = clock_timestamp(),
           finished_at = case when %(state)s <> 'running' then clock_timestamp() end
    where id = %(id)s and owner = %(owner)s
"""
