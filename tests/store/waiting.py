"""Who waits for whom in a database."""

from typing import Any

import psycopg


def somebody_waits(connection: psycopg.Connection[Any]) -> bool:
    """Whether anybody waits for a lock in this database: those of other tests are on the same server."""
    here = "database = (select oid from pg_database where datname = current_database())"
    return bool(connection.execute(f"select from pg_locks where not granted and {here}").fetchall())
