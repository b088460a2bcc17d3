"""Sentence splitting, line numbers, normalisation and fingerprints."""

import hashlib
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from pincite.text import lang

Span = tuple[int, int]


def normalise(text: str) -> str:
    """The text with `\\n` line ends, no white space at the end of a line and no byte order mark in front."""
    text = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return "\n".join(line.rstrip() for line in text.split("\n"))


def fold(text: str) -> str:
    """The text without case, accents and compatibility forms, for comparison: `Größe` → `grosse`."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(char for char in plain if not unicodedata.combining(char)).casefold()


def fingerprint(text: str) -> str:
    """SHA-256 of the text's UTF-8 bytes, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def line_starts(text: str) -> list[int]:
    """The start offset of each line; the first is 0."""
    return [0, *(match.end() for match in re.finditer("\n", text))]


def line_of(starts: list[int], offset: int) -> int:
    """The line, counted from 1, that holds the character at `offset`."""
    return bisect_right(starts, offset)


def sentences(text: str) -> list[Span]:
    """The spans of the sentences in Markdown or prose, without list markers and white space around them.

    A heading, a table row and a code block are one sentence each. No sentence crosses a list item. The wrapped lines
    of a paragraph belong together.
    """
    found: list[Span] = []
    for start, end, whole in _passages(text):
        found.extend([(start, end)] if whole else _split(text, start, end))
    return [span for start, end in found if (span := trim(text, start, end))[0] < span[1]]


def trim(text: str, start: int, end: int) -> Span:
    """The span without the white space at its ends."""
    lead = _SPACE.match(text, start, end)
    start = lead.end() if lead else start
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


# Passages: spans that no sentence crosses. `>` at the start of a line is markup of a quotation.

_SPACE = re.compile(r"\s*")
_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?P<fence>`{3,}(?!.*`)|~{3,})")
_HEADING = re.compile(r"[ >]*#{1,6}(?:[ \t]+|$)")
_CLOSING_HASHES = re.compile(r"(?:^|[ \t])#+[ \t]*$")
_RULE = re.compile(r"[ \t>]*(?:=+|(?:[-*_][ \t]*)+)$")
_DELIMITERS = re.compile(r"[ \t>]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?$")

_MAX_HEADING_CHARS = 120

_LEADERS = re.compile(r"\S *(?:\.{4,}|(?: \.){4,}) *\S")
"""Dot leaders between a name and its value, as in a price list: such a line is a sentence."""

_Passage = tuple[int, int, bool]


def _passages(text: str) -> Iterator[_Passage]:
    """The passages in order as (start, end, whole); a whole passage is one sentence even with full stops in it."""
    return _Scanner(text).run()


