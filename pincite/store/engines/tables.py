"""The tables of the engines: what removing a document, moving it and replacing it must not forget."""

from collections.abc import Mapping, Sequence
from typing import LiteralString

from psycopg import sql

from pincite.core.engines import BuiltEngine
from pincite.store.database import Connection

ENGINE_TABLES: Mapping[BuiltEngine, tuple[LiteralString, ...]] = {
    "graph": ("graph_mention", "graph_fact", "graph_edge", "graph_same", "graph_vector"),
    "tree": ("tree_member", "tree_node"),
    "late": ("late_centroid", "late_passage"),
}
"""Tables with the rows of an engine; each has the columns `edition` and `realm`."""
STATE_TABLE = "engine_edition"
ALL_TABLES: tuple[LiteralString, ...] = (
    *(table for tables in ENGINE_TABLES.values() for table in tables),
    STATE_TABLE,
)


async def remove_rows(connection: Connection, editions: Sequence[int], engines: Sequence[BuiltEngine]) -> int:
    """Remove the rows of engines for these editions, and return their number; their states stay."""
    removed = 0
    for engine in engines:
        for table in ENGINE_TABLES[engine]:
            statement = sql.SQL("delete from {} where edition = any(%s)").format(sql.Identifier(table))
            removed += (await connection.execute(statement, (list(editions),))).rowcount
    return removed


async def remove_builds(connection: Connection, editions: Sequence[int]) -> dict[BuiltEngine, int]:
    """Remove the rows of all engines for these editions with their states; return the number of rows of each."""
    removed = {engine: await remove_rows(connection, editions, [engine]) for engine in ENGINE_TABLES}
    await connection.execute("delete from engine_edition where edition = any(%s)", (list(editions),))
    return removed


def count_rows() -> sql.Composed:
    """Return the SQL of the number of rows that the engines hold of `%(editions)s`."""
    count = "(select count(*) from {} where edition = any(%(editions)s))"
    return sql.SQL(" + ").join(sql.SQL(count).format(sql.Identifier(table)) for table in ALL_TABLES)
