"""Lists in a passage: their introduction, their items, and whether they are ordered."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pincite.text.sentences import Span, sentences, trim

_ITEM = re.compile(r"(?P<indent>[ \t]*)(?:[-*+•]|(?P<number>\d{1,9})[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
NESTED = re.compile(r"\n[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]+")
"""The start of a nested item."""
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]")


@dataclass(frozen=True, slots=True)
class Listing:
    """A list: the sentence that introduces it, if there is one, and its outer items with their nested items."""

    lead: Span | None
    items: tuple[Span, ...]
    ordered: bool


def lists_in(text: str) -> list[Listing]:
    """The lists of a passage, in order; a single item is no list."""
    found, begun = list[Listing](), list[tuple[int, re.Match[str]]]()
    for start, line in _lines(text):
        item = _ITEM.match(line)
        if item and (not begun or len(item["indent"]) <= len(begun[0][1]["indent"])):
            begun.append((start + item.end(), item))
        elif begun and _ends(text, start, line):
            found += _listing(text, begun, start)
            begun = []
    return found + _listing(text, begun, len(text))


def _ends(text: str, start: int, line: str) -> bool:
    """Whether a line that is no item ends the list: a heading, or a line without indentation after a blank line."""
    apart = bool(line.strip()) and not line[0].isspace() and text[:start].endswith("\n\n")
    return apart or bool(_HEADING.match(line))


def items_after(text: str, end: int) -> list[Span]:
    """The items of the list that follows a sentence, with their nested items."""
    begun = _ITEM.match(text, end + 1) if text.startswith("\n", end) else None
    if begun is None and text.startswith("\n\n", end):
        begun = _ITEM.match(text, end + 2)
    if begun is None:
        return []
    found, depth = list[Span](), len(begun["indent"].expandtabs(4))
    start, last = begun.end(), begun.start()
    for begin, line in _lines(text):
        if begin <= last:
            continue
        item = _ITEM.match(line)
        shallow = len(line) - len(line.lstrip()) <= depth
        if item and len(item["indent"].expandtabs(4)) == depth:
            found.append(trim(text, start, begin))
            start = begin + item.end()
        elif shallow and line.strip():
            return [*found, trim(text, start, begin)]
    return [*found, trim(text, start, len(text))]


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


def _listing(text: str, opened: list[tuple[int, re.Match[str]]], end: int) -> list[Listing]:
    if len(opened) < 2:
        return []
    first = opened[0][0] - opened[0][1].end()
    stops = [begin - mark.end() for begin, mark in opened[1:]] + [end]
    items = tuple(trim(text, begin, stop) for (begin, _), stop in zip(opened, stops, strict=True))
    return [Listing(_lead(text, first), items, opened[0][1]["number"] is not None)]


def _lead(text: str, first: int) -> Span | None:
    """The sentence directly above the list, if it is no heading, row or item."""
    above = text[:first].rstrip("\n")
    block = above[above.rfind("\n\n") + 2 if "\n\n" in above else 0 :]
    if not block or _HEADING.match(block) or block.startswith("|") or _ITEM.match(block):
        return None
    offset = len(above) - len(block)
    spans = sentences(block)
    return (offset + spans[-1][0], offset + spans[-1][1]) if spans else None
