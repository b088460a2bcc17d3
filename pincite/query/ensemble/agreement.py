"""What several drafts of one answer agree on: their claims, compared as those of an answer are with its sources."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pincite.core.protocols import Vector
from pincite.core.query.hits import Hit
from pincite.query.citations.claims import claims_of
from pincite.query.citations.marks import normalise_marks
from pincite.query.ground.support import (
    MIN_SUPPORT,
    decide_by_words,
    find_contradiction,
    is_dictionary_word,
    judge_claim,
)
from pincite.text.names import strangers
from pincite.text.quantities import figures_in, unmatched
from pincite.text.terms import question_language, terms

MIN_SHARED_WORDS = 0.6
"""A statement is made by another one that has so many of its words."""
SAME_MEANING, SOME_WORDS = 0.85, 0.3
"""Or by one whose vector is so near, if it has at least so many."""


@dataclass(frozen=True, slots=True)
class DraftStatement:
    """What a draft says in one place, the words of it but for figures, and the sources it names for it."""

    text: str
    language: str
    words: frozenset[str]
    sources: tuple[int, ...] = ()


def statements_of(text: str, sources: Sequence[Hit], *, titled: bool = False) -> list[DraftStatement]:
    """The statements of a draft, in order; `titled` where it cites titles."""
    text, marks = normalise_marks(text, sources, titled=titled)
    _, claims = claims_of(text, [(mark.start, mark.end) for mark in marks])
    language = question_language(text)
    return [
        _statement(claim.text, language, tuple(source for mark in claim.marks if (source := marks[mark].source)))
        for claim in claims
        if any(map(str.isalnum, claim.text))
    ]


def _statement(text: str, language: str, sources: tuple[int, ...] = ()) -> DraftStatement:
    words = frozenset(word for word in terms(text, language) if not any(map(str.isdigit, word)))
    return DraftStatement(text, language, words, sources)


def agrees(one: DraftStatement, others: Sequence[DraftStatement], vectors: Mapping[str, Vector]) -> bool:
    """Whether another draft makes a statement as well, in one place or in two that follow each other."""
    return any(_makes_same_statement(one, other, vectors) for other in _with_adjacent_pairs(others))


def _with_adjacent_pairs(statements: Sequence[DraftStatement]) -> Iterator[DraftStatement]:
    yield from statements
    for one, other in pairwise(statements):
        yield _statement(f"{one.text} {other.text}", one.language)


def _makes_same_statement(one: DraftStatement, other: DraftStatement, vectors: Mapping[str, Vector]) -> bool:
    """Figures and names must all be there, and neither may deny the other: no likeness makes up for another number."""
    shared = len(one.words & other.words) / len(one.words) if one.words else 1.0
    if shared < MIN_SHARED_WORDS and (shared < SOME_WORDS or _cosine(one, other, vectors) < SAME_MEANING):
        return False
    language = one.language
    if unmatched(figures_in(one.text, language), figures_in(other.text, language)):
        return False
    names, _ = strangers(one.text, other.text, language, is_dictionary_word)
    return not names and find_contradiction(one.text, other.text, language) is None


def _cosine(one: DraftStatement, other: DraftStatement, vectors: Mapping[str, Vector]) -> float:
    here, there = vectors.get(one.text), vectors.get(other.text)
    return 0.0 if here is None or there is None else sum(x * y for x, y in zip(here, there, strict=True))


def is_supported(one: DraftStatement, sources: Sequence[Hit]) -> bool:
    """Whether a source that a statement names supports it, by its words alone."""
    return any(
        decide_by_words(judge_claim(one.text, sources[number - 1].chunk)).support >= MIN_SUPPORT
        for number in one.sources
    )
