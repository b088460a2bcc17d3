"""Writes pages as Markdown, with a mark for the position of each word."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise

from pincite.core.documents.pages import Box, PageMark
from pincite.parsers.layout.blocks import Flow, Line
from pincite.parsers.layout.headings import Style
from pincite.parsers.layout.tables import Table
from pincite.parsers.layout.words import Word
from pincite.parsers.markdown_out.writer import escaped, rule

_PARAGRAPH_GAP = 1.25
"""Line distance relative to the usual one, above which a new paragraph starts."""
_INDENT_RANGE = (0.7, 6.0)
"""Minimum and maximum indent of a paragraph's first line, relative to the font size."""
_MIN_SAME_SIZE = 0.88
"""Minimum ratio of the font sizes of two lines of one paragraph."""
_SENTENCE_END = (".", "!", "?", ":", "”", '"')
_SOFT = "\u00ad"
_HYPHENS = f"-{_SOFT}\u2010"
_BULLETS = "•◦▪●○■□‣∙·⁃"
_PUNCTUATION = ".,;:!?"
_NUMBER = re.compile(r"\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)]")
_WORD = re.compile(r"[^\W\d_]+")

Place = Callable[[Box], Box]
"""Maps a box of a sheet to a box on the page."""


@dataclass(frozen=True, slots=True)
class _Token:
    """A word as it is written; a glued one follows the previous word without a space."""

    text: str
    word: Word
    glued: bool = False


_Tokens = list[_Token]


class HyphenJoiner:
    """Joins words that are hyphenated at line ends.

    The hyphen stays where both halves are words of the document and the joined word is not, as in `well-known`.
    """

    def __init__(self, pages: Iterable[Flow]) -> None:
        words = (word for page in pages for item in page for word in _words(item))
        # Halves of hyphenated words are left out: a word with a final hyphen, and the word after it.
        whole = (
            two.text for one, two in pairwise(chain([None], words)) if two and not _is_half(one) and not _is_half(two)
        )
        self.known = {part.lower() for text in whole for part in _WORD.findall(text)}

    def joins(self, before: Word, after: Word) -> bool:
        """Whether a word is hyphenated at the end of its line and continues in the other."""
        hyphenated = len(before.text) > 1 and before.text[-1] in _HYPHENS and before.text[-2].isalpha()
        lower = after.base > before.base + 0.5 * before.size or after.box[0] < before.box[0]
        return hyphenated and lower and after.text[0].isalpha()

    def first_half(self, before: str, after: str) -> str:
        """The first half as it is written before the second, with or without its hyphen."""
        if before[-1] == _SOFT:
            return before[:-1]
        first, second = _WORD.findall(before)[-1].lower(), _WORD.findall(after)[0].lower()
        compound = {first, second} <= self.known and first + second not in self.known
        return before if compound or after[0].isupper() else before[:-1]

    def tokens(self, words: Sequence[Word]) -> _Tokens:
        """The tokens of one or more lines, with hyphenated words joined."""
        tokens = [_Token(word.text.rstrip(_SOFT), word) for word in words]
        for index, (before, after) in enumerate(pairwise(words)):
            if self.joins(before, after):
                tokens[index] = _Token(self.first_half(before.text, after.text), before, tokens[index].glued)
                tokens[index + 1] = _Token(after.text, after, glued=True)
        return tokens


def render(page: Flow, style: Style, joiner: HyphenJoiner, place: Place) -> tuple[str, list[PageMark]]:
    """The text of a page and its marks; text that Markdown would take for structure is escaped."""
    writer = _PageWriter(place)
    lines = _line_tokens(page, joiner)
    begun = False
    items: list[float] = []
    for index, (item, tokens) in enumerate(zip(page, lines, strict=True)):
        if isinstance(item, Table):
            writer.put("\n\n" if begun else "")
            _write_table(writer, item, joiner)
            items = []
        elif tokens:
            marker = _marker(item, tokens)
            apart = begun and _starts_paragraph(page, index, style, bool(marker), items)
            writer.put("\n\n" if apart else "\n" if begun else "")
            items = _open_items(items, item, bool(marker), apart)
            _write_line(writer, item, tokens, marker, len(items) - 1)
        begun = begun or bool(writer.length)
    return writer.text, writer.marks


class _PageWriter:
    """Collects the text of a page and the marks of its words."""

    def __init__(self, place: Place) -> None:
        self.parts: list[str] = []
        self.marks: list[PageMark] = []
        self.length = 0
        self.place = place

    @property
    def text(self) -> str:
        return "".join(self.parts)

    def put(self, text: str) -> None:
        if text:
            self.parts.append(text)
            self.length += len(text)

    def words(self, tokens: _Tokens, change: Callable[[str], str] = str) -> None:
        """Write words with spaces between them; adjacent words with the same link target form one link."""
        begun = False
        for link, run in _link_runs(tokens):
            for token in run:
                self.put(" " if begun and not token.glued else "")
                self.put("[" if link and token is run[0] else "")
                text = change(token.text)
                text = text.replace("[", r"\[").replace("]", r"\]") if link else text
                last = link and token is run[-1]
                kept = (text.rstrip(_PUNCTUATION) or text) if last else text
                self.marks.append(PageMark(self.length, self.length + len(kept), self.place(token.word.box)))
                self.put(kept)
                self.put(_closed(link) + text[len(kept) :] if last else "")
                begun = True


