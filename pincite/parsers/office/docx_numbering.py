"""Computes the numbers of a Word document's lists and headings as Word does."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pincite.parsers.markdown_out.writer import BULLET
from pincite.parsers.office.docx_styles import Styles
from pincite.parsers.office.package import Element, attribute, child, children, parse_int, value

_LEVELS = 9
_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc")),
    *((50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_MAX_FORMATTED_NUMBER = 100_000
"""Numbers above this are written in digits, whatever their format."""


@dataclass(frozen=True, slots=True)
class _Level:
    """The numbering of one level of a list: `%2` in the pattern is replaced by the number of level 2."""

    kind: str = "decimal"
    pattern: str = ""
    start: int = 1
    restarts: bool = True
    legal: bool = False


@dataclass(slots=True)
class _List:
    """A list: its levels and the current number of each."""

    levels: Mapping[int, _Level]
    counts: dict[int, int] = field(default_factory=dict)


class Numbering:
    """All lists of a document; call `next` for each list paragraph in order."""

    def __init__(self, root: Element | None, styles: Styles) -> None:
        self._styles = styles
        self._lists = {attribute(one, "abstractNumId"): one for one in children(root, "abstractNum")}
        self._nums = {attribute(one, "numId"): one for one in children(root, "num")}
        self._counted: dict[str, _List] = {}
        self._begun: set[str] = set()

    def next(self, num: str, level: int) -> str | None:
        """The marker of the list's next item: a bullet or its formatted number; None where it has none."""
        found = self._list(num)
        if found is None or not found.levels:
            return None
        if level not in found.levels:  # styles such as "List Bullet 2" have a list of one level each
            level = min(found.levels)
        self._apply_overrides(num, found)
        own = found.levels[level]
        found.counts[level] = found.counts.get(level, own.start - 1) + 1
        for deeper in [one for one in found.counts if one > level]:
            if found.levels.get(deeper, own).restarts:
                del found.counts[deeper]
        if own.kind == "bullet":
            return BULLET
        return _marker_text(found, own) or None

    def _list(self, num: str) -> _List | None:
        """The list of a numbering id; ids with the same definition share one list and its counts."""
        element = self._nums.get(num)
        name = value(element, "abstractNumId")
        definition = self._lists.get(name)
        style = value(definition, "numStyleLink")
        if style and (linked := self._styles.linked_numbering(style)) != num and linked in self._nums:
            name = value(self._nums[linked], "abstractNumId")
            definition = self._lists.get(name)
        if definition is None:
            return None
        if name not in self._counted:
            self._counted[name] = _List({_index(one): _level(one) for one in children(definition, "lvl")})
        return self._counted[name]

    def _apply_overrides(self, num: str, found: _List) -> None:
        """Apply the overrides of a numbering id at its first item: another start or another format."""
        if num in self._begun:
            return
        self._begun.add(num)
        for override in children(self._nums.get(num), "lvlOverride"):
            index, start = _index(override), value(override, "startOverride")
            if (level := child(override, "lvl")) is not None:
                found.levels = {**found.levels, index: _level(level)}
            if start:
                found.counts[index] = parse_int(start, 1) - 1


def _index(element: Element) -> int:
    return parse_int(attribute(element, "ilvl"))


def _level(element: Element) -> _Level:
    legal = child(element, "isLgl")
    return _Level(
        kind=value(element, "numFmt") or "decimal",
        pattern=value(element, "lvlText"),
        start=parse_int(value(element, "start"), 1),
        restarts=value(element, "lvlRestart") != "0",
        legal=legal is not None and attribute(legal, "val", "true") not in ("0", "false"),
    )


def _marker_text(found: _List, own: _Level) -> str:
    """The level's pattern with the numbers filled in."""
    text = own.pattern
    for place in range(_LEVELS):
        if f"%{place + 1}" in text:
            level = found.levels.get(place, own)
            count = found.counts.get(place, level.start)
            text = text.replace(f"%{place + 1}", format_number(count, "decimal" if own.legal else level.kind))
    return " ".join(text.split())


def format_number(count: int, kind: str) -> str:
    """A number in a list format; unknown formats are written in digits."""
    if kind == "none":
        return ""
    if count < 1 or count > _MAX_FORMATTED_NUMBER:
        return str(count)
    if kind in ("lowerLetter", "upperLetter"):
        letter = chr(ord("a") + (count - 1) % 26) * min((count - 1) // 26 + 1, 10)
        return letter if kind == "lowerLetter" else letter.upper()
    if kind in ("lowerRoman", "upperRoman"):
        return _roman(count) if kind == "lowerRoman" else _roman(count).upper()
    return f"{count:02}" if kind == "decimalZero" else str(count)


def _roman(count: int) -> str:
    text = ""
    for worth, letters in _ROMAN:
        times, count = divmod(count, worth)
        text += letters * times
    return text
