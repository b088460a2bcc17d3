"""Who waits for whom in a database."""

from typing import Any

import psycopg


def somebody_waits(connection: psycopg.Connection[Any]) -> bool:
    """Whether anybody waits for a lock in this database: those of other tests are on the same server."""
    waiting = (
        "select from pg_locks l join pg_stat_activity a using (pid) where not granted and datname = current_database()"
    )
    return bool(connection.execute(waiting).fetchall())
