"""Running headers, footers and page numbers: what stands at the same place on page after page."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pincite.parsers.layout.lines import Piece
from pincite.parsers.layout.tables import Table

Item = Piece | Table

_MARGIN = 0.12
"""Share of the page's height at its top and bottom in which these stand."""
_DRIFT = 4.0
"""Points by which their height may differ from page to page."""
_MIN_PAGES = 3
_NUMBER = re.compile(r"\d+|\b[ivxlcdm]+\b")
_MAX_CHARS = 200

_Key = tuple[bool, str, int]
"""Whether it is at the top, what it says, and how far down it stands, in steps of `_DRIFT`."""


def without_running(pages: Sequence[Sequence[Item]], heights: Sequence[float]) -> list[list[Item]]:
    """The pages without what is repeated at their top or bottom, numbers in it aside.

    Where there are only two pages, what is the same on both may be a letterhead: only numbers that differ go.
    """
    seen: Counter[_Key] = Counter()
    for page, height in zip(pages, heights, strict=True):
        seen.update(
            {key for item in _marginal(page, height) for key in {_key(item, height), _key(item, height, bare=True)}}
        )
    return [_kept(page, height, seen, len(pages)) for page, height in zip(pages, heights, strict=True)]


def _kept(page: Sequence[Item], height: float, seen: Mapping[_Key, int], pages: int) -> list[Item]:
    """A page without what is repeated and what stands beside its number, such as a chapter's name; never nothing."""
    marginal = list(_marginal(page, height))
    gone = [item for item in marginal if _is_repeated(item, height, seen, pages)]
    numbers = [item for item in gone if isinstance(item, Piece) and item.text.isdecimal()]
    out = {id(item) for item in gone}
    out |= {id(item) for item in marginal if isinstance(item, Piece) and any(_beside(item, one) for one in numbers)}
    return [item for item in page if id(item) not in out] or list(page)


def _is_repeated(item: Item, height: float, seen: Mapping[_Key, int], pages: int) -> bool:
    at_top, text, step = _key(item, height, bare=True)
    times = sum(seen[at_top, text, near] for near in (step - 1, step, step + 1))
    if pages >= _MIN_PAGES:
        return times >= _MIN_PAGES
    return pages > 1 and times >= pages and seen[_key(item, height)] < pages


def _key(item: Item, height: float, *, bare: bool = False) -> _Key:
    text = item.text.lower()
    return item.box[3] < height / 2, _NUMBER.sub("#", text) if bare else text, round(item.box[1] / _DRIFT)


def _beside(item: Piece, number: Piece) -> bool:
    return abs(item.base - number.base) < _DRIFT / 2 and abs(item.size - number.size) < 1


def _marginal(page: Sequence[Item], height: float) -> Iterator[Item]:
    """What lies in the margins."""
    for item in page:
        inside = _MARGIN * height < item.box[3] and item.box[1] < (1 - _MARGIN) * height
        if not inside and len(item.text) <= _MAX_CHARS:
            yield item
