"""Removes running headers, footers and page numbers: items at the same position on several pages."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pincite.parsers.layout.lines import LinePiece
from pincite.parsers.layout.tables import Table

Item = LinePiece | Table

_MARGIN = 0.12
"""Height of the top and bottom margin in which running lines are searched, relative to the page height."""
_MAX_DRIFT = 4.0
"""Maximum difference in points of a running line's position from page to page."""
_MIN_PAGES = 3
"""Minimum number of pages on which a running line is repeated."""
_NUMBER = re.compile(r"\d{1,9}|\b[ivxlcdm]{1,9}\b")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_MAX_CHARS = 200
"""Maximum length of a running line."""

_Key = tuple[bool, str, int]
"""Whether an item is at the top, its text, and its vertical position in steps of `_MAX_DRIFT`."""


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A page: its number, height and items."""

    number: int
    height: float
    items: Sequence[Item]


def remove_running_lines(pages: Sequence[Sequence[Item]], heights: Sequence[float]) -> list[list[Item]]:
    """The pages without items that are repeated at their top or bottom, also with a rising page number in them.

    With only two pages, a repeated item may be a letterhead: there, only items with a rising number are removed.
    """
    sheets = [_Sheet(number, *sheet) for number, sheet in enumerate(zip(heights, pages, strict=True))]
    seen: Counter[_Key] = Counter()
    for sheet in sheets:
        seen.update({key for item in _margin_items(sheet) for key in _keys(item, sheet)})
    return [_without_repeated(sheet, seen, len(pages)) for sheet in sheets]


def _without_repeated(sheet: _Sheet, seen: Mapping[_Key, int], pages: int) -> list[Item]:
    """A page without repeated items and items next to its number, such as a chapter title; it is never emptied."""
    marginal = list(_margin_items(sheet))
    gone = [item for item in marginal if _is_repeated(_keys(item, sheet), seen, pages)]
    numbers = [item for item in gone if isinstance(item, LinePiece) and item.text.isdecimal()]
    out = {id(item) for item in gone}
    out |= {
        id(item) for item in marginal if isinstance(item, LinePiece) and any(_is_next_to(item, one) for one in numbers)
    }
    return [item for item in sheet.items if id(item) not in out] or list(sheet.items)


def _is_repeated(keys: Sequence[_Key], seen: Mapping[_Key, int], pages: int) -> bool:
    if pages >= _MIN_PAGES:
        return any(_count_near(key, seen) >= _MIN_PAGES for key in keys)
    return pages > 1 and any(_count_near(key, seen) >= pages for key in keys[1:])


def _count_near(key: _Key, seen: Mapping[_Key, int]) -> int:
    at_top, text, step = key
    return sum(seen[at_top, text, near] for near in (step - 1, step, step + 1))


def _keys(item: Item, sheet: _Sheet) -> list[_Key]:
    """The keys of an item: its text, and its text with each number replaced by the difference to the page index.

    Page numbers have a constant difference. Other numbers, as in the lines of a long list, have not.
    """
    text = item.text.lower()
    texts = [text]
    for found in _NUMBER.finditer(text):
        texts.append(f"{text[: found.start()]}#{_value(found[0]) - sheet.number}{text[found.end() :]}")
    return [(item.box[3] < sheet.height / 2, one, round(item.box[1] / _MAX_DRIFT)) for one in texts]


def _value(number: str) -> int:
    if number.isdecimal():
        return int(number)
    worth = [_ROMAN[letter] for letter in number]
    return sum(-one if one < two else one for one, two in zip(worth, [*worth[1:], 0], strict=True))


def _is_next_to(item: LinePiece, number: LinePiece) -> bool:
    return abs(item.base - number.base) < _MAX_DRIFT / 2 and abs(item.size - number.size) < 1


def _margin_items(sheet: _Sheet) -> Iterator[Item]:
    """The items in the margins of a page."""
    for item in sheet.items:
        inside = _MARGIN * sheet.height < item.box[3] and item.box[1] < (1 - _MARGIN) * sheet.height
        if not inside and len(item.text) <= _MAX_CHARS:
            yield item
