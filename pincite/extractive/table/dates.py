"""The dates of a table's column."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pincite.extractive.table.numbers import is_empty
from pincite.text import lang
from pincite.text.quantities import months_of

MONTHS_PER_QUARTER = 3

_ISO = re.compile(r"(?P<y>\d{4})-(?P<m>\d{2})(?:-(?P<d>\d{2}))?(?:[ T].*)?")
_DOTTED = re.compile(r"(?:(?P<d>\d{1,2})\. ?)?(?P<m>\d{1,2})\. ?(?P<y>\d{4})")
_NAMED = re.compile(r"(?:(?P<d>\d{1,2})\.? )?(?P<name>[^\W\d_]+)\.?,? (?:(?P<d2>\d{1,2}), )?(?P<y>\d{4})")
_YEAR = re.compile(r"(?P<y>(?:19|20)\d{2})")


@dataclass(frozen=True, slots=True, order=True)
class Date:
    """A day, a month (`day` is 0) or a year (`month` is 0)."""

    year: int
    month: int = 0
    day: int = 0

    @property
    def quarter(self) -> int:
        """The quarter of its year; 0 for a year."""
        return (self.month + MONTHS_PER_QUARTER - 1) // MONTHS_PER_QUARTER


def read_dates(cells: Sequence[str], language: str) -> tuple[Date | None, ...] | None:
    """The dates of a column, None for an empty cell; None where a cell is no date or where two dates differ in kind."""
    found = [None if is_empty(cell) else _date(cell, language) for cell in cells]
    dates = [date for date in found if date]
    if not dates or len(dates) != sum(not is_empty(cell) for cell in cells):
        return None
    if len({(bool(date.month), bool(date.day)) for date in dates}) > 1:
        return None
    return tuple(found)


def _date(cell: str, language: str) -> Date | None:
    for pattern in (_ISO, _DOTTED, _YEAR):
        if match := pattern.fullmatch(cell):
            parts = match.groupdict()
            return Date(int(parts["y"]), int(parts.get("m") or 0), int(parts.get("d") or 0))
    match = _NAMED.fullmatch(cell)
    if not match:
        return None
    name = match["name"].lower()
    month = next((months[name] for one in lang.recognised(language) if name in (months := months_of(one))), 0)
    return Date(int(match["y"]), month, int(match["d"] or match["d2"] or 0)) if month else None
