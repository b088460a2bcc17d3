"""A comparison of two documents or sections: a table of what differs, or one aspect of both sides."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pincite.core.query.hits import Hit
from pincite.extractive.compose import AnswerPart
from pincite.extractive.question import QuestionTerms
from pincite.extractive.score import ScoredSentence
from pincite.extractive.tables import cells
from pincite.extractive.whole.naming import is_in_name, named_words, side_words
from pincite.extractive.whole.outline import OutlineSection, sections_of
from pincite.text import lang
from pincite.text.markdown_blocks import plain
from pincite.text.quantities import values_in
from pincite.text.sentences import sentences
from pincite.text.terms import terms

MAX_ROWS = 10
MIN_ALIKE = 0.3
"""Share of common terms from which on two sentences say the same of both sides."""
MAX_SIDE_SENTENCES = 2
MIN_SIDE_SCORE = 0.34
"""Share of an aspect's words that a sentence or its heading must have."""

_NUMBERING = re.compile(r"^\W*(?:\d+(?:\.\d+)*[.)]?|§+ ?\d+\w?|[A-ZÄÖÜ]{3,} \d+)\s+")
_WORD = re.compile(r"[^\W_]+(?:[.,][^\W_]+)*")
_END = re.compile(r"[,;:?!]|\.(?:\s|$)")


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence or a row of one side."""

    source: int
    start: int
    end: int
    text: str
    terms: frozenset[str]
    heading: str
    language: str


def sides_in(question: str) -> tuple[str, str] | None:
    """The two things that a question compares, as it names them; None where it does not."""
    strong = list(lang.regex("extractive.strong_joins", "", r"\s(?:%s)\s", re.IGNORECASE).finditer(question))
    for language in lang.LANGUAGES:
        strong = strong or list(
            lang.own_regex("extractive.strong_joins", language, r"\s(?:%s)\s", re.IGNORECASE).finditer(question)
        )
    joins = strong or [
        match
        for language in lang.LANGUAGES
        for match in lang.own_regex("extractive.joins", language, r"\s(?:%s)\s", re.IGNORECASE).finditer(question)
    ]
    comparing = lang.all_words("extractive.comparing")
    for join in reversed(joins):
        left, right = question[: join.start()], question[join.end() :]
        opened = [match.end() for match in re.finditer(r"[^\W_]+", left) if match.group().lower() in comparing]
        left = left[opened[-1] :] if opened and not strong else left
        ends = [match.end() for match in _END.finditer(left)]
        left = left[ends[-1] :] if ends else left
        end = _END.search(right)
        right = right[: end.start()] if end else right
        if named_words(left) and named_words(right):
            return left.strip(), right.strip()
    return None


def compared(question: QuestionTerms, found: Sequence[ScoredSentence], sources: Sequence[Hit]) -> list[AnswerPart]:
    """Both sides beside each other; nothing where the sources are not about two sides."""
    sides, every = sides_in(question.text), sections_of(sources)
    one, other, labels = _two_sides(sides, every, sources) if sides else _two_documents(question.text, every)
    if not one or not other:
        return []
    known = {word for label in labels for word in named_words(question.text) if is_in_name(word, label)}
    first, second = list(_said(one, sources)), list(_said(other, sources))
    generic = lang.all_words("extractive.document_words")
    aspect = [word for word in named_words(question.text) if word not in known and word not in generic]
    aspect = [word for word in aspect if _is_said(word, first) and _is_said(word, second)]
    if aspect:
        return _one_aspect(aspect, found, (first, second), labels)
    if one[0].document == other[0].document:
        rows = [("", mine, like) for mine in first if (like := _most_alike(mine, second))]
    else:
        rows = list(_rows(first, second))
    named = [row for row in rows if row[0]][:MAX_ROWS]
    return _table(named or rows[:MAX_ROWS], labels) or _in_turn(first, second, labels)


def _in_turn(first: Sequence[_Said], second: Sequence[_Said], labels: tuple[str, str]) -> list[AnswerPart]:
    """The first sentences of each side, where nothing in them can be aligned."""
    return [
        AnswerPart(f"- **{plain(label)}**: {said.text}", said.source, said.start, said.end, "\n")
        for label, side in zip(labels, (first, second), strict=True)
        for said in side[:MAX_SIDE_SENTENCES]
    ]


def _two_sides(
    sides: tuple[str, str], every: Sequence[OutlineSection], sources: Sequence[Hit]
) -> tuple[list[OutlineSection], list[OutlineSection], tuple[str, str]]:
    """The sections of each side with their labels: two documents, or the sections whose headings name the sides."""
    documents = {hit.chunk.document_id: (hit.chunk.title, hit.chunk.document_name) for hit in sources}
    left, right = side_words(*sides)
    if len(documents) == 2:
        (a, names_a), (b, names_b) = documents.items()
        if _names(left, names_b) - _names(right, names_b) and _names(right, names_a) - _names(left, names_a):
            (a, names_a), (b, names_b) = (b, names_b), (a, names_a)
        if (_names(left, names_a) - _names(left, names_b)) and (_names(right, names_b) - _names(right, names_a)):
            chosen = [[section for section in every if section.document == one] for one in (a, b)]
            return chosen[0], chosen[1], (names_a[0], names_b[0])
    one = [section for section in every if _names(left, _below(section)) and not _names(right, _below(section))]
    other = [section for section in every if _names(right, _below(section)) and not _names(left, _below(section))]
    one, other = _largest(one), _largest(other)
    labels = (one[0].heading if one else "", other[0].heading if other else "")
    return one, other, labels


def compares_two(question: str) -> bool:
    """Whether a question compares two things that it names together: `the two offers`."""
    return any(
        lang.own_regex("extractive.both", language, r"\b%s\b", re.IGNORECASE).search(question)
        for language in lang.LANGUAGES
    )


def _two_documents(
    question: str, every: Sequence[OutlineSection]
) -> tuple[list[OutlineSection], list[OutlineSection], tuple[str, str]]:
    """The two documents of the sources, where the question names them together."""
    documents = list(dict.fromkeys(section.document for section in every))
    if len(documents) != 2 or not compares_two(question):
        return [], [], ("", "")
    one, other = ([section for section in every if section.document == document] for document in documents)
    return one, other, (one[0].title, other[0].title)


def _below(section: OutlineSection) -> tuple[str, ...]:
    """The headings of a section below that of its document."""
    return section.path[1:] or section.path


def _largest(sections: list[OutlineSection]) -> list[OutlineSection]:
    """The sections below the heading that most of them share."""
    return [section for section in sections if section.path[: len(sections[0].path)] == sections[0].path]


def _names(named: Iterable[str], names: Iterable[str]) -> frozenset[str]:
    every = " ".join(names)
    return frozenset(word for word in named if is_in_name(word, every))


def _said(sections: Sequence[OutlineSection], sources: Sequence[Hit]) -> Iterator[_Said]:
    """The sentences and rows of sections, each with its heading; the heading of the title has none."""
    for section in sections:
        heading = "" if section.heading == section.title else plain(section.heading)
        for block in section.blocks:
            text = sources[block.source - 1].chunk.text[block.start : block.end]
            if block.kind in ("header", "code"):
                continue
            spans = [(0, len(text))] if block.kind == "row" else sentences(text)
            for start, end in spans:
                quote = text[start:end]
                written = (
                    ", ".join(filter(None, cells(quote))) if block.kind == "row" else plain(" ".join(quote.split()))
                )
                held = frozenset(terms(written, section.language))
                if held:
                    at = block.start
                    yield _Said(block.source, at + start, at + end, written, held, heading, section.language)


def _is_said(word: str, said: Sequence[_Said]) -> bool:
    return any(is_in_name(word, f"{one.heading} {one.text}") for one in said)


def _one_aspect(
    aspect: Sequence[str],
    found: Sequence[ScoredSentence],
    sides: tuple[Sequence[_Said], Sequence[_Said]],
    labels: tuple[str, str],
) -> list[AnswerPart]:
    """The sentence of each side about one aspect; the second is the one that says it like the first."""
    scores = {(one.sentence.source, one.sentence.start): one.score for one in found}

    def worth(one: _Said) -> tuple[float, float]:
        held = sum(len(word) for word in aspect if is_in_name(word, f"{one.heading} {one.text}"))
        return held / sum(map(len, aspect)), scores.get((one.source, one.start), min(scores.values(), default=0.0) - 1)

    best = [max(side, key=lambda one: round(worth(one)[0], 1) * 4 + worth(one)[1]) for side in sides]
    if min(worth(one)[0] for one in best) < MIN_SIDE_SCORE:
        return []
    leader = 0 if worth(best[0]) >= worth(best[1]) else 1
    like = _most_alike(best[leader], [one for one in sides[1 - leader] if one.heading == best[leader].heading])
    if like is not None:
        best[1 - leader] = like
    return [
        AnswerPart(f"- **{label}**: {one.text}", one.source, one.start, one.end, "\n")
        for label, one in zip(labels, best, strict=True)
    ]


def _most_alike(one: _Said, others: Iterable[_Said]) -> _Said | None:
    """The sentence that shares most terms with another; None where none shares enough."""
    best = max(others, key=lambda other: _alike(one, other), default=None)
    return best if best is not None and _alike(one, best) >= MIN_ALIKE else None


def _alike(one: _Said, other: _Said) -> float:
    return len(one.terms & other.terms) / len(one.terms | other.terms)


def _rows(first: Sequence[_Said], second: Sequence[_Said]) -> Iterator[tuple[str, _Said, _Said]]:
    """What both sides say under the same heading, where they differ; headings in the order of the first side."""
    for heading in dict.fromkeys(one.heading for one in first):
        key = _key(heading)
        mine = [one for one in first if _key(one.heading) == key]
        theirs = [one for one in second if _key(one.heading) == key]
        same = {one.text for one in mine} & {one.text for one in theirs}
        mine, theirs = ([one for one in side if one.text not in same] for side in (mine, theirs))
        paired = [(one, like) for one in mine if (like := _most_alike(one, theirs)) and not _same_but_names(one, like)]
        paired.sort(key=lambda pair: not values_in(pair[0].text, pair[0].language))
        if paired:
            yield heading, *paired[0]
        elif mine and theirs and not same and not _same_but_names(mine[0], theirs[0]):
            yield heading, mine[0], theirs[0]


def _same_but_names(one: _Said, other: _Said) -> bool:
    """Whether two sentences differ in names alone, as two signatures do."""
    differ = set(_WORD.findall(one.text)) ^ set(_WORD.findall(other.text))
    return bool(differ) and all(word[0].isupper() for word in differ)


def _key(heading: str) -> str:
    """A heading without its number, in lower case."""
    return _NUMBERING.sub("", heading).casefold().strip()


def _table(rows: Sequence[tuple[str, _Said, _Said]], labels: tuple[str, str]) -> list[AnswerPart]:
    """A Markdown table with one row for each heading; every cell is a quote of its own."""
    parts, gap = list[AnswerPart](), ""
    headed = any(heading for heading, _, _ in rows)
    opening = (
        f"| {'| ' if headed else ''}{_cell(labels[0])} | {_cell(labels[1])} |\n|---|---|{'---|' if headed else ''}\n"
    )
    for heading, mine, theirs in rows:
        for column, said in enumerate((mine, theirs)):
            lead = f"| {_cell(heading)} | " if headed and column == 0 else "| "
            parts.append(
                AnswerPart(
                    f"{opening}{lead}{_cell(said.text)}", said.source, said.start, said.end, gap if parts else ""
                )
            )
            opening, gap = "", " " if column == 0 else " |\n"
    return parts


def _cell(text: str) -> str:
    return plain(text).replace("|", "\\|")
