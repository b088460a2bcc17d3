"""Find the citation marks of an answer, normalise them and match them to sources."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pincite.core.query.answer import MatchedBy
from pincite.core.query.hits import Hit

MIN_TITLE_SIMILARITY = 0.5
"""Dice similarity above which a title matches."""

MAX_SOURCES_PER_MARK = 10
"""Sources that one mark may name; `[1-300]` is not a citation."""

_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`", re.DOTALL)
_WORD = r"(?:sources?|quellen?)"
_BRACKETS = re.compile(
    rf"(?<![!\[])\[([^\[\]\n]{{1,200}})\](?!\(|\]|:\s*\S+://)|【([^【】\n]{{1,200}})】|\(({_WORD}\s[^()\n]{{1,60}})\)",
    re.IGNORECASE,
)
_DEFINES = re.compile(r"^[ \t>]*\[\^?[\w-]{1,40}\]:", re.MULTILINE)
"""The definition of a footnote or of a link, at the start of a line."""
_NUMBERS = re.compile(
    rf"(?:{_WORD}|\^)?\s*#?(\d{{1,3}}(?:\s*(?:,|;|and|und|&|-|–|to|bis)\s*{_WORD}?\s*\d{{1,3}})*)", re.IGNORECASE
)
_PART = re.compile(r"(\d+)(?:\s*(?:-|–|to|bis)\s*(\d+))?", re.IGNORECASE)
_LABELLED = re.compile(rf"{_WORD}\s*#?(\d{{1,3}})\s*[:>,–|-]\s*\D.*", re.IGNORECASE)
"""`[Source 1: Title]`, `[Source 1, page 3]`: the number decides."""
_NAMED = re.compile(rf"^{_WORD}:\s*|\s+(?:page|score)=\S*|,?\s+(?:p\.|page|seite|s\.)\s*\d+$", re.IGNORECASE)
"""Text that may surround a title."""
_WORDY = re.compile(r"[^\W\d_]{2}")


@dataclass(frozen=True, slots=True)
class CitationMark:
    """One citation mark in the answer and the source it names, if any."""

    text: str
    start: int
    end: int
    source: int | None
    matched_by: MatchedBy | None


def normalise_marks(text: str, sources: Sequence[Hit]) -> tuple[str, list[CitationMark]]:
    """The answer with its marks in one form, `[Source N]`, and the marks with their sources.

    Brackets in code, links, images, footnote definitions and check boxes stay unchanged.
    """
    pieces: list[str] = []
    marks: list[CitationMark] = []
    last = length = 0
    untouched = [match.span() for pattern in (_CODE, _DEFINES) for match in pattern.finditer(text)]
    for match in _BRACKETS.finditer(text):
        inner = match[1] or match[2] or match[3]
        found = [] if _is_inside(match.start(), untouched) else _resolve(inner, match.group(), sources)
        if not found:
            continue
        pieces.append(text[last : match.start()])
        length += match.start() - last
        for number, (shown, source, how) in enumerate(found):
            mark = ("" if number == 0 else " ") + shown
            start = length + len(mark) - len(shown)
            marks.append(CitationMark(shown, start, start + len(shown), source, how))
            pieces.append(mark)
            length += len(mark)
        last = match.end()
    pieces.append(text[last:])
    return "".join(pieces), marks


def _is_inside(offset: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= offset < end for start, end in spans)


def _resolve(inner: str, shown: str, sources: Sequence[Hit]) -> list[tuple[str, int | None, MatchedBy | None]]:
    """The marks that a bracket stands for: by number, by title, or unmatched; empty where it is not a citation."""
    bare = inner.strip()
    wanted = _numbers(bare)
    if wanted is not None:
        return [(f"[Source {n}]", n, "number") if n <= len(sources) else (f"[Source {n}]", None, None) for n in wanted]
    if bare.lower() in {"", "x"} or not _WORDY.search(bare):
        return []
    source, how = _by_title(bare, sources)
    return [(shown, source, how)]


def _numbers(bare: str) -> list[int] | None:
    """The source numbers in a bracket; empty where they are no citation, None where it holds other text."""
    if labelled := _LABELLED.fullmatch(bare):
        return [int(labelled[1])] if int(labelled[1]) else []
    listed = _NUMBERS.fullmatch(bare)
    if listed is None:
        return None
    found: list[int] = []
    for first, last in _PART.findall(listed[1]):
        if not 0 < int(first) <= int(last or first) < int(first) + MAX_SOURCES_PER_MARK:
            return []
        found += range(int(first), int(last or first) + 1)
    return found[:MAX_SOURCES_PER_MARK]


def _by_title(inner: str, sources: Sequence[Hit]) -> tuple[int | None, MatchedBy | None]:
    """The source by its title: equal, else contained, else similar; no source where several documents match."""
    wanted = _NAMED.sub("", inner.split(" > ")[0]).strip().casefold()
    if not wanted:
        return None, None
    titles = [hit.chunk.title.casefold() for hit in sources]
    names = [hit.chunk.document_name.casefold() for hit in sources]
    tiers: list[tuple[MatchedBy, list[int]]] = [
        ("title", [n for n, title in enumerate(titles) if wanted in (title, names[n])]),
        ("contains", [n for n, title in enumerate(titles) if title and (wanted in title or title in wanted)]),
        ("similar", [n for n, title in enumerate(titles) if _dice(wanted, title) > MIN_TITLE_SIMILARITY]),
    ]
    for how, fitting in tiers:
        if fitting:
            one_document = len({sources[n].chunk.document_id for n in fitting}) == 1
            return (fitting[0] + 1, how) if one_document else (None, None)
    return None, None


def _dice(a: str, b: str) -> float:
    """The Dice similarity of two strings: the share of their letter pairs in common."""
    pairs_a, pairs_b = ({s[i : i + 2] for i in range(len(s) - 1)} for s in (a, b))
    return 2 * len(pairs_a & pairs_b) / (len(pairs_a) + len(pairs_b)) if pairs_a and pairs_b else 0.0
