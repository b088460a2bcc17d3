"""A question taken apart: its words of meaning, how much each counts among the sentences found, and what it wants."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pincite.extractive.sentences import Sentence
from pincite.text.answer_type import Wanted, wanted
from pincite.text.terms import STOP_WORDS, question_language, stem, words

LANGUAGES = ("en", "de")
"""Whose word forms a question is compared in."""
ASKING = frozenset("many much viel viele vielen wieviel wieviele".split())
"""Words that ask, and that no answer holds."""
ROOT = 4
"""Letters that two words must begin with alike to be taken for relatives."""
PART = 5
"""Letters of a word that counts as part of a compound."""
ALIKE = 0.6
"""The share of the shorter word that must be alike."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a question: the forms it may stand in, its weight, and other words found that are like it, by how much."""

    text: str
    forms: frozenset[str]
    weight: float
    like: Mapping[str, float]

    def in_(self, held: frozenset[str]) -> bool:
        """Whether it stands among those words."""
        return not self.forms.isdisjoint(held)

    def likeness(self, held: frozenset[str]) -> float:
        """1 where it stands among those words, else how like it the likest of them is."""
        if self.in_(held):
            return 1.0
        return max((self.like[word] for word in self.like.keys() & held), default=0.0)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it is compared with sentences."""

    text: str
    language: str
    words: tuple[Word, ...]
    forms: frozenset[str]
    wanted: Wanted

    @property
    def weight(self) -> float:
        """Of all words together."""
        return sum(word.weight for word in self.words) or 1.0

    @property
    def numbers(self) -> list[Word]:
        """The words that hold a figure: asked about 23, nothing about 17 is an answer."""
        return [word for word in self.words if any(char.isdigit() for char in word.text)]


def ask(question: str, found: Sequence[Sentence]) -> Asked:
    """Take a question apart; a word that few of the sentences hold counts more than one that many do."""
    language = question_language(question)
    vocabulary = frozenset[str]().union(*(sentence.held | sentence.above for sentence in found))
    parts = tuple(_word(text, found, vocabulary) for text in content(question, language))
    forms = frozenset[str]().union(*(word.forms for word in parts))
    return Asked(question, language, parts, forms, wanted(question))


def content(question: str, language: str) -> list[str]:
    """The words that carry meaning, each once; all of them where none does."""
    said = list(dict.fromkeys(words(question)))
    return [word for word in said if word not in STOP_WORDS[language] and word not in ASKING] or said


def _word(text: str, found: Sequence[Sentence], vocabulary: frozenset[str]) -> Word:
    forms = frozenset(stem(text, language) for language in LANGUAGES)
    like = _relatives(forms, vocabulary)
    seen = sum(not forms.isdisjoint(sentence.held) for sentence in found)
    seen = seen or sum(not like.keys().isdisjoint(sentence.held) for sentence in found)
    return Word(text, forms, math.log(1 + (len(found) - seen + 0.5) / (seen + 0.5)), like)


def _relatives(forms: Iterable[str], vocabulary: frozenset[str]) -> dict[str, float]:
    """Words that begin like one of the forms, or that hold it or are held by it, as German compounds do."""
    found: dict[str, float] = {}
    for form in forms:
        if len(form) < ROOT:
            continue
        root, size = form[:ROOT], len(form)
        for other in vocabulary:
            if len(other) < ROOT or other == form:
                continue
            short, long = (size, len(other)) if size < len(other) else (len(other), size)
            alike = 0
            if other.startswith(root):
                alike = _begin_alike(form, other)
                alike = alike if alike >= ALIKE * short else 0
            if short >= PART and (form in other or other in form):
                alike = short
            if alike:
                found[other] = max(found.get(other, 0.0), alike / long)
    return found


def _begin_alike(one: str, other: str) -> int:
    """How many letters two words begin with alike."""
    for n, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return n
    return min(len(one), len(other))
