"""Values computed from the cells of a table's column, and the check that computes them again."""

from collections.abc import Sequence
from decimal import Decimal

from pincite.core.query.prompt import Computation, Operation
from pincite.extractive.table.dates import Date, read_dates
from pincite.extractive.table.numbers import is_empty, read_numbers, write_number
from pincite.extractive.tables import Table


def compute(operation: Operation, table: Table, column: int, rows: Sequence[int], language: str) -> str:
    """The result of an operation on the cells of these rows, as it is shown; empty where it cannot be computed."""
    cells = table.column(column)
    if operation == "count":
        return str(len(rows))
    if operation == "distinct":
        return str(len({cells[row].casefold() for row in rows if not is_empty(cells[row])}))
    if operation in ("highest", "lowest"):
        holders = extreme_rows(operation, table, column, rows, language)
        return cells[holders[0]] if holders else ""
    numbers = read_numbers(cells, language)
    values = [value for row in rows if numbers and (value := numbers.values[row]) is not None]
    if numbers is None or not values:
        return ""
    total = sum(values, Decimal(0))
    if operation == "sum":
        return write_number(total, numbers.style)
    return write_number(total / len(values), numbers.style, mean=True)


def extreme_rows(operation: Operation, table: Table, column: int, rows: Sequence[int], language: str) -> list[int]:
    """The rows with the highest or the lowest number or date of a column; none where it has other cells."""
    cells = table.column(column)
    numbers = read_numbers(cells, language)
    values: dict[int, Decimal | Date | None]
    if dates := read_dates([cells[row] for row in rows], language):
        values = dict(zip(rows, dates, strict=True))
    elif numbers:
        values = {row: numbers.values[row] for row in rows}
    else:
        return []
    known = {row: value for row, value in values.items() if value is not None}
    if not known:
        return []
    best = (max if operation == "highest" else min)(known.values())
    return [row for row, value in known.items() if value == best]


def is_computed(computation: Computation, table: Table, language: str) -> bool:
    """Whether the rows that a computation names give its value when it is computed again."""
    numbers = {(row.start, row.end): number for number, row in enumerate(table.rows)}
    if not computation.rows or not all(span in numbers for span in computation.rows):
        return False
    rows = [numbers[span] for span in computation.rows]
    return compute(computation.operation, table, computation.column, rows, language) == computation.value
