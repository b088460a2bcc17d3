"""Reads the words of a PDF page from PDFium's characters."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from ctypes import POINTER, byref, c_double, c_int, c_ushort, cast, create_string_buffer
from dataclasses import dataclass, replace
from typing import Any

from pincite.core.documents.pages import Box
from pincite.parsers.layout.words import SLANTED, Word, bounding_box, rotate_box

_TOKEN = re.compile(r"[^\s\x00-\x1f\x7f-\x9f\ufffe]+")
_HYPHEN = ("\x02", "\ufffe")
"""PDFium's characters for the hyphen at a line end: as a single character, or within a text."""
_DROPPED = str.maketrans(dict.fromkeys("\u200b\u2060\ufeff\ufffe\uffff"))
_SOFT = "\u00ad"
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_BULLETS = str.maketrans(dict.fromkeys("\uf0b7\uf0a7\uf0d8\uf0fc\uf076\uf0a8", "•"))
"""Private code points of symbol fonts that are bullets."""
_BOLD = re.compile(r"bold|black|heavy|(?:^|[-,+])(?:cmbx|sfbx|ecbx|nimbus\w*-?medi)|-(?:bd|demi)", re.IGNORECASE)
_BOLD_WEIGHT = 600
_NAME_BYTES = 128
_MAX_POINTS = 20_000.0
"""Maximum font size and coordinate in points; larger values are invalid."""
_MAX_ILLEGIBLE = 0.5
"""Ratio of illegible to legible words from which all words of a font are left out."""
_MAX_SLANT = math.radians(20)
_ASCENT, _DESCENT = 0.8, 0.2
_SAME_HEIGHT = 0.02
"""Maximum difference in points of the heights of two boxes that count as equal."""
_MIN_REAL_SPACES = 0.2
"""Minimum share of real spaces among all, for a file to count as one with real spaces."""
_SPACE_SAMPLE = 50
"""Generated spaces after which a page without real ones is not examined further."""
_MIN_SPACE = 0.19
"""Minimum width of a space in any font, relative to the font size."""

Links = tuple[tuple[Box, str], ...]
_Spelt = tuple[str, int, int, bool]
"""A word, the indices of its first and last character, and whether PDFium generated the space before it."""


@dataclass(frozen=True, slots=True)
class _Face:
    """The appearance of characters: size, rotation, weight and font."""

    size: float
    turn: int
    bold: bool
    font: bytes


class View:
    """Maps the coordinates of a page to those of the displayed page."""

    def __init__(self, page: Any) -> None:
        self.rotation: int = page.get_rotation()
        self.left, self.bottom, self.right, self.top = page.get_bbox()
        self.width, self.height = page.get_size()

    def point(self, x: float, y: float) -> tuple[float, float]:
        """The displayed position of a point."""
        if self.rotation == 90:
            return y - self.bottom, x - self.left
        if self.rotation == 180:
            return self.right - x, y - self.bottom
        if self.rotation == 270:
            return self.top - y, self.right - x
        return x - self.left, self.top - y

    def box(self, x0: float, y0: float, x1: float, y1: float) -> Box:
        """The displayed box of a rectangle."""
        (a, b), (c, d) = self.point(x0, y0), self.point(x1, y1)
        return min(a, c), min(b, d), max(a, c), max(b, d)

    def shows(self, box: Box) -> bool:
        """Whether a part of a box is on the page."""
        return box[0] < self.width and box[1] < self.height and box[2] > 0 and box[3] > 0

    def clipped(self, box: Box) -> Box:
        """The part of a box that is on the page."""
        if box[0] >= 0 and box[1] >= 0 and box[2] <= self.width and box[3] <= self.height:
            return box
        return max(box[0], 0.0), max(box[1], 0.0), min(box[2], self.width), min(box[3], self.height)

    def turn(self, a: float, b: float) -> int:
        """The clockwise quarter turns of characters whose baseline has the direction (a, b)."""
        angle = math.radians(self.rotation) - math.atan2(b, a)
        if not math.isfinite(angle):
            return SLANTED
        quarters = round(angle / (math.pi / 2))
        return SLANTED if abs(angle - quarters * math.pi / 2) > _MAX_SLANT else quarters % 4


