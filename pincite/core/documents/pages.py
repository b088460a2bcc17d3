"""Positions of text in a file: on pages and slides, in sheets and rows, in parts of a mail."""

import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from typing import Literal

PageKind = Literal["page", "slide", "sheet", "part", "text"]
"""The kind of a page; a file without pages has one page of the kind `text`."""
Box = tuple[float, float, float, float]
"""Left, top, right and bottom in points, from the upper left corner of the displayed page."""

_BOX_SCALE = 10
"""Units per point of a stored box: boxes are rounded to a tenth of a point."""


@dataclass(frozen=True, slots=True)
class PageMark:
    """The position of the text [start:end] on its page: a box, or a reference such as `C7:F7` or `table 2, row 3`."""

    start: int
    end: int
    box: Box | None = None
    ref: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A page, slide, sheet or part of a mail; its text ends at the start of the next page.

    `marks` are packed, since a long file has hundreds of thousands of them and few are ever read.
    """

    start: int
    kind: PageKind = "page"
    name: str = ""
    width: float = 0.0
    height: float = 0.0
    marks: bytes = b""

    def unpack_marks(self, start: int = 0, end: float = inf) -> tuple[PageMark, ...]:
        """Return the marks that touch [start:end], in the order of the text."""
        return unpack(self.marks, start, end)


def pack(marks: Iterable[PageMark]) -> bytes:
    """Compress marks; they must be in the order of the text and must not overlap."""
    rows, last = [], 0
    for mark in marks:
        if not last <= mark.start <= mark.end:
            raise ValueError(
                f"the mark {mark} starts before the end of the previous mark ({last}), or ends before its own start"
            )
        box = [round(edge * _BOX_SCALE) for edge in mark.box] if mark.box else None
        rows.append([mark.start - last, mark.end - mark.start, mark.ref or box])
        last = mark.end
    return zlib.compress(json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()) if rows else b""


def unpack(packed: bytes, low: int = 0, high: float = inf) -> tuple[PageMark, ...]:
    """Return packed marks, from the first that ends at or after `low` to the last that starts before `high`."""
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
    left, top, right, bottom = (edge / _BOX_SCALE for edge in where) if where else (0.0,) * 4
    return PageMark(start, end, box=(left, top, right, bottom) if where else None)
