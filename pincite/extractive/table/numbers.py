"""The numbers of a table's column: read in any spelling, and written as the column writes them."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from pincite.text import lang
from pincite.text.units import units

MEAN_DECIMALS = 2
"""Minimum number of decimals of an average that is no whole number."""
GROUP_DIGITS = 3
_OTHER_MARK = {".": ",", ",": "."}

_NUMBER = re.compile(r"[-+−]?\d+(?:[.,'’\u00a0\u202f ]\d+)*")
_CELL = re.compile(rf"(?P<before>[^\d\s+−-]{{0,5}}\.?)\s?(?P<number>{_NUMBER.pattern})\s?(?P<after>[^\d]{{0,16}})")
_BLANKS = "'’\u00a0\u202f "
_LEADING_ZERO = re.compile(r"[-+−]?0\d")
_EMPTY = re.compile(r"[-–—./]*")


@dataclass(frozen=True, slots=True)
class NumberStyle:
    """How a column writes its numbers: decimal mark, grouping mark, decimals, and the text around a number.

    `fixed` means that all numbers have the same decimals.
    """

    decimal: str
    group: str
    decimals: int
    fixed: bool = True
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """The numbers of a column, None for an empty cell, and their style."""

    values: tuple[Decimal | None, ...]
    style: NumberStyle


def is_empty(cell: str) -> bool:
    """Whether a cell has no value: empty, a dash, or `n/a`."""
    return bool(_EMPTY.fullmatch(cell)) or cell.lower() in lang.recognised_words("tables.empty")


def read_numbers(cells: Sequence[str], language: str = "") -> NumberColumn | None:
    """The numbers of a column; None where a cell is no number, where units differ, or where a mark is ambiguous."""
    matches = [None if is_empty(cell) else _CELL.fullmatch(cell) for cell in cells]
    found = [match for match in matches if match]
    if not found or len(found) != sum(not is_empty(cell) for cell in cells):
        return None
    known = units(language)
    if any(match["before"] and match["before"].lower() not in known for match in found):
        return None
    if len({_unit(match, known) for match in found}) > 1:
        return None
    written = [match["number"] for match in found]
    decimal = _decimal_mark(written, language)
    if decimal is None or any(_LEADING_ZERO.match(one) for one in written):
        return None
    values = [_value(match["number"], decimal) if match else None for match in matches]
    if any(match and value is None for match, value in zip(matches, values, strict=True)):
        return None
    return NumberColumn(tuple(values), _style(found, decimal))


def _unit(match: re.Match[str], known: Mapping[str, tuple[str, float]]) -> tuple[str, float]:
    """The unit of a cell and its size; words that are no unit count as a unit of their own."""
    sign = f"{match['before']} {match['after']}".strip().lower()
    return known.get(sign, (sign, 1.0))


def _decimal_mark(written: Sequence[str], language: str) -> str | None:
    """The decimal mark of most numbers; where none tells, thousands are grouped with the mark that the language uses."""
    votes = Counter(mark for one in written if (mark := _told_decimal_mark(one)))
    if votes:
        (mark, count), *others = votes.most_common()
        return None if others and others[0][1] == count else mark
    marks = {char for one in written for char in one if char in ".,"}
    if not marks:
        return "."
    if len(marks) > 1:
        return None
    [mark] = marks
    unmarked = [one.lstrip("-+−") for one in written if mark not in one]
    if any(len(one) > GROUP_DIGITS for one in unmarked):
        return mark  # it would group this number too
    grouped = unmarked or mark == lang.message("tables.grouping_mark", language)
    return _OTHER_MARK[mark] if grouped else None


def _told_decimal_mark(written: str) -> str:
    """The decimal mark that a number by itself tells; empty where it tells none."""
    marks = [char for char in written if char in ".,"]
    if not marks:
        return ""
    if len(set(marks)) > 1:
        return marks[-1]
    if len(marks) > 1:
        return _OTHER_MARK[marks[0]]
    whole, _, tail = written.rpartition(marks[0])
    grouped = len(tail) == GROUP_DIGITS and whole.lstrip("-+−") not in ("", "0")
    return "" if grouped else marks[0]


def _value(written: str, decimal: str) -> Decimal | None:
    """A number with this decimal mark; None where its groups have no three digits."""
    sign = -1 if written[0] in "-−" else 1
    whole, _, tail = written.lstrip("-+−").partition(decimal)
    groups = re.split(rf"[.,{_BLANKS}]", whole)
    if not all(group.isdigit() for group in groups) or (tail and not tail.isdigit()):
        return None
    if len(groups) > 1 and (len(groups[0]) > GROUP_DIGITS or any(len(one) != GROUP_DIGITS for one in groups[1:])):
        return None
    return sign * Decimal(f"{''.join(groups)}.{tail or 0}")


def _style(found: Sequence[re.Match[str]], decimal: str) -> NumberStyle:
    numbers = [match["number"] for match in found]
    whole_parts = [one.partition(decimal) for one in numbers]
    group = next((char for whole, _, _ in whole_parts for char in whole if char in f".,{_BLANKS}"), "")
    text = found[0].group()
    before, after = text[: found[0].start("number")], text[found[0].end("number") :]
    sizes = {len(tail) for _, _, tail in whole_parts}
    return NumberStyle(decimal, group, max(sizes), len(sizes) == 1, before, after)


def write_number(value: Decimal, style: NumberStyle, *, mean: bool = False) -> str:
    """A number as the column writes it; an average has decimals where it is no whole number."""
    decimals = style.decimals
    if mean and value != round(value, decimals):
        decimals = max(decimals, MEAN_DECIMALS)
    rounded = value.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    whole, _, tail = f"{rounded:,.{decimals}f}".partition(".")
    tail = tail if style.fixed else tail.rstrip("0")
    number = whole.replace(",", style.group) + (f"{style.decimal}{tail}" if tail else "")
    return f"{style.before}{number}{style.after}"
