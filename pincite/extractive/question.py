"""The terms of a question with their weights among the sentences found, and the type of its answer."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pincite.extractive.identifiers import identifiers_in
from pincite.extractive.sentences import Sentence, abbreviations_of
from pincite.text import lang
from pincite.text.answer_type import AnswerType, answer_type
from pincite.text.dictionary import dictionary, languages
from pincite.text.terms import question_language, question_words, stem, stop_words, words
from pincite.text.wording.abbreviations import shortened
from pincite.text.wording.equivalents import equivalents, normalised, other_units

_NAME = re.compile(r"(?<=[\w,;:] )[\"'„“]?([^\W\d_a-zß-öø-ÿœ][\w-]*)|\b(\w*\d\w*)")

MIN_ROOT_CHARS = 4
"""Letters at the beginning that two similar words have in common."""
MAX_ACRONYM_CHARS = 5
"""Letters of the plural of an acronym, which stemming leaves as it is."""
MIN_PART_CHARS = 5
"""Letters of a word that counts as part of a compound."""
FOLLOW_UP_WEIGHT = 2.0
"""Factor on the weight of the words that a follow-up adds to the question before."""
MIN_SHARED_PREFIX = 0.6
"""Share of the shorter of two similar words that they have in common at the beginning."""


@dataclass(frozen=True, slots=True)
class QuestionTerm:
    """A word of a question: its index terms, its weight, and similar terms of the sentences with their similarity."""

    text: str
    forms: frozenset[str]
    weight: float
    similar: Mapping[str, float]

    def is_in(self, found: frozenset[str]) -> bool:
        """Whether these terms have it."""
        return not self.forms.isdisjoint(found)

    def similarity(self, found: frozenset[str]) -> float:
        """1 where these terms have it, else the similarity of the most similar one."""
        if self.is_in(found):
            return 1.0
        return max((self.similar[term] for term in self.similar.keys() & found), default=0.0)


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """A question as it is compared with sentences."""

    text: str
    language: str
    terms: tuple[QuestionTerm, ...]
    forms: frozenset[str]
    answer: AnswerType
    identifiers: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()

    @property
    def weight(self) -> float:
        """The sum of the weights of all terms."""
        return sum(term.weight for term in self.terms) or 1.0

    @property
    def numbers(self) -> list[QuestionTerm]:
        """The terms with a digit: a sentence about 17 does not answer a question about 23."""
        return [term for term in self.terms if any(char.isdigit() for char in term.text)]


def question_terms(question: str, found: Sequence[Sentence]) -> QuestionTerms:
    """The terms of a question; a term that few of the sentences have weighs more than one that many have."""
    language = question_language(question)
    vocabulary = frozenset[str]().union(*(sentence.terms | sentence.heading_terms for sentence in found))
    languages = {*lang.recognised(language), *(sentence.language for sentence in found)} & set(lang.LANGUAGES)
    bare = {one.asked[0]: one.bare for one in equivalents(question, language) if one.bare}
    short = shortened(question, abbreviations_of(found))
    parts = tuple(
        _term(text, found, vocabulary, languages, bare.get(text, "")) for text in content_words(short, language)
    )
    forms = frozenset[str]().union(*(term.forms for term in parts))
    return QuestionTerms(
        question,
        language,
        parts,
        forms,
        answer_type(question),
        identifiers_in(question, language),
        names_in(question, language),
    )


def with_follow_up(question: QuestionTerms, asked: str, found: Sequence[Sentence]) -> QuestionTerms:
    """The question with more weight on the words of a follow-up that sentences have: they say what has changed."""
    new, held = (
        set(question_words(asked, question.language)),
        frozenset[str]().union(*(sentence.terms for sentence in found)),
    )
    weighed = tuple(
        replace(term, weight=FOLLOW_UP_WEIGHT * term.weight) if term.text in new and term.is_in(held) else term
        for term in question.terms
    )
    return replace(question, terms=weighed) if new else question


def content_words(question: str, language: str) -> list[str]:
    """The words of a question that carry meaning, each once; all of them where none does."""
    distinct = list(dict.fromkeys(question_words(question, language)))
    left_out = stop_words(language) | lang.recognised_words("questions.amount_words", language)
    return [word for word in distinct if word not in left_out] or distinct


def _term(
    text: str, found: Sequence[Sentence], vocabulary: frozenset[str], languages: Iterable[str], bare: str
) -> QuestionTerm:
    """A term of the question; `bare` is the number of an amount, whose unit the name of a column may have."""
    forms = frozenset(stem(text, language) for language in languages)
    if bare.isdigit() and not other_units(text, vocabulary):
        forms |= {bare}
    if len(text) <= MAX_ACRONYM_CHARS and text.endswith("s") and text[:-1] in vocabulary:
        forms |= {text[:-1]}  # `CDs`
    similar = _similar(forms, vocabulary)
    seen = sum(not forms.isdisjoint(sentence.terms) for sentence in found)
    seen = seen or sum(not similar.keys().isdisjoint(sentence.terms) for sentence in found)
    return QuestionTerm(text, forms, math.log(1 + (len(found) - seen + 0.5) / (seen + 0.5)), similar)


def _similar(forms: Iterable[str], vocabulary: frozenset[str]) -> dict[str, float]:
    """The terms that share their beginning with a form, contain it, or are contained in it, as in compounds."""
    found: dict[str, float] = {}
    for form in forms:
        if len(form) < MIN_ROOT_CHARS:
            continue
        root, size = form[:MIN_ROOT_CHARS], len(form)
        for other in vocabulary:
            if len(other) < MIN_ROOT_CHARS or other == form:
                continue
            short, long = (size, len(other)) if size < len(other) else (len(other), size)
            shared = 0
            if other.startswith(root):
                shared = _shared_prefix(form, other)
                shared = shared if shared >= MIN_SHARED_PREFIX * short else 0
            if short >= MIN_PART_CHARS and (form in other or other in form):
                shared = short
            elif size > MIN_PART_CHARS + 1 and other.endswith(form.removesuffix("t")):  # `beginnt` and `Baubeginn`
                shared = size - 1
            if shared:
                found[other] = max(found.get(other, 0.0), shared / long)
    return found


def _shared_prefix(one: str, other: str) -> int:
    """The number of letters that two words have in common at the beginning."""
    for n, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return n
    return min(len(one), len(other))


def names_in(question: str, language: str) -> frozenset[str]:
    """The names and numbers of a question, in lower case; where nouns have capitals, a common noun is no name."""
    found = {word for match in _NAME.finditer(normalised(question, language)) for word in words(match[1] or match[2])}
    if language not in lang.flagged("nouns_capitalised") or language not in languages() or not found:
        return frozenset(found)
    everyday = dictionary(language).common
    return frozenset(name for name in found if name not in everyday)
