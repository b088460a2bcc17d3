"""Citation marks in an answer: found, normalised, matched to a source."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pincite.core.answers import Hit, MatchedBy

SIMILAR = 0.5
"""Dice similarity above which a title counts as meant."""

_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`", re.DOTALL)
_BRACKETS = re.compile(r"\[([^\[\]\n]{1,200})\](?!\(|:\s*\S+://)")
_NUMBERS = re.compile(
    r"(?:sources?|quellen?)?\s*#?(\d{1,3}(?:\s*(?:,|;|and|und|&)\s*(?:sources?|quellen?)?\s*\d{1,3})*)", re.IGNORECASE
)
_WORDY = re.compile(r"[^\W\d_]{2}")


@dataclass(frozen=True, slots=True)
class Mark:
    """One citation mark in the answer and the source it names, if any."""

    text: str
    start: int
    end: int
    source: int | None
    matched_by: MatchedBy | None


def normalise_marks(text: str, sources: Sequence[Hit]) -> tuple[str, list[Mark]]:
    """The answer with its marks in one form, `[Source N]`, and each mark with its source.

    Brackets in code, links, reference definitions and check boxes are left alone.
    """
    pieces: list[str] = []
    marks: list[Mark] = []
    last = length = 0
    code = [match.span() for match in _CODE.finditer(text)]
    for match in _BRACKETS.finditer(text):
        found = [] if _inside(match.start(), code) else _resolve(match[1], sources)
        if not found:
            continue
        pieces.append(text[last : match.start()])
        length += match.start() - last
        for number, (shown, source, how) in enumerate(found):
            mark = ("" if number == 0 else " ") + shown
            start = length + len(mark) - len(shown)
            marks.append(Mark(shown, start, start + len(shown), source, how))
            pieces.append(mark)
            length += len(mark)
        last = match.end()
    pieces.append(text[last:])
    return "".join(pieces), marks


def _inside(offset: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= offset < end for start, end in spans)


def _resolve(inner: str, sources: Sequence[Hit]) -> list[tuple[str, int | None, MatchedBy | None]]:
    """What a bracket means: sources by number, a source by title, a citation that fits nothing, or no citation."""
    if numbers := _NUMBERS.fullmatch(inner.strip()):
        wanted = [int(number) for number in re.findall(r"\d+", numbers[1])]
        return [
            (f"[Source {n}]", n, "number") if 1 <= n <= len(sources) else (f"[Source {n}]", None, None) for n in wanted
        ]
    if inner.strip().lower() in {"", "x"} or not _WORDY.search(inner):
        return []
    source, how = _by_title(inner, sources)
    return [(f"[{inner}]", source, how)]


def _by_title(inner: str, sources: Sequence[Hit]) -> tuple[int | None, MatchedBy | None]:
    """Three tiers: the same title, one inside the other, similar; two documents that fit are none."""
    wanted = inner.split(" > ")[0].strip().casefold()
    titles = [hit.chunk.title.casefold() for hit in sources]
    tiers: list[tuple[MatchedBy, list[int]]] = [
        ("title", [n for n, title in enumerate(titles) if title == wanted]),
        ("contains", [n for n, title in enumerate(titles) if wanted in title or title in wanted]),
        ("similar", [n for n, title in enumerate(titles) if _dice(wanted, title) > SIMILAR]),
    ]
    for how, fitting in tiers:
        if fitting:
            one_document = len({sources[n].chunk.document_id for n in fitting}) == 1
            return (fitting[0] + 1, how) if one_document else (None, None)
    return None, None


def _dice(a: str, b: str) -> float:
    """Share of letter pairs two strings have in common."""
    pairs_a, pairs_b = ({s[i : i + 2] for i in range(len(s) - 1)} for s in (a, b))
    return 2 * len(pairs_a & pairs_b) / (len(pairs_a) + len(pairs_b)) if pairs_a and pairs_b else 0.0