def _link_runs(tokens: _Tokens) -> Iterator[tuple[str, _Tokens]]:
    """Adjacent tokens with the same link target; the target is empty where the text is the address itself."""
    for link, group in groupby(tokens, key=lambda token: token.word.link):
        run = list(group)
        text = run[0].text.rstrip(_PUNCTUATION + "/")
        yield ("" if text in (link.rstrip("/"), link.removeprefix("mailto:")) else link), run


def _closed(link: str) -> str:
    return f"]({link.replace('(', '%28').replace(')', '%29')})"


def _line_tokens(page: Flow, joiner: HyphenJoiner) -> list[_Tokens]:
    """The tokens of each line; the second half of a hyphenated word moves to the line of the first."""
    lines = [joiner.tokens(item.piece.words) if isinstance(item, Line) else [] for item in page]
    for index in range(len(page) - 1):
        one, two = page[index], page[index + 1]
        if isinstance(one, Line) and isinstance(two, Line) and lines[index] and lines[index + 1]:
            last, first = lines[index][-1], lines[index + 1][0]
            if one.level == two.level and joiner.joins(last.word, first.word):
                lines[index][-1] = _Token(joiner.first_half(last.word.text, first.text), last.word, last.glued)
                lines[index].append(_Token(first.text, first.word, glued=True))
                del lines[index + 1][0]
    return lines


def _marker(line: Line, tokens: _Tokens) -> str:
    """The bullet or number of a list item; empty where the line is not one."""
    first = tokens[0].text
    if line.level or (len(tokens) == 1 and len(first) == 1):
        return ""
    if first[0] in _BULLETS or (first in "-–*" and len(tokens) > 1):
        return first[0]
    return first if _NUMBER.fullmatch(first) and len(tokens) > 1 else ""


def _open_items(items: list[float], line: Line, marked: bool, apart: bool) -> list[float]:
    """The left edges of the open list items, from the outermost to that of this line; empty outside of lists."""
    if not marked:
        return [] if apart else items
    left = line.piece.box[0]
    return [*(place for place in items if place < left - 2), left]


def _write_line(writer: _PageWriter, line: Line, tokens: _Tokens, marker: str, depth: int) -> None:
    if line.level:
        writer.put("#" * line.level + " ")
    elif marker and marker in _BULLETS:
        writer.put("  " * depth + "- ")
        first = tokens[0]
        rest = first.text[1:]
        tokens = [*([_Token(rest, first.word)] if rest else []), *tokens[1:]]
    elif marker:
        writer.put("   " * depth)
    elif not (text := " ".join(token.text for token in tokens)).startswith("\\"):
        writer.put("\\" if escaped(text).startswith("\\") else "")
    writer.words(tokens)


def _starts_paragraph(page: Flow, index: int, style: Style, marked: bool, items: Sequence[float]) -> bool:
    """Whether a line starts a new paragraph."""
    last, line = page[index - 1], page[index]
    if not isinstance(last, Line) or not isinstance(line, Line) or line.level or last.level:
        return True
    small, large = sorted((last.piece.size, line.piece.size))
    if small < _MIN_SAME_SIZE * large:
        return True
    if line.fresh or line.piece.base < last.piece.base:  # the next column: the paragraph continues unless it has ended
        return marked or last.piece.text.endswith(_SENTENCE_END)
    if line.piece.base - last.piece.words[-1].base > _PARAGRAPH_GAP * style.pitch * large:
        return True
    if marked:
        return False
    if items:
        return line.piece.box[0] < items[-1] + 1
    return _is_indented(page, index)


def _is_indented(page: Flow, index: int) -> bool:
    """Whether a line is indented compared to the lines around it, after the end of a sentence."""
    last, line = page[index - 1], page[index]
    after = page[index + 1] if index + 1 < len(page) else None
    if not isinstance(last, Line) or not isinstance(line, Line) or not last.piece.text.endswith(_SENTENCE_END):
        return False
    smallest, largest = (share * line.piece.size for share in _INDENT_RANGE)
    if not smallest < line.piece.box[0] - last.piece.box[0] < largest:
        return False
    return not isinstance(after, Line) or after.fresh or line.piece.box[0] - after.piece.box[0] > smallest


def _write_table(writer: _PageWriter, table: Table, joiner: HyphenJoiner) -> None:
    width = len(table.rows[0])
    for number, row in enumerate(table.rows):
        if number:
            writer.put("\n")
        writer.put("|")
        for cell in row:
            writer.put(" ")
            writer.words(joiner.tokens(cell), lambda text: text.replace("|", r"\|"))
            writer.put(" |" if cell else "|")
        if not number:
            writer.put("\n" + rule(width))


def _words(item: Line | Table) -> Iterable[Word]:
    if isinstance(item, Line):
        return item.piece.words
    return (word for row in item.rows for cell in row for word in cell)


def _is_half(word: Word | None) -> bool:
    return word is not None and word.text[-1] in _HYPHENS
