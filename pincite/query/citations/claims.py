"""Split an answer into claims, each with the citation marks that belong to it."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pincite.text.sentences import Span, sentences, trim
from pincite.text.terms import question_language, terms

MIN_CLAIM_TERMS = 2
"""Content words that make the text after the last mark a claim of its own."""

_INTRODUCES = frozenset(
    "yes ja nein accord sourc say state note report see cf laut quell gemass zufolg steht sagt heisst siehe vgl nach per document dokument".split()
)
"""Words, as they are indexed, that only lead to a source or answer yes or no."""
_REFUSES = re.compile(
    r"\b(?:(?:do|does|did|could|can)(?:n['’]t| not)|cannot|no|not|nothing)\b[^.!?]{0,60}?\b(?:know|information|mention(?:s|ed)?|"
    r"contains?|specif(?:y|ied)|provided?|found|find|sources?|documents?|passages?)\b"
    r"|\b(?:keine|nichts|nicht)\b[^.!?]{0,60}?\b(?:angaben?|informationen?|erwähnt|bekannt|hervor|gefunden|quellen?|dokumenten?|weiß)\b"
    r"|\bweiß (?:ich |es )*nicht\b",
    re.IGNORECASE,
)
_WORD_JOINER = "\u2060"
"""Replaces marks at the start of a line: neither white space nor a letter."""
_LEAD_IN = re.compile(r":[*_\s]*$")


@dataclass(frozen=True, slots=True)
class Claim:
    """A part of the answer, the number of its sentence, and the numbers of its citation marks."""

    start: int
    end: int
    text: str
    sentence: int
    marks: tuple[int, ...]


def claims_of(text: str, marks: Sequence[Span]) -> tuple[list[Span], list[Claim]]:
    """The asserting sentences of an answer, and their claims; `marks` are the spans of its citation marks."""
    blank = _blank_marks(text, marks)
    spans = sentences(blank)
    sentence_of_mark = [_sentence_of(mark, blank, spans) for mark in marks]
    asserting: list[Span] = []
    found: list[Claim] = []
    for number, (start, end) in enumerate(spans):
        own = [mark for mark, sentence in enumerate(sentence_of_mark) if sentence == number]
        if not own and not _asserts(blank[start:end]):
            continue
        found += [
            Claim(a, b, _to_line(blank[a:b]), len(asserting), own_marks)
            for a, b, own_marks in _split_by_marks(blank, (start, end), own, marks)
        ]
        asserting.append((start, end))
    return asserting, found


def _blank_marks(text: str, marks: Sequence[Span]) -> str:
    """The text with its marks blanked; at the start of a line, spaces would turn it into a code block."""
    blank = list(text)
    for start, end in marks:
        at_line_start = not text[text.rfind("\n", 0, start) + 1 : start].strip()
        blank[start:end] = (_WORD_JOINER if at_line_start else " ") * (end - start)
    return "".join(blank)


def _sentence_of(mark: Span, blank: str, spans: Sequence[Span]) -> int:
    """The number of the sentence that a mark belongs to; at the start of a line, it is the next sentence."""
    before = max(0, bisect_right([start for start, _ in spans], mark[0]) - 1)
    at_line_start = not any(char.isalnum() for char in blank[blank.rfind("\n", 0, mark[0]) + 1 : mark[0]])
    following = before + 1
    if (
        at_line_start
        and following < len(spans)
        and spans[before][1] <= mark[0]
        and "\n" not in blank[mark[1] : spans[following][0]]
    ):
        return following
    return before


def _asserts(sentence: str) -> bool:
    """Whether a sentence asserts something that a source can support: no question, no lead-in, no refusal."""
    plain = sentence.strip()
    if plain.endswith("?") or _LEAD_IN.search(plain) or _REFUSES.search(plain):
        return False
    return _has_content(plain)


def _has_content(text_part: str, least: int = 1) -> bool:
    content = [word for word in terms(text_part, question_language(text_part)) if word not in _INTRODUCES]
    return len(content) >= least or any(map(str.isdigit, text_part))


def _split_by_marks(
    blank: str, sentence: Span, own: Sequence[int], marks: Sequence[Span]
) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """The sentence split after each group of marks; a part with too little content joins the one before or after it."""
    groups = _mark_groups(blank, own, marks)
    start, carried = sentence[0], tuple[int, ...]()
    parts: list[tuple[int, int, tuple[int, ...]]] = []
    for group in groups:
        end = max(start, min(marks[group[0]][0], sentence[1]))
        if _has_content(blank[start:end]):
            parts.append((*trim(blank, start, end), (*carried, *group)))
            carried, start = (), min(marks[group[-1]][1], sentence[1])
        else:
            carried = (*carried, *group)
    rest = trim(blank, start, sentence[1])
    if carried or not parts:
        parts.append((*rest, carried))
    elif _has_content(blank[rest[0] : rest[1]], MIN_CLAIM_TERMS):
        parts.append((*rest, ()))
    yield from parts


def _mark_groups(blank: str, own: Sequence[int], marks: Sequence[Span]) -> list[list[int]]:
    """Groups of marks with no text between them."""
    found: list[list[int]] = []
    for mark in own:
        if found and not any(char.isalnum() for char in blank[marks[found[-1][-1]][1] : marks[mark][0]]):
            found[-1].append(mark)
        else:
            found.append([mark])
    return found


def _to_line(text_part: str) -> str:
    return " ".join(text_part.replace(_WORD_JOINER, " ").split()).strip(",;:–- ")
