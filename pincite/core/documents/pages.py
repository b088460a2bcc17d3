"""Where in a file a piece of its text stands, as the file itself counts: pages, slides, sheets, rows, parts of a mail."""

import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from typing import Literal

PageKind = Literal["page", "slide", "sheet", "part", "text"]
"""`text` is what a file without pages has: one that holds all of it."""
Box = tuple[float, float, float, float]
"""Left, top, right and bottom in points, from the upper left corner of the page as it is shown."""

_GRAIN = 10
"""Boxes are kept to a tenth of a point."""


@dataclass(frozen=True, slots=True)
class PageMark:
    """Where the text [start:end] stands on its page: in a box, or at a reference such as `C7:F7` or `table 2, row 3`."""

    start: int
    end: int
    box: Box | None = None
    ref: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A page, slide, sheet or part of a mail: its text begins at `start` and ends where the next one's begins.

    `marks` are packed, since a long file has hundreds of thousands, and few are ever looked at.
    """

    start: int
    kind: PageKind = "page"
    name: str = ""
    width: float = 0.0
    height: float = 0.0
    marks: bytes = b""

    def placed(self, start: int = 0, end: float = inf) -> tuple[PageMark, ...]:
        """What stands where, in the order of the text; of it, what touches [start:end]."""
        return unpack(self.marks, start, end)


def pack(marks: Iterable[PageMark]) -> bytes:
    """Marks in few bytes; they must not overlap and must be in the order of the text."""
    rows, last = [], 0
    for mark in marks:
        if not last <= mark.start <= mark.end:
            raise ValueError(
                f"the mark {mark} begins before the one before it ends at {last}, or ends before it begins"
            )
        box = [round(edge * _GRAIN) for edge in mark.box] if mark.box else None
        rows.append([mark.start - last, mark.end - mark.start, mark.ref or box])
        last = mark.end
    return zlib.compress(json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()) if rows else b""


def unpack(packed: bytes, low: int = 0, high: float = inf) -> tuple[PageMark, ...]:
    """The marks that were packed, from the first that ends at or after `low` to the last that begins before `high`."""
    found: list[PageMark] = []
    last = 0
    for gap, length, where in json.loads(zlib.decompress(packed)) if packed else ():
        start = last + gap
        last = start + length
        if start >= high:
            break
        if last >= low:
            found.append(_mark(start, last, where))
    return tuple(found)


def _mark(start: int, end: int, where: "str | list[int] | None") -> PageMark:
    if isinstance(where, str):
        return PageMark(start, end, ref=where)
    left, top, right, bottom = (edge / _GRAIN for edge in where) if where else (0.0,) * 4
    return PageMark(start, end, box=(left, top, right, bottom) if where else None)
