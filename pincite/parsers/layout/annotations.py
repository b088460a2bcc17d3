"""Reads the text of annotations on a PDF page: filled form fields and visible text notes."""

from collections.abc import Iterator
from ctypes import POINTER, byref, c_ushort, cast, create_string_buffer
from typing import Any

from pincite.core.documents.pages import Box
from pincite.parsers.layout.pdf_chars import View
from pincite.parsers.layout.words import Word, rotate_box
from pincite.parsers.markdown_out.writer import one_line

_MAX_NOTES = 5_000
"""Maximum number of annotations of a page."""
_HIDDEN = 0b100010
"""Flags of annotations that are hidden or not displayed on screen."""
_PITCH, _MAX_SIZE = 1.2, 9.0
"""Line pitch relative to the font size, and maximum font size in points, which are estimates."""
_ADVANCE = 0.5
"""Approximate width of a letter, relative to the font size."""


def annotation_words(page: Any, view: View) -> list[Word]:
    """The words of filled fields and text notes; their boxes are estimated within the annotation's box."""
    from pypdfium2 import raw

    found: list[Word] = []
    for index in range(min(raw.FPDFPage_GetAnnotCount(page), _MAX_NOTES)):
        if note := raw.FPDFPage_GetAnnot(page, index):
            rect = raw.FS_RECTF()
            if (text := _text(note)) and raw.FPDFAnnot_GetRect(note, byref(rect)):
                box = view.box(rect.left, rect.bottom, rect.right, rect.top)
                if view.shows(box):
                    found += _words(text, rotate_box(view.clipped(box), view.turn(1, 0), view.width, view.height))
            raw.FPDFPage_CloseAnnot(note)
    return found


def _text(note: Any) -> str:
    from pypdfium2 import raw

    kind = raw.FPDFAnnot_GetSubtype(note)
    if raw.FPDFAnnot_GetFlags(note) & _HIDDEN:
        return ""
    if kind == raw.FPDF_ANNOT_FREETEXT:
        return _string(note, b"Contents")
    return _string(note, b"V") if kind == raw.FPDF_ANNOT_WIDGET else ""


def _string(note: Any, key: bytes) -> str:
    """The text value of a key; empty where the value is not text, as with check boxes."""
    from pypdfium2 import raw

    if raw.FPDFAnnot_GetValueType(note, key) != raw.FPDF_OBJECT_STRING:
        return ""
    size = raw.FPDFAnnot_GetStringValue(note, key, None, 0)
    buffer = create_string_buffer(size)
    raw.FPDFAnnot_GetStringValue(note, key, cast(buffer, POINTER(c_ushort)), size)
    return buffer.raw[: max(size - 2, 0)].decode("utf-16-le", "ignore")


def _words(text: str, box: Box) -> Iterator[Word]:
    lines = [line for line in map(one_line, text.splitlines()) if line]
    left, top, right, bottom = box
    height = (bottom - top) / max(len(lines), 1)
    size = round(max(min(height / _PITCH, _MAX_SIZE), 1.0), 1)
    for number, line in enumerate(lines):
        step = min(_ADVANCE * size, (right - left) / len(line))
        y, at = top + number * height, 0
        for token in line.split():
            at = line.index(token, at)
            edges = (left + at * step, y, left + (at + len(token)) * step, y + height)
            yield Word(token, edges, y + height * 0.75, size)
            at += len(token)
