"""Find the citation marks of an answer, normalise them and match them to sources."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

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
_TITLED_BRACKETS = re.compile(r"(?<![!\[])\[([^\[\]]{1,500})\](?!\(|\]|:\s*\S+://)")
"""Where titles are cited: a long title may go over the end of a line."""
_NUMBER_BEFORE_TITLE = re.compile(rf"^{_WORD}\s*#?\d{{1,3}}\s*[:>,–|-]\s*(?=\D)", re.IGNORECASE)
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_DEFINES = re.compile(r"^[ \t>]*\[\^?[\w-]{1,40}\]:", re.MULTILINE)
"""The definition of a footnote or of a link, at the start of a line."""
_NUMBERS = re.compile(
    rf"(?:{_WORD}:?|\^)?\s*#?(\d{{1,3}}(?:\s*(?:,|;|and|und|&|-|–|to|bis)\s*{_WORD}?\s*\d{{1,3}})*)", re.IGNORECASE
)
_PART = re.compile(r"(\d+)(?:\s*(?:-|–|to|bis)\s*(\d+))?", re.IGNORECASE)
_LABELLED = re.compile(rf"{_WORD}\s*#?(\d{{1,3}})\s*[:>,–|-]\s*\D.*", re.IGNORECASE)
"""`[Source 1: Title]`, `[Source 1, page 3]`: the number decides."""
_NAMED = re.compile(rf"^{_WORD}:\s*|\s+(?:page|score)=\S*|,?\s+(?:p\.|page|seite|s\.)\s*\d+$", re.IGNORECASE)
"""Text that may surround a title."""
_PARENTHESES = str.maketrans("[]", "()")
_PLAIN = str.maketrans("‐‑‒–—−‘’“”", "------''\"\"")
"""Dashes and quotation marks, which models write in another form than the title has."""
_WORDY = re.compile(r"[^\W\d_]{2}")
_LEVEL = re.compile(r"\s*[>›]\s*")
"""What separates a title from its section, and a section from its subsection."""
_LIST = re.compile(r"\s*[;,&]\s*|\s+(?:and|und)\s+", re.IGNORECASE)
"""What separates the titles of a mark that names several."""


@dataclass(frozen=True, slots=True)
class CitationMark:
    """One citation mark in the answer and the source it names, if any.

    `title` and `section` are those that the mark names. `fitting` are all sources of the document, or of the section,
    that it names; `source` is the first of them. `has_section` is False where no source has the section it names.
    """

    text: str
    start: int
    end: int
    source: int | None
    matched_by: MatchedBy | None
    title: str = ""
    section: str | None = None
    fitting: tuple[int, ...] = ()
    has_section: bool = True


@dataclass(frozen=True, slots=True)
class _TitleMatch:
    """The sources that a title with its section names, and how the title was matched."""

    title: str
    section: str | None
    fitting: tuple[int, ...] = ()
    matched_by: MatchedBy | None = None
    has_section: bool = True


def normalise_marks(text: str, sources: Sequence[Hit], *, titled: bool = False) -> tuple[str, list[CitationMark]]:
    """The answer with its marks in one form, `[Source N]`, and the marks with their sources.

    Brackets in code, links, images, footnote definitions and check boxes stay unchanged. Where the model was shown titles
    and no numbers (`titled`), each mark names a title and stays as it is.
    """
    pieces: list[str] = []
    marks: list[CitationMark] = []
    last = length = 0
    untouched = [match.span() for pattern in (_CODE, _DEFINES) for match in pattern.finditer(text)]
    for match in (_TITLED_BRACKETS if titled else _BRACKETS).finditer(text):
        inner = next(filter(None, match.groups()))
        resolve = _resolve_titled if titled else _resolve
        found = [] if _is_inside(match.start(), untouched) else resolve(inner, match.group(), sources)
        if not found:
            continue
        pieces.append(text[last : match.start()])
        length += match.start() - last
        for number, one in enumerate(found):
            mark = ("" if number == 0 else " ") + one.text
            start = length + len(mark) - len(one.text)
            marks.append(replace(one, start=start, end=start + len(one.text)))
            pieces.append(mark)
            length += len(mark)
        last = match.end()
    pieces.append(text[last:])
    return "".join(pieces), marks


def cited_beyond(text: str, shown: Sequence[Hit], others: Sequence[Hit]) -> list[Hit]:
    """The passages among `others` that a mark names by a title or section that no passage of `shown` has.

    A list of titles counts only where all are shown: it was streamed as one mark, and stays one.
    """
    keys = {hit.chunk.key for hit in shown}
    known = [*shown, *(hit for hit in others if hit.chunk.key not in keys)]
    marks = [mark for mark in normalise_marks(text, known, titled=True)[1] if mark.text in text]
    fitting = [mark.fitting for mark in marks if min(mark.fitting, default=0) > len(shown)]
    return [known[number - 1] for number in dict.fromkeys(number for one in fitting for number in one)]


def _is_inside(offset: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= offset < end for start, end in spans)


def _resolve(inner: str, shown: str, sources: Sequence[Hit]) -> list[CitationMark]:
    """The marks that a bracket stands for, not yet placed; empty where it is not a citation."""
    bare = inner.strip()
    wanted = _numbers(bare)
    if wanted is not None:
        return [_numbered_mark(number, len(sources)) for number in wanted]
    if bare.lower() in {"", "x"} or not (_WORDY.search(bare) or _is_title(bare, sources)):
        return []
    return [_titled_mark(text, found) for text, found in _titles(bare, shown, sources)]


def _resolve_titled(inner: str, shown: str, sources: Sequence[Hit]) -> list[CitationMark]:
    """The marks that a bracket stands for where titles are cited; a number is one only as somebody's whole title.

    Single letters, years and brackets without letters and whole numbers are no citations, unless a title is equal.
    """
    bare = _NUMBER_BEFORE_TITLE.sub("", " ".join(inner.split()))
    if not bare:
        return []
    found = _titles(bare, shown, sources)
    if any(match.matched_by == "title" for _, match in found):
        return [_titled_mark(text, match) for text, match in found]
    if bare.isdecimal():
        return [] if _YEAR.fullmatch(bare) else [CitationMark(shown, 0, 0, None, None, bare)]
    if len(bare) < 2 or not any(map(str.isalpha, bare)):
        return []
    return [_titled_mark(text, match) for text, match in found]


def _titled_mark(text: str, found: _TitleMatch) -> CitationMark:
    source = found.fitting[0] if found.fitting else None
    return CitationMark(
        text, 0, 0, source, found.matched_by, found.title, found.section, found.fitting, found.has_section
    )


def _titles(bare: str, shown: str, sources: Sequence[Hit]) -> list[tuple[str, _TitleMatch]]:
    """What a bracket names, each as the text of a mark: one title, or a list in which each is that of a source."""
    whole = _by_title(bare, sources)
    if not _is_exact(whole):
        listed = [part.strip() for part in _LIST.split(bare)]
        matches = [_by_title(part, sources) for part in listed]
        if 1 < len(listed) <= MAX_SOURCES_PER_MARK and all(map(_is_exact, matches)):
            return [(f"[{part}]", match) for part, match in zip(listed, matches, strict=True)]
    return [(shown, whole)]


def _is_exact(match: _TitleMatch) -> bool:
    return match.matched_by == "title" and match.has_section


def _is_title(bare: str, sources: Sequence[Hit]) -> bool:
    """Whether a bracket begins with the title or file name of a source; a single letter and a bare number do not count."""
    title = _fold(_LEVEL.split(bare)[0])
    if len(title) < 2 or title.isdigit():
        return False
    names = [(hit.chunk.title, hit.chunk.document_name) for hit in sources]
    return any(title in (_fold(one), _fold(name), _fold(PurePath(name).stem)) for one, name in names)


def _numbered_mark(number: int, count: int) -> CitationMark:
    matched = number <= count
    return CitationMark(f"[Source {number}]", 0, 0, number if matched else None, "number" if matched else None)


def _numbers(bare: str) -> list[int] | None:
    """The source numbers in a bracket; empty where they are no citation, None where it holds other text."""
    listed = _NUMBERS.fullmatch(bare)
    if listed is None:
        labelled = _LABELLED.fullmatch(bare)
        if labelled is None:
            return None
        return [int(labelled[1])] if int(labelled[1]) else []
    found: list[int] = []
    for first, last in _PART.findall(listed[1]):
        if not 0 < int(first) <= int(last or first) < int(first) + MAX_SOURCES_PER_MARK:
            return []
        found += range(int(first), int(last or first) + 1)
    return found[:MAX_SOURCES_PER_MARK]


def _by_title(inner: str, sources: Sequence[Hit]) -> _TitleMatch:
    """The sources by title: equal, else contained, else similar; of these, the ones in the section named.

    No source is matched where the titles of several documents fit. Where no source has the section, those of the
    document are matched, and `has_section` is False.
    """
    parts = _LEVEL.split(_NAMED.sub("", inner).strip())
    titles = [" > ".join(_LEVEL.split(_fold(hit.chunk.title))) for hit in sources]
    names = [_fold(hit.chunk.document_name) for hit in sources]
    depth = next((n for n in range(len(parts), 1, -1) if _fold(" > ".join(parts[:n])) in titles), 1)
    title, path = " > ".join(parts[:depth]), parts[depth:]
    wanted, section = _fold(title), " > ".join(path) or None
    tiers: list[tuple[MatchedBy, list[int]]] = [
        ("title", [n for n, one in enumerate(titles) if wanted in (one, names[n])]),
        ("contains", [n for n, one in enumerate(titles) if wanted and one and (wanted in one or one in wanted)]),
        ("similar", [n for n, one in enumerate(titles) if _dice(wanted, one) > MIN_TITLE_SIMILARITY]),
    ]
    for how, fitting in tiers:
        in_section = _in_section(path, fitting, sources)
        chosen = in_section or fitting
        if chosen:
            if len({sources[n].chunk.document_id for n in chosen}) > 1:
                break
            return _TitleMatch(title, section, tuple(n + 1 for n in chosen), how, bool(in_section or not path))
    return _TitleMatch(title, section)


def _in_section(path: Sequence[str], fitting: Sequence[int], sources: Sequence[Hit]) -> list[int]:
    """Those of the sources whose headings end in the path; else those with the path among their headings."""
    wanted = [_letters(part) for part in path]
    headings = {n: [_letters(part) for part in sources[n].chunk.section_path] for n in fitting}
    ending = [n for n in fitting if wanted and headings[n][-len(wanted) :] == wanted]
    exact = [n for n in ending if headings[n] == wanted]
    return exact or ending or [n for n in fitting if wanted and _contains(headings[n], wanted)]


def _contains(headings: Sequence[str], wanted: Sequence[str]) -> bool:
    return any(headings[n : n + len(wanted)] == wanted for n in range(len(headings) - len(wanted) + 1))


def _fold(name: str) -> str:
    return without_brackets(" ".join(name.split()).casefold()).translate(_PLAIN)


def without_brackets(name: str) -> str:
    """A name as a mark can contain it: a bracket inside would end the mark."""
    return name.translate(_PARENTHESES)


def _letters(name: str) -> str:
    return "".join(char for char in name.casefold() if char.isalnum())


def _dice(a: str, b: str) -> float:
    """The Dice similarity of two strings: the share of their letter pairs in common."""
    pairs_a, pairs_b = ({s[i : i + 2] for i in range(len(s) - 1)} for s in (a, b))
    return 2 * len(pairs_a & pairs_b) / (len(pairs_a) + len(pairs_b)) if pairs_a and pairs_b else 0.0