class _Scanner:
    """Splits the lines of a text into passages in one pass."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.open: int | None = None
        self.item: re.Match[str] | None = None
        self.in_list = False

    def run(self) -> Iterator[_Passage]:
        offset, number = 0, 0
        while number < len(self.lines):
            line = self.lines[number]
            taken = 1
            if not line.strip(" \t>"):
                yield from self._close(offset)
            elif fence := _FENCE.match(line):
                yield from self._close(offset)
                taken = self._fenced(number, fence["fence"])
                yield offset + fence.start("fence"), offset + self._length(number, taken), True
            elif self._is_indented_code(line):
                taken = self._indented(number)
                yield offset, offset + self._length(number, taken), True
            else:
                yield from self._line(number, line, offset)
            offset += self._length(number, taken) + 1
            number += taken
        yield from self._close(offset)

    def _line(self, number: int, line: str, offset: int) -> Iterator[_Passage]:
        """One line that is neither blank nor code."""
        if heading := _HEADING.match(line):
            yield from self._close(offset)
            closing = _CLOSING_HASHES.search(line, heading.end())
            yield offset + heading.end(), offset + (closing.start() if closing else len(line)), True
        elif self._is_row(number, line) or _LEADERS.search(line):
            yield from self._close(offset)
            if not _DELIMITERS.match(line):
                lead = len(line) - len(line.lstrip(" \t>"))
                yield offset + lead, offset + len(line), True
        elif _RULE.match(line):
            yield from self._close(offset, heading=self._underlines(number, line))
        elif item := self._starts_item(line):
            yield from self._close(offset)
            self.open, self.item, self.in_list = offset + item.end(), item, True
        elif self.open is None:
            lead = len(line) - len(line.lstrip(" \t>"))
            self.open, self.item = offset + lead, None
            self.in_list = self.in_list and line[0] in " \t"

    def _close(self, offset: int, *, heading: bool = False) -> Iterator[_Passage]:
        if self.open is not None:
            yield self.open, max(self.open, offset - 1), heading
        self.open, self.item = None, None

    def _underlines(self, number: int, line: str) -> bool:
        """Whether a rule makes the line above it a heading; below several lines it is a divider."""
        short = self.open is not None and self.item is None and len(self.lines[number - 1]) <= _MAX_HEADING_CHARS
        alone = number < 2 or not self.lines[number - 2].strip(" \t>")
        return short and alone and len(set(line.strip(" \t>"))) == 1 and line.strip(" \t>")[0] in "=-"

    def _starts_item(self, line: str) -> re.Match[str] | None:
        """The marker of a list item; inside a paragraph only where Markdown lets a list interrupt it."""
        item = _abbreviations().item.match(line)
        if item is None or self.open is None or item["number"] in (None, "1"):
            return item
        sibling = self.item is not None and self.item["number"] is not None
        return item if sibling and self.item and len(item["indent"]) <= len(self.item["indent"]) else None

    def _is_row(self, number: int, line: str) -> bool:
        if line.lstrip(" \t>").startswith("|"):
            return True
        if "|" not in line:
            return False
        after = self.lines[number + 1] if number + 1 < len(self.lines) else ""
        if "|" in after and _DELIMITERS.match(after):
            return True
        return self.open is None and number > 0 and "|" in self.lines[number - 1]

    def _is_indented_code(self, line: str) -> bool:
        return self.open is None and not self.in_list and line.startswith(("    ", "\t"))

    def _indented(self, number: int) -> int:
        last = number
        for at in range(number + 1, len(self.lines)):
            if self.lines[at].startswith(("    ", "\t")):
                last = at
            elif self.lines[at].strip():
                break
        return last - number + 1

    def _fenced(self, number: int, fence: str) -> int:
        closing = re.compile(rf"[ \t>]*{fence[0]}{{{len(fence)},}}[ \t]*$")
        for at in range(number + 1, len(self.lines)):
            if closing.match(self.lines[at]):
                return at - number + 1
        return len(self.lines) - number

    def _length(self, number: int, taken: int) -> int:
        return sum(map(len, self.lines[number : number + taken])) + taken - 1


# Sentences inside one passage. A stop ends a sentence when white space follows, and after it something that
# can begin one; a full stop must not belong to an abbreviation, an initial or a German ordinal.

_CODE = re.compile(r"`[^`]{1,300}`")
_STOP = re.compile(
    r"""(?<![.!?…]) (?P<mark> [.!?…]++ )
        [\"'”’“‘»«›‹)\]}*_~]*+
        (?: [ ]? \[ (?: [^\W\d_]{1,12} [ ] )? \d{1,3} (?: [,;–-] [ ]? \d{1,3} )* \] )*+
        (?= \s | $ )
      | (?P<wide> [。！？]++ ) [」』”’）)]*+""",
    re.VERBOSE,
)
_GAP = re.compile(r"(?:\s+|(?<=\n)(?:[ \t]*>)+)*")
_OPENERS = re.compile(r"[\"'“„”‘‚«»‹›(\[{*_~–—\-¿¡\s]*")
_WORD = re.compile(r"[^\W\d_]+")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+")
_DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}$")
_OPENING = "\"'“„‘‚«»‹›([{*_~–—-"


def _split(text: str, start: int, end: int) -> Iterator[Span]:
    """Spans of the sentences between `start` and `end`."""
    passage = text[start:end]
    if "`" in passage:
        passage = _CODE.sub(lambda code: "`" + "x" * (len(code[0]) - 2) + "`", passage)
    begin = 0
    for stop in _STOP.finditer(passage):
        gap = _GAP.match(passage, stop.end())
        following = gap.end() if gap else stop.end()
        if stop.start() >= begin and (stop["wide"] or _ends(passage, stop, following)):
            yield start + begin, start + stop.end()
            begin = following
    yield start + begin, end


def _ends(passage: str, stop: re.Match[str], following: int) -> bool:
    """Whether a stop ends its sentence; the next one would begin at `following`."""
    openers = _OPENERS.match(passage, following)
    first = openers.end() if openers else following
    if first >= len(passage):
        return True
    if passage[first].islower() or passage[first] in ".!?…":
        return False
    if stop["mark"] != ".":
        return True
    return _full_stop_ends(passage, stop.start(), first)


class _Abbreviations(NamedTuple):
    """The words of all languages that decide whether a full stop ends a sentence."""

    never_last: frozenset[str]
    before_number: frozenset[str]
    sometimes_last: frozenset[str]
    opening_words: frozenset[str]
    after_ordinal: frozenset[str]
    before_ordinal: frozenset[str]
    item: re.Pattern[str]
    """The marker of a list item; a day before its month is none."""


@cache
def _abbreviations() -> _Abbreviations:
    months = frozenset(month for language in lang.recognised() for month in _months(language))
    dotted = sorted(month for language in lang.flagged("day_full_stop") for month in _months(language))
    return _Abbreviations(
        lang.all_words("sentences.never_last"),
        lang.all_words("sentences.before_number"),
        lang.all_words("sentences.sometimes_last"),
        lang.all_words("sentences.opening_words"),
        lang.all_words("sentences.after_ordinal") | months,
        lang.all_words("sentences.before_ordinal"),
        re.compile(
            rf"(?P<indent>[ \t>]*)(?:[-*+•]|(?P<number>\d{{1,9}})[.)](?![ \t]+(?i:{'|'.join(dotted)})\b))[ \t]+"
            r"(?:\[[ xX]\][ \t]+)?"
        ),
    )


def _months(language: str) -> list[str]:
    return [month for group in lang.sequence("dates.months", language) for month in group.lower().split(",")]


def _full_stop_ends(passage: str, stop: int, first: int) -> bool:
    """Whether a single full stop at `stop` ends a sentence, when the next word begins at `first`."""
    abbreviations = _abbreviations()
    head = passage[max(0, stop - 60) : stop]
    words = head.rsplit(maxsplit=2) if head and not head[-1].isspace() else [""]
    token = words[-1].lstrip(_OPENING)
    previous = words[-2].lstrip(_OPENING) if len(words) > 1 else ""
    word = _WORD.match(passage, first)
    following = word[0].casefold() if word else ""
    plain = token.casefold()
    initial = word is not None and passage[word.end() : word.end() + 1] == "." and len(word[0]) == 1
    begins = following in abbreviations.opening_words and not initial
    if token.isdigit() and len(token) <= 3:
        ordinal = following in abbreviations.after_ordinal or (
            previous.casefold() in abbreviations.before_ordinal and not begins
        )
        return not ordinal
    if len(token) == 1 and token.isalpha():
        return begins and bool(previous) and not _INITIALS.fullmatch(previous)
    if plain in abbreviations.never_last:
        return False
    if plain in abbreviations.before_number:
        return not passage[first].isdigit()
    if plain in abbreviations.sometimes_last or _DOTTED.match(token):
        return begins
    return True


def storable(text: str) -> str:
    """The text with NUL and unpaired surrogates, which PostgreSQL cannot store, replaced one for one."""
    plain = text.replace("\0", " ")
    return plain if plain.isascii() else plain.encode("utf-8", "replace").decode()


_LOGIN = re.compile(r"(?<=//)[^/\s]*@")
_QUERY = re.compile(r"[?#].*", re.DOTALL)


def without_login(text: str) -> str:
    """A URL without its login, query and fragment, which may be secret; other text as it is."""
    return _QUERY.sub("", _LOGIN.sub("", text)) if "//" in text else text
