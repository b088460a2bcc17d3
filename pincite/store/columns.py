"""SQL column lists by name: one list makes both the `select` and the named values of its rows."""

from collections.abc import Mapping, Sequence
from typing import Any, LiteralString

Columns = Mapping[str, LiteralString]
"""The name of each value → its SQL expression, in the order of the `select` list."""


def select_list(columns: Columns) -> LiteralString:
    """Return the expressions of the columns as a `select` list."""
    return ", ".join(columns.values())


def by_name(columns: Columns, row: Sequence[Any]) -> dict[str, Any]:
    """Return the values of a row by the names of its columns; values after the last column are ignored."""
    return dict(zip(columns, row, strict=False))
