"""Reads the straight lines drawn on a PDF page, from which ruled tables are found."""

import math
from collections.abc import Callable, Iterator
from ctypes import byref, c_float, c_int, c_uint
from itertools import islice
from typing import Any

from pincite.core.documents.pages import Box
from pincite.parsers.layout.words import Rule

_MAX_THICKNESS = 3.0
"""Maximum thickness of a rule in points; a thicker rectangle has rules around it."""
_MIN_LENGTH = 4.0
"""Minimum length of a rule in points."""
_MAX_OBJECTS = 20_000
_MAX_SEGMENTS = 400
"""Maximum number of objects of a page, and of segments of a path, that are examined."""
_MAX_RULES = 1_200
"""Maximum number of rules of a page; a page with more is a drawing."""
_MAX_DEPTH = 4
"""Maximum nesting of form objects."""
_WHITE = 250
"""Colour value from which a fill counts as white."""

Line = tuple[float, float, float, float]
Matrix = tuple[float, float, float, float, float, float]
_IDENTITY: Matrix = (1, 0, 0, 1, 0, 0)


def find_rules(
    page: Any, seen: Callable[[float, float, float, float], Box]
) -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
    """The horizontal and vertical rules of a page, none for a drawing; `seen` maps a rectangle to the displayed page."""
    across: list[Rule] = []
    down: list[Rule] = []
    for line in _lines(page):
        left, top, right, bottom = seen(*line)
        if right - left >= _MIN_LENGTH and bottom - top <= _MAX_THICKNESS:
            across.append(Rule((top + bottom) / 2, left, right))
        elif bottom - top >= _MIN_LENGTH and right - left <= _MAX_THICKNESS:
            down.append(Rule((left + right) / 2, top, bottom))
        if len(across) + len(down) > _MAX_RULES:
            return (), ()
    return tuple(across), tuple(down)


def _lines(page: Any) -> Iterator[Line]:
    from pypdfium2 import raw

    count = raw.FPDFPage_CountObjects(page)
    objects = (raw.FPDFPage_GetObject(page, index) for index in range(count))
    for item, matrix in islice(_all_objects(objects, _IDENTITY, 0), _MAX_OBJECTS):
        if raw.FPDFPageObj_GetType(item) == raw.FPDF_PAGEOBJ_PATH:
            yield from _path_lines(item, matrix)


def _all_objects(objects: Iterator[Any], outer: Matrix, depth: int) -> Iterator[tuple[Any, Matrix]]:
    """All objects, also those nested in form objects, with their transformation matrices."""
    from pypdfium2 import raw

    for item in objects:
        yield item, outer
        if raw.FPDFPageObj_GetType(item) == raw.FPDF_PAGEOBJ_FORM and depth < _MAX_DEPTH:
            inner = (raw.FPDFFormObj_GetObject(item, at) for at in range(raw.FPDFFormObj_CountObjects(item)))
            yield from _all_objects(inner, _multiply(_matrix(item), outer), depth + 1)


def _path_lines(path: Any, outer: Matrix) -> Iterator[Line]:
    """The straight lines of a visible path."""
    from pypdfium2 import raw

    fill, stroke = c_int(), c_int()
    raw.FPDFPath_GetDrawMode(path, byref(fill), byref(stroke))
    if not stroke.value and not (fill.value and _has_visible_fill(path)):
        return
    count = raw.FPDFPath_CountSegments(path)
    if not 2 <= count <= _MAX_SEGMENTS:
        return
    matrix = _multiply(_matrix(path), outer)
    x, y = c_float(), c_float()
    first: tuple[float, float] | None = None
    last: tuple[float, float] | None = None
    for index in range(count):
        segment = raw.FPDFPath_GetPathSegment(path, index)
        raw.FPDFPathSegment_GetPoint(segment, byref(x), byref(y))
        point = _transform(x.value, y.value, matrix)
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            first = point
        elif kind == raw.FPDF_SEGMENT_LINETO and last:
            yield *last, *point
        if first and raw.FPDFPathSegment_GetClose(segment):
            yield *point, *first
        last = point


def _has_visible_fill(path: Any) -> bool:
    from pypdfium2 import raw

    red, green, blue, alpha = c_uint(), c_uint(), c_uint(), c_uint()
    if not raw.FPDFPageObj_GetFillColor(path, byref(red), byref(green), byref(blue), byref(alpha)):
        return False
    return alpha.value > 0 and min(red.value, green.value, blue.value) < _WHITE


def _matrix(item: Any) -> Matrix:
    from pypdfium2 import raw

    matrix = raw.FS_MATRIX()
    if not raw.FPDFPageObj_GetMatrix(item, matrix):
        return _IDENTITY
    return matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f


def _multiply(inner: Matrix, outer: Matrix) -> Matrix:
    """The product of two matrices: first the inner one is applied, then the outer one."""
    a, b, c, d, e, f = inner
    g, h, i, j, k, m = outer
    return (a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m)


def _transform(x: float, y: float, matrix: Matrix) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    moved = a * x + c * y + e, b * x + d * y + f
    return moved if all(map(math.isfinite, moved)) else (0.0, 0.0)