class PageChars:
    """Reads the words of one page; properties that all words of a line share are looked up once."""

    def __init__(self, content: Any, view: View, links: Links) -> None:
        from pypdfium2 import raw

        self.raw, self.content, self.view, self.links = raw, content.raw, view, links
        self.count: int = content.count_chars()
        self.rect, self.matrix = raw.FS_RECTF(), raw.FS_MATRIX()
        self.rect_at, self.matrix_at = byref(self.rect), byref(self.matrix)
        self.x, self.y = c_double(), c_double()
        self.name, self.flags = create_string_buffer(_NAME_BYTES), c_int()
        self.bold: dict[bytes, bool] = {}
        self.illegible: Counter[bytes] = Counter()
        self.spaces: Counter[bool] = Counter()
        self.spaced = False
        self.scales: dict[tuple[float, float, float, float], tuple[float, int]] = {}

    def words(self) -> dict[int, list[Word]]:
        """The words by text direction, in the order of the file."""
        lines = list(self._lines())
        self.spaced = self.spaces[False] > _MIN_REAL_SPACES * self.spaces.total()
        read = [pair for line in lines for pair in self._read(line)]
        used = Counter(face.font for face, _ in read)
        found: dict[int, list[Word]] = defaultdict(list)
        for face, word in read:
            if self.illegible[face.font] < _MAX_ILLEGIBLE * used[face.font]:
                found[face.turn].append(word)
        return dict(found)

    def _lines(self) -> Iterator[list[_Spelt]]:
        """The words of each line as PDFium splits them."""
        text = self._text()
        line: list[_Spelt] = []
        last = 0
        for match in _TOKEN.finditer(text):
            start, end = match.span()
            if line and "\n" in text[last:start]:
                yield line
                line = []
            guessed = start - last == 1 and bool(line) and self._guessed(last)
            last = end
            shown = _clean(match[0]) + ("-" if text[end : end + 1] in _HYPHEN else "")
            if shown and self._legible(shown, start):
                line.append((shown, start, end - 1, guessed))
        if line:
            yield line

    def _text(self) -> str:
        """The text with exactly one character for each of PDFium's."""
        buffer = create_string_buffer(2 * self.count + 2)
        self.raw.FPDFText_GetText(self.content, 0, self.count, cast(buffer, POINTER(c_ushort)))
        text = buffer.raw[:-2].decode("utf-16-le", "surrogatepass")
        # If PDFium dropped a character or wrote one as two, the indices would shift.
        if len(text) == self.count and "\0" not in text and not _has_surrogates(text):
            return text
        codes = (self.raw.FPDFText_GetUnicode(self.content, index) for index in range(self.count))
        return "".join(chr(code) if code < 0x110000 else " " for code in codes)

    def _read(self, line: Sequence[_Spelt]) -> list[tuple[_Face, Word]]:
        """The words of a line; if its first and last word look the same, words of that height between them do, too."""
        face, last = self._face(line[0][1]), self._face(line[-1][1])
        base = self._base(line[0][1], face.turn)
        height: tuple[float, float] | None = None
        done: list[tuple[_Face, Word]] = []
        for text, start, end, guessed in line:
            box = self._box(start, end)
            if not self.view.shows(box):
                continue
            own, at = face, base
            if height is None:
                height = box[1], box[3]
            elif face != last or face.turn or abs(box[1] - height[0]) + abs(box[3] - height[1]) > _SAME_HEIGHT:
                own = self._face(start)
                at = self._base(start, own.turn)
            word = self._word(text, box, at, own)
            if guessed and self.spaced and done and self._close(done[-1][1], word):
                done[-1] = done[-1][0], _join(done[-1][1], word)
            else:
                done.append((own, word))
        return done

    def _word(self, text: str, box: Box, base: float, face: _Face) -> Word:
        link = self._link(box) if self.links else ""
        box = self.view.clipped(box)
        box = rotate_box(box, face.turn, self.view.width, self.view.height) if face.turn else box
        # Some fonts report a wrong height.
        if face.turn != SLANTED and not 0.3 * face.size < box[3] - box[1] < 3 * face.size:
            box = (box[0], base - _ASCENT * face.size, box[2], base + _DESCENT * face.size)
        return Word(text, box, base, face.size, face.bold, link)

    def _guessed(self, index: int) -> bool:
        """Whether PDFium generated a space; in a file with real spaces, a narrow generated space is wrong."""
        if self.spaces[True] > _SPACE_SAMPLE and not self.spaces[False]:
            return True
        guessed = bool(self.raw.FPDFText_IsGenerated(self.content, index))
        self.spaces[guessed] += 1
        return guessed

    def _close(self, one: Word, other: Word) -> bool:
        return one.base == other.base and abs(other.box[0] - one.box[2]) < _MIN_SPACE * other.size

    def _legible(self, text: str, index: int) -> bool:
        """Whether the font maps its characters to Unicode; without a mapping, the text is wrong."""
        if not self.raw.FPDFText_HasUnicodeMapError(self.content, index):
            return True
        if len(text) == 1 and not text.isalnum():
            return True  # a bullet or the like
        self.illegible[self._face(index).font] += 1
        return False

    def _face(self, index: int) -> _Face:
        raw, matrix = self.raw, self.matrix
        raw.FPDFText_GetMatrix(self.content, index, self.matrix_at)
        key = (matrix.a, matrix.b, matrix.c, matrix.d)
        if key not in self.scales:
            self.scales[key] = math.hypot(matrix.c, matrix.d), self.view.turn(matrix.a, matrix.b)
        scale, turn = self.scales[key]
        size = float(raw.FPDFText_GetFontSize(self.content, index)) * scale
        size = round(size, 1) if 0 < size < _MAX_POINTS else 1.0  # a file may contain any value
        raw.FPDFText_GetFontInfo(self.content, index, self.name, _NAME_BYTES, byref(self.flags))
        name = self.name.value
        if name not in self.bold:
            heavy = raw.FPDFText_GetFontWeight(self.content, index) >= _BOLD_WEIGHT
            self.bold[name] = heavy or bool(_BOLD.search(name.decode("utf-8", "replace")))
        return _Face(size, turn, self.bold[name], name)

    def _base(self, index: int, turn: int) -> float:
        """The baseline of a character, in its text direction."""
        self.raw.FPDFText_GetCharOrigin(self.content, index, byref(self.x), byref(self.y))
        x, y = self.view.point(self.x.value, self.y.value)
        base = rotate_box((x, y, x, y), turn, self.view.width, self.view.height)[1] if turn else y
        return base if abs(base) < _MAX_POINTS else 0.0

    def _box(self, first: int, last: int) -> Box:
        rect, ask = self.rect, self.raw.FPDFText_GetLooseCharBox
        ask(self.content, first, self.rect_at)
        left, bottom, right, top = rect.left, rect.bottom, rect.right, rect.top
        if last > first:
            ask(self.content, last, self.rect_at)
            left, bottom = min(left, rect.left), min(bottom, rect.bottom)
            right, top = max(right, rect.right), max(top, rect.top)
        view = self.view
        if view.rotation:
            return view.box(left, bottom, right, top)
        return left - view.left, view.top - top, right - view.left, view.top - bottom

    def _link(self, box: Box) -> str:
        x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        return next((uri for (x0, y0, x1, y1), uri in self.links if x0 <= x <= x1 and y0 <= y <= y1), "")


def _join(one: Word, other: Word) -> Word:
    return replace(one, text=one.text + other.text, box=bounding_box((one.box, other.box)))


def _has_surrogates(text: str) -> bool:
    """Whether the text has surrogates."""
    return not text.isascii() and any("\ud800" <= char <= "\udfff" for char in set(text))


def _clean(token: str) -> str:
    """The word without invisible characters, except a final soft hyphen; ligatures become separate letters."""
    if token.isascii():
        return token
    text = token.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    text = text.translate(_DROPPED).translate(_LIGATURES).translate(_BULLETS)
    return text[:-1].replace(_SOFT, "") + text[-1:] if text.strip(_SOFT) else ""
