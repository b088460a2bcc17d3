"""What several drafts of one answer agree on: their statements, compared by words, figures, names and negation."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pincite.core.answers import Hit
from pincite.core.protocols import Vector
from pincite.core.text import sentences
from pincite.query.entities import entities_in
from pincite.query.relevance import held_terms
from pincite.words import question_language, terms

SAME_WORDS = 0.6
"""A statement is made by another one that has so many of its words."""
SAME_MEANING, SOME_WORDS = 0.85, 0.3
"""Or by one whose vector is so near, if it has at least so many."""
HELD = 0.5
"""A source that has so many of a statement's words, and all its figures, may stand behind it."""

_MARK = re.compile(r"\s*\[Source (\d{1,3})\]")
_FIGURE = re.compile(r"\d+(?:[.,:/]\d+)*")
_WORD = re.compile(r"[^\W_]+")
_DENIES = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|nicht|kein\w{0,2}|nie|niemals|niemand|nichts|weder|ohne)"
    r"\b|n['’]t\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of a draft: where it stands, what it says without its marks, its words but for figures, its sources."""

    start: int
    end: int
    text: str
    terms: frozenset[str]
    sources: frozenset[int] = frozenset()

    @property
    def figures(self) -> frozenset[str]:
        """Its figures, thousands written without a mark."""
        return figures_in(self.text)

    @property
    def denies(self) -> bool:
        """Whether it says that something is not so; twice is not at all."""
        return len(_DENIES.findall(self.text)) % 2 == 1


def figures_in(text: str) -> frozenset[str]:
    """The figures of a text."""
    return frozenset(re.sub(r"[.,](?=\d{3}(?!\d))", "", found) for found in _FIGURE.findall(text))


def claims_of(text: str) -> list[Claim]:
    """The statements of a draft, in order; marks that stand alone belong to the one before."""
    found: list[Claim] = []
    language = question_language(text)
    for start, end in sentences(text):
        named = frozenset(int(number) for number in _MARK.findall(text[start:end]))
        bare = _MARK.sub("", text[start:end]).strip()
        words = frozenset(word for word in terms(bare, language) if not any(map(str.isdigit, word)))
        if any(map(str.isalnum, bare)):
            found.append(Claim(start, end, bare, words, named))
        elif found and named:
            last = found[-1]
            found[-1] = Claim(last.start, end, last.text, last.terms, last.sources | named)
    return found


def agrees(claim: Claim, others: Sequence[Claim], vectors: Mapping[str, Vector]) -> bool:
    """Whether another draft makes a statement as well, in one sentence or in two that follow each other."""
    return any(_same(claim, other, vectors) for other in _said(others))


def _said(claims: Sequence[Claim]) -> Iterator[Claim]:
    yield from claims
    for one, other in pairwise(claims):
        yield Claim(one.start, other.end, f"{one.text} {other.text}", one.terms | other.terms)


def _same(claim: Claim, other: Claim, vectors: Mapping[str, Vector]) -> bool:
    """Figures and names must all be there, and both must affirm or deny: no likeness makes up for another number."""
    if claim.denies != other.denies or not claim.figures <= other.figures:
        return False
    words = {word.lower() for word in _WORD.findall(other.text)}
    named = {
        word.lower() for name in entities_in(claim.text) if name.kind == "name" for word in _WORD.findall(name.text)
    }
    if not named <= words:
        return False
    shared = _shared(claim.terms, other.terms)
    return shared >= SAME_WORDS or (shared >= SOME_WORDS and _cosine(claim, other, vectors) >= SAME_MEANING)


def _shared(wanted: frozenset[str], held: frozenset[str]) -> float:
    return len(wanted & held) / len(wanted) if wanted else 1.0


def _cosine(claim: Claim, other: Claim, vectors: Mapping[str, Vector]) -> float:
    one, two = vectors.get(claim.text), vectors.get(other.text)
    return 0.0 if one is None or two is None else sum(x * y for x, y in zip(one, two, strict=True))


def is_held(claim: Claim, sources: Sequence[Hit]) -> bool:
    """Whether a source that a statement names has its figures and most of its words."""
    for number in claim.sources:
        if not 1 <= number <= len(sources):
            continue
        chunk = sources[number - 1].chunk
        if _shared(claim.terms, held_terms(chunk)) >= HELD and claim.figures <= figures_in(
            f"{chunk.header} {chunk.text}"
        ):
            return True
    return False
