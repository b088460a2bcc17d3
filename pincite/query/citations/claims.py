"""What an answer claims: stretches that say something, each with the citation marks that vouch for it."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pincite.text import lang
from pincite.text.sentences import Span, sentences, trim
from pincite.text.terms import question_language, terms

MIN_CLAIM_TERMS = 2
"""Words of meaning that make a stretch between two marks a claim of its own."""

_WORD_JOINER = "\u2060"
"""Neither a blank nor a letter."""
_LEAD_IN = re.compile(r":[*_\s]*$")


@dataclass(frozen=True, slots=True)
class Claim:
    """A stretch of the answer, the number of its sentence, and the numbers of the marks that stand for it."""

    start: int
    end: int
    text: str
    sentence: int
    marks: tuple[int, ...]


def claims_of(text: str, marks: Sequence[Span]) -> tuple[list[Span], list[Claim]]:
    """The sentences of an answer that claim something, and their claims; `marks` are where its citations stand."""
    blank = _blank_marks(text, marks)
    spans = sentences(blank)
    owner = [_sentence_of(mark, blank, spans) for mark in marks]
    kept: list[Span] = []
    found: list[Claim] = []
    for number, (start, end) in enumerate(spans):
        own = [mark for mark, sentence in enumerate(owner) if sentence == number]
        if not own and not _asserts(blank[start:end]):
            continue
        found += [
            Claim(a, b, _to_line(blank[a:b]), len(kept), vouching)
            for a, b, vouching in _split_by_marks(blank, (start, end), own, marks)
        ]
        kept.append((start, end))
    return kept, found


def _blank_marks(text: str, marks: Sequence[Span]) -> str:
    """The text with its marks blanked; at the start of a line blanks would make code of it."""
    blank = list(text)
    for start, end in marks:
        begins = not text[text.rfind("\n", 0, start) + 1 : start].strip()
        blank[start:end] = (_WORD_JOINER if begins else " ") * (end - start)
    return "".join(blank)


def _sentence_of(mark: Span, blank: str, spans: Sequence[Span]) -> int:
    """The sentence a mark stands in or after; one that begins a line belongs to what follows there."""
    before = max(0, bisect_right([start for start, _ in spans], mark[0]) - 1)
    begins = not any(char.isalnum() for char in blank[blank.rfind("\n", 0, mark[0]) + 1 : mark[0]])
    following = before + 1
    if (
        begins
        and following < len(spans)
        and spans[before][1] <= mark[0]
        and "\n" not in blank[mark[1] : spans[following][0]]
    ):
        return following
    return before


def _asserts(sentence: str) -> bool:
    """Whether a sentence says something that a source could bear out: no question, no lead-in, no refusal."""
    plain = sentence.strip()
    if plain.endswith("?") or _LEAD_IN.search(plain) or _is_refusal(plain):
        return False
    return _has_content(plain)


def _is_refusal(sentence: str) -> bool:
    """Whether a sentence says that the sources do not answer."""
    return bool(lang.regex("model_output.refusal", question_language(sentence), flags=re.IGNORECASE).search(sentence))


def _has_content(stretch: str, least: int = 1) -> bool:
    language = question_language(stretch)
    introducing = lang.recognised_words("model_output.introducing", language)
    content = [word for word in terms(stretch, language) if word not in introducing]
    return len(content) >= least or any(map(str.isdigit, stretch))


def _split_by_marks(
    blank: str, sentence: Span, own: Sequence[int], marks: Sequence[Span]
) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """A sentence cut after each group of marks; what says too little by itself goes with the part before or after it."""
    groups = _mark_groups(blank, own, marks)
    start, carried = sentence[0], tuple[int, ...]()
    cut: list[tuple[int, int, tuple[int, ...]]] = []
    for group in groups:
        end = max(start, min(marks[group[0]][0], sentence[1]))
        if _has_content(blank[start:end]):
            cut.append((*trim(blank, start, end), (*carried, *group)))
            carried, start = (), min(marks[group[-1]][1], sentence[1])
        else:
            carried = (*carried, *group)
    rest = trim(blank, start, sentence[1])
    if carried or not cut:
        cut.append((*rest, carried))
    elif _has_content(blank[rest[0] : rest[1]], MIN_CLAIM_TERMS):
        cut.append((*rest, ()))
    yield from cut


def _mark_groups(blank: str, own: Sequence[int], marks: Sequence[Span]) -> list[list[int]]:
    """Marks that follow each other with nothing said in between."""
    found: list[list[int]] = []
    for mark in own:
        if found and not any(char.isalnum() for char in blank[marks[found[-1][-1]][1] : marks[mark][0]]):
            found[-1].append(mark)
        else:
            found.append([mark])
    return found


def _to_line(stretch: str) -> str:
    return " ".join(stretch.replace(_WORD_JOINER, " ").split()).strip(",;:–- ")
