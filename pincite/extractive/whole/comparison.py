"""A comparison of documents or sections: a table of what differs, or one aspect of all sides."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pincite.core.query.hits import Hit
from pincite.extractive.compose import AnswerPart
from pincite.extractive.question import QuestionTerms
from pincite.extractive.score import ScoredSentence
from pincite.extractive.tables import cells
from pincite.extractive.whole.naming import MIN_ROOT_CHARS, is_in_name, is_plural, named_words, side_words
from pincite.extractive.whole.outline import OutlineSection, label_of, sections_of
from pincite.text import lang
from pincite.text.markdown_blocks import plain
from pincite.text.quantities import values_in
from pincite.text.sentences import sentences
from pincite.text.terms import terms, words

MAX_ROWS = 10
MAX_SIDES = 5
"""Sections up to which those of one document are compared."""
MIN_ALIKE = 0.3
"""Share of common terms from which on two sentences say the same of both sides."""
MAX_SIDE_SENTENCES = 2
MIN_SIDE_SCORE = 0.34
"""Share of an aspect's words that a sentence or its heading must have."""
HEADING_WEIGHT = 2.0
"""Weight of an aspect's words in the heading above a sentence."""

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


_Row = tuple[str, tuple[_Said, ...]]
"""A heading, and what each side says under it."""


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the things compared: its sections, and how it is named."""

    sections: Sequence[OutlineSection]
    label: str


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
    """The sides beside each other; nothing where the sources are not about two sides."""
    named, every = sides_in(question.text), sections_of(sources)
    if named:
        sides = _two_sides(named, every, sources)
    else:
        sides = _sections_named_together(question, every, sources) or _two_documents(question.text, every)
    if len(sides) < 2 or not all(side.sections for side in sides):
        return []
    labels = [side.label for side in sides]
    first = sides[0].sections[0]
    above = "" if named else " ".join((first.title, *first.path[:-1]))
    known = {word for label in (*labels, above) for word in named_words(question.text) if is_in_name(word, label)}
    said = [list(_said(side.sections, sources)) for side in sides]
    generic = lang.all_words("extractive.document_words")
    aspect = [word for word in named_words(question.text) if word not in known and word not in generic]
    in_all = [word for word in aspect if all(_is_said(word, one) for one in said)]
    if in_all:
        return _one_aspect(in_all, found, said, labels)
    if len({side.sections[0].document for side in sides}) == 1:
        alike = [(mine, *(_most_alike(mine, other) for other in said[1:])) for mine in said[0]]
        rows = [("", tuple(one for one in row if one)) for row in alike if all(row)]
    else:
        rows = list(_rows(said[0], said[1]))
    with_heading = [row for row in rows if row[0]][:MAX_ROWS]
    table = _table(with_heading or rows[:MAX_ROWS], labels)
    return table or ([] if aspect else _in_turn(said, labels))


def _in_turn(sides: Sequence[Sequence[_Said]], labels: Sequence[str]) -> list[AnswerPart]:
    """The first sentences of each side, where nothing in them can be aligned and no aspect is asked for."""
    return [
        AnswerPart(f"- **{plain(label)}**: {said.text}", said.source, said.start, said.end, "\n")
        for label, side in zip(labels, sides, strict=True)
        for said in side[:MAX_SIDE_SENTENCES]
    ]


def _sections_named_together(
    question: QuestionTerms, every: Sequence[OutlineSection], sources: Sequence[Hit]
) -> list[_Side]:
    """The sections below the one title or heading that has the plural in the question: `the insurance offers`.

    Only sections that say something alike are sides. Each word of the question is in the headings or in every side.
    """
    named = named_words(question.text)
    plurals = [word for word in named if is_plural(word, question.language)]
    generic = lang.all_words("extractive.document_words")
    found = list[list[_Side]]()
    for document, above in dict.fromkeys((one.document, one.path[:n]) for one in every for n in range(len(one.path))):
        depth = len(above)
        below = [
            one for one in every if one.document == document and one.path[:depth] == above and len(one.path) > depth
        ]
        names = (below[0].title, *above)
        if not any(_has_form(word, names[-1]) for word in plurals):
            continue
        children = dict.fromkeys(one.path[depth] for one in below)
        sides = [_Side([one for one in below if one.path[depth] == name], name) for name in children]
        said = [list(_said(side.sections, sources)) for side in sides]
        alike = [n for n, mine in enumerate(said) if _is_like_another(mine, said)]
        left = [word for word in named if word not in generic and not is_in_name(word, " ".join(names))]
        if 2 <= len(alike) <= MAX_SIDES and all(_is_said(word, said[n]) for n in alike for word in left):
            found.append([sides[n] for n in alike])
    return found[0] if len(found) == 1 else []


def _has_form(word: str, name: str) -> bool:
    """Whether a name has a word in the same form, alone or at the end of a compound."""
    return any(one == word or (len(word) >= MIN_ROOT_CHARS and one.endswith(word)) for one in words(name))


def _is_like_another(said: Sequence[_Said], sides: Iterable[Sequence[_Said]]) -> bool:
    """Whether a side has a sentence that says the same as one of another side."""
    return any(_most_alike(one, other) for other in sides if other is not said for one in said)


def _two_sides(sides: tuple[str, str], every: Sequence[OutlineSection], sources: Sequence[Hit]) -> list[_Side]:
    """The sections of each side with their labels: two documents, or the sections whose headings name the sides."""
    documents = {hit.chunk.document_id: (hit.chunk.title, hit.chunk.document_name) for hit in sources}
    left, right = side_words(*sides)
    if len(documents) == 2:
        (a, names_a), (b, names_b) = documents.items()
        if _names(left, names_b) - _names(right, names_b) and _names(right, names_a) - _names(left, names_a):
            (a, names_a), (b, names_b) = (b, names_b), (a, names_a)
        if (_names(left, names_a) - _names(left, names_b)) and (_names(right, names_b) - _names(right, names_a)):
            chosen = [[section for section in every if section.document == one] for one in (a, b)]
            return [_Side(chosen[0], names_a[0]), _Side(chosen[1], names_b[0])]
    one = [section for section in every if _names(left, _below(section)) and not _names(right, _below(section))]
    other = [section for section in every if _names(right, _below(section)) and not _names(left, _below(section))]
    return [_Side(side, side[0].heading if side else "") for side in (_largest(one), _largest(other))]


def compares_two(question: str) -> bool:
    """Whether a question compares two things that it names together: `the two offers`."""
    return any(
        lang.own_regex("extractive.both", language, r"\b%s\b", re.IGNORECASE).search(question)
        for language in lang.LANGUAGES
    )


def _two_documents(question: str, every: Sequence[OutlineSection]) -> list[_Side]:
    """The two documents of the sources, where the question names them together."""
    documents = list(dict.fromkeys(section.document for section in every))
    if len(documents) != 2 or not compares_two(question):
        return []
    both = ([section for section in every if section.document == document] for document in documents)
    return [_Side(sections, sections[0].title) for sections in both]


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
    sides: Sequence[Sequence[_Said]],
    labels: Sequence[str],
) -> list[AnswerPart]:
    """The sentence of each side about one aspect; the others are those that say it like the best."""
    scores = {(one.sentence.source, one.sentence.start): one.score for one in found}

    def share(name: str) -> float:
        return sum(len(word) for word in aspect if is_in_name(word, name)) / sum(map(len, aspect))

    def worth(one: _Said) -> tuple[float, float]:
        score = scores.get((one.source, one.start), min(scores.values(), default=0.0) - 1)
        return share(f"{one.heading} {one.text}"), score + HEADING_WEIGHT * share(one.heading)

    best = [max(side, key=lambda one: round(worth(one)[0], 1) * 4 + worth(one)[1]) for side in sides]
    if min(worth(one)[0] for one in best) < MIN_SIDE_SCORE:
        return []
    leader = max(best, key=worth)
    for number, side in enumerate(sides):
        like = _most_alike(leader, [one for one in side if one.heading == leader.heading])
        best[number] = like or best[number]
    return [
        AnswerPart(f"- **{label}**: {one.text}", one.source, one.start, one.end, "\n")
        for label, one in zip(labels, best, strict=True)
    ]


def _most_alike(one: _Said, others: Iterable[_Said]) -> _Said | None:
    """The sentence that shares most terms with another; None where none shares enough."""
    best = max(others, key=lambda other: _alike(one, other), default=None)
    return best if best is not None and _alike(one, best) >= MIN_ALIKE else None


def _alike(one: _Said, other: _Said) -> float:
    """The share of common terms; 1 where both begin with the same label, such as `Price: …`."""
    if (label := label_of(one.text)) and label == label_of(other.text):
        return 1.0
    return len(one.terms & other.terms) / len(one.terms | other.terms)


def _rows(first: Sequence[_Said], second: Sequence[_Said]) -> Iterator[_Row]:
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
            yield heading, paired[0]
        elif mine and theirs and not same and not _same_but_names(mine[0], theirs[0]):
            yield heading, (mine[0], theirs[0])


def _same_but_names(one: _Said, other: _Said) -> bool:
    """Whether two sentences differ in names alone, as two signatures do."""
    differ = set(_WORD.findall(one.text)) ^ set(_WORD.findall(other.text))
    return bool(differ) and all(word[0].isupper() for word in differ)


def _key(heading: str) -> str:
    """A heading without its number, in lower case."""
    return _NUMBERING.sub("", heading).casefold().strip()


def _table(rows: Sequence[_Row], labels: Sequence[str]) -> list[AnswerPart]:
    """A Markdown table with one row for each heading; every cell is a quote of its own."""
    parts, gap = list[AnswerPart](), ""
    headed = any(heading for heading, _ in rows)
    opening = f"| {'| ' if headed else ''}{' | '.join(map(_cell, labels))} |\n|{'---|' * (len(labels) + headed)}\n"
    for heading, row in rows:
        for column, said in enumerate(row):
            lead = f"| {_cell(heading)} | " if headed and column == 0 else "| "
            text = f"{opening}{lead}{_cell(said.text)}"
            parts.append(AnswerPart(text, said.source, said.start, said.end, gap if parts else ""))
            opening, gap = "", " " if column + 1 < len(row) else " |\n"
    return parts


def _cell(text: str) -> str:
    return plain(text).replace("|", "\\|")
