"""PostgreSQL settings of one transaction or connection, as statements."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from psycopg import AsyncConnection, sql
from psycopg.rows import TupleRow

from pincite.store import bound

CACHE_PERMISSIONS: Mapping[str, str] = MappingProxyType({"pincite.remember": "on"})
"""Compute a person's readable realms once per transaction: only for short ones that do not change permissions."""


async def become(role: str, connection: AsyncConnection[TupleRow], path: str = "") -> None:
    """Take on the role between transactions, too, where the connection is ours alone; without a path it finds nothing."""
    settings = "select set_config('role', %s, false), set_config('search_path', %s, false)"
    await connection.execute(settings, (role, path))


def set_local(values: Mapping[str, str] | Mapping[str, sql.Placeholder]) -> sql.Composed:
    """Return the statement that sets PostgreSQL settings for one transaction."""
    calls = [sql.SQL("set_config({}, {}, true)").format(name, value) for name, value in values.items()]
    return sql.SQL("select {}").format(sql.SQL(", ").join(calls))


def bound_settings(settings: Mapping[str, str], *, prepared: bool = False) -> bound.Bound:
    """Return the statement that sets the settings of a batch."""
    return _bound_settings(tuple({**CACHE_PERMISSIONS, **settings}.items()), prepared)


@lru_cache(maxsize=256)
def _bound_settings(settings: tuple[tuple[str, str], ...], prepared: bool) -> bound.Bound:
    names = tuple(name for name, _ in settings)
    return bound.bind(_settings_by_name(names), dict(settings), prepared=prepared)


@lru_cache(maxsize=64)
def _settings_by_name(names: tuple[str, ...]) -> bytes:
    """Return the statement that sets these settings, with a placeholder for every value."""
    return set_local({name: sql.Placeholder(name) for name in names}).as_bytes(None)
