"""Detects sessions of the database that wait for a lock."""

from typing import Any

import psycopg


def somebody_waits(connection: psycopg.Connection[Any]) -> bool:
    """Whether a session waits for a lock in this database; other tests use other databases of the same server."""
    waiting = (
        "select from pg_locks l join pg_stat_activity a using (pid) where not granted and datname = current_database()"
    )
    return bool(connection.execute(waiting).fetchall())
