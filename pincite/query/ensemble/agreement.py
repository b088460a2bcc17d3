"""Agreement of drafts: compare their statements by words, numbers, names and embeddings."""

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
from pincite.text.figures import figures_in, unmatched
from pincite.text.names import strangers
from pincite.text.terms import question_language, terms

MIN_SHARED_WORDS = 0.6
"""Minimum share of common words of two statements that agree."""
MIN_COSINE, MIN_SHARED_WORDS_WITH_COSINE = 0.85, 0.3
"""Two statements also agree with this cosine and at least this share of common words."""


@dataclass(frozen=True, slots=True)
class DraftStatement:
    """A statement of a draft, its words without numbers, and the sources it cites."""

    text: str
    language: str
    words: frozenset[str]
    sources: tuple[int, ...] = ()


def statements_of(text: str, sources: Sequence[Hit]) -> list[DraftStatement]:
    """The statements of a draft, in order."""
    text, marks = normalise_marks(text, sources)
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
    """Whether another draft makes the same statement, in one statement or in two adjacent ones."""
    return any(_makes_same_statement(one, other, vectors) for other in _with_adjacent_pairs(others))


def _with_adjacent_pairs(statements: Sequence[DraftStatement]) -> Iterator[DraftStatement]:
    yield from statements
    for one, other in pairwise(statements):
        yield _statement(f"{one.text} {other.text}", one.language)


def _makes_same_statement(one: DraftStatement, other: DraftStatement, vectors: Mapping[str, Vector]) -> bool:
    """Whether two statements agree: no similarity makes up for another number, another name or a negation."""
    shared = len(one.words & other.words) / len(one.words) if one.words else 1.0
    if shared < MIN_SHARED_WORDS and (
        shared < MIN_SHARED_WORDS_WITH_COSINE or _cosine(one, other, vectors) < MIN_COSINE
    ):
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
    """Whether a cited source supports a statement, by words alone."""
    return any(
        decide_by_words(judge_claim(one.text, sources[number - 1].chunk)).support >= MIN_SUPPORT
        for number in one.sources
    )
