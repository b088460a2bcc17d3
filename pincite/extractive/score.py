"""The score of each sentence for a question: a weighted sum of features."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log

from pincite.core.query.reading import Reading
from pincite.extractive.answer_span import VALUE_KINDS, fitting_values
from pincite.extractive.question import QuestionTerm, QuestionTerms
from pincite.extractive.sentences import Sentence
from pincite.text import lang
from pincite.text.terms import stop_words, terms

GRAM_CHARS = 4
"""Letters of the n-grams that are compared where words differ."""
MAX_SUBJECT_CHARS = 60
"""Characters at the beginning of a sentence within which a definition names its subject."""
LEAST_READ = 1e-4
"""Probability below which the reader's are not told apart."""
HEADING_SIMILARITY = 0.5
"""Similarity of a term of the question that only the title or a heading above the sentence has."""

WEIGHTS: Mapping[str, float] = {
    "own": 2.76,
    "letters": 0.03,
    "like": 2.7,
    "before": 2.64,
    "referred": 1.1,
    "meaning": 4.9,
    "behind": -4.72,
    "place": -2.61,
    "language": 0.62,
    "lacks_kind": -2.04,
    "lacks_person": -1.78,
    "lacks_number": -0.39,
    "lacks_name": -2.06,
    "reason": 3.0,
    "defines": 3.0,
    "read": 1.35,
    "read_log": 3.97,
    "read_across": 1.1,
}
"""Weight of each feature; `./run bench refusing` fits them, see docs/evaluation.md. `reason` and `defines` are set by
hand: these features are too rare in the questions that the others are fitted on."""
WEIGHTS_OF_WHOLE: Mapping[str, float] = {
    "own": 5.24,
    "letters": 3.14,
    "like": 5.57,
    "before": 1.36,
    "referred": 2.22,
    "meaning": 2.8,
    "behind": -2.62,
    "place": -5.1,
    "language": 2.47,
    "lacks_kind": -2.04,
    "lacks_person": -1.42,
    "lacks_number": -1.96,
    "lacks_name": -0.3,
    "reason": 3.0,
    "defines": 3.0,
    "read": 2.0,
    "read_log": 2.0,
    "read_across": 3.0,
}
"""The weights where no reader reads the passages, and for answers that no single sentence gives. `./run bench choosing` fits
them; those of the reader were chosen on a grid."""
WHOLE_FORMS = ("list", "steps", "summary", "comparison")
"""Forms of answers that no single sentence gives."""

_PERSON = r"(?<![\w'’.-])[A-ZÄÖÜ][\w'’.-]++(?: (?:van|de|da|di|[A-Z]\.|%s))*+ [A-ZÄÖÜ][\w'’-]+"


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A sentence with its cosine similarity to the question, its features, and their weighted sum."""

    sentence: Sentence
    cosine: float
    features: Mapping[str, float]
    score: float

    @classmethod
    def of(
        cls, sentence: Sentence, cosine: float, features: Mapping[str, float], *, whole: bool = False
    ) -> "ScoredSentence":
        """The sentence with the weighted sum of its features; `whole` where no single sentence is asked for."""
        weights = WEIGHTS_OF_WHOLE if whole or "read" not in features else WEIGHTS
        return cls(sentence, cosine, features, sum(weights[name] * value for name, value in features.items()))


def score_sentences(
    question: QuestionTerms,
    found: Sequence[Sentence],
    cosines: Sequence[float],
    readings: Mapping[int, Reading] | None = None,
) -> list[ScoredSentence]:
    """The sentences with their scores, the best first; `readings` are what the reader found, by source."""
    same = [one.language == question.language for one in found]
    most = max((_read_probability(one, readings) for one, own in zip(found, same, strict=True) if own), default=0.0)
    read = [_read_features(one, readings, 1.0 if own else most) for one, own in zip(found, same, strict=True)]
    shares = _gram_shares(question, found)
    best = max((sentence.relevance for sentence in found), default=0.0)
    whole = question.answer.form in WHOLE_FORMS
    scored = [
        ScoredSentence.of(
            sentence,
            cosine,
            {
                **_term_features(question, sentence),
                **_other_features(question, sentence, best),
                "letters": share,
                "meaning": cosine,
                **by_reader,
            },
            whole=whole,
        )
        for sentence, cosine, share, by_reader in zip(found, cosines, shares, read, strict=True)
    ]
    return sorted(scored, key=lambda one: (-one.score, one.sentence.source, one.sentence.start))


def _read_features(sentence: Sentence, readings: Mapping[int, Reading] | None, most: float) -> dict[str, float]:
    """The probability that the sentence answers, by the reader, and its logarithm, from 0 to 1.

    `read_across` is what the probability exceeds `most`, the highest of a sentence in the question's language: a sentence
    in another language shares no words with the question, so the others would win by their words alone.
    """
    if not readings:
        return {}
    probability = _read_probability(sentence, readings)
    by_log = 1 + log(max(probability, LEAST_READ)) / -log(LEAST_READ)
    return {"read": probability, "read_log": by_log, "read_across": max(0.0, probability - most)}


def _read_probability(sentence: Sentence, readings: Mapping[int, Reading] | None) -> float:
    reading = readings.get(sentence.source) if readings else None
    return reading.probability(sentence.start, sentence.end) if reading else 0.0


_RELEVANCE_WEIGHT = 0.1
"""Weight of the relevance of a passage beside shared terms: it decides between sentences that share about as much."""

_ACROSS_WEIGHT = 0.5
"""Weight of the relevance of a passage in another language, whose words cannot be compared."""


def rank_candidates(
    question: QuestionTerms, found: Sequence[Sentence], readings: Mapping[int, Reading] | None = None
) -> list[Sentence]:
    """The sentences by the terms that they share with the question and by the reader, the best first."""
    ranks = [
        _shared(question, one, share) + _RELEVANCE_WEIGHT * one.relevance + _read_probability(one, readings)
        for one, share in zip(found, term_shares(question, found), strict=True)
    ]
    return [found[n] for n in sorted(range(len(found)), key=lambda n: -ranks[n])]


def _shared(question: QuestionTerms, one: Sentence, share: float) -> float:
    return share if one.language == question.language else max(share, _ACROSS_WEIGHT * one.relevance)


def term_shares(question: QuestionTerms, found: Sequence[Sentence]) -> list[float]:
    """The weighted share of the question's terms that each sentence has."""
    total = question.weight
    return [sum(term.weight for term in question.terms if term.is_in(one.terms)) / total for one in found]


def _term_features(question: QuestionTerms, sentence: Sentence) -> dict[str, float]:
    """The shares of the question's terms that the sentence has, has a similar term for, or that the one before has."""
    own = like = before = 0.0
    for term in question.terms:
        if term.is_in(sentence.terms):
            own += term.weight
            continue
        similarity = max(
            term.similarity(sentence.terms), HEADING_SIMILARITY if term.is_in(sentence.heading_terms) else 0.0
        )
        like += term.weight * similarity
        if term.is_in(sentence.terms_before):
            before += term.weight * (1 - similarity)
    total = question.weight
    return {
        "own": own / total,
        "like": like / total,
        "before": before / total,
        "referred": before / total if sentence.refers_back else 0.0,
    }


def _other_features(question: QuestionTerms, sentence: Sentence, best: float) -> dict[str, float]:
    """The rank of the source, and whether the sentence has the kind of value that the question asks for."""
    kind, language = question.answer.kind, sentence.language
    no_value = kind in VALUE_KINDS and not _has_value(question, sentence)
    no_person = kind == "person" and not _names_somebody(sentence, question.forms)
    asks_why = lang.regex("extractive.why", question.language, r"\b%s\b").search(question.text.lower())
    reason = asks_why and lang.regex("extractive.because", language, r"\b%s\b", re.IGNORECASE).search(sentence.text)
    held = sentence.passage_terms | sentence.heading_terms
    return {
        "behind": best - sentence.relevance,
        "place": min(sentence.source - 1, 9) / 10,
        "language": float(language == question.language),
        "lacks_kind": float(no_value),
        "defines": float(question.answer.form == "definition" and _defines(question, sentence)),
        "reason": float(bool(reason)),
        "lacks_person": float(no_person),
        "lacks_number": float(any(not term.is_in(held) for term in question.numbers)),
        "lacks_name": _missing_names(question, sentence),
    }


def _has_value(question: QuestionTerms, sentence: Sentence) -> bool:
    """Whether a sentence has a value of the kind asked for; where it tells a price, a number without a currency is one."""
    kind, language = question.answer.kind, sentence.language
    text = sentence.embedded_text if sentence.is_row and kind == "money" else sentence.text
    if fitting_values(kind, text, language, question.forms):
        return True
    prices = lang.regex("extractive.prices", language, r"\b%s\b", re.IGNORECASE)
    return kind == "money" and bool(prices.search(text) and fitting_values("number", text, language, question.forms))


def _missing_names(question: QuestionTerms, sentence: Sentence) -> float:
    """The share of the question's names that neither the sentence, the one before, nor the headings have."""
    near = sentence.terms | sentence.terms_before | sentence.heading_terms
    names = [term for term in question.terms if term.text in question.names]
    return sum(not term.similarity(near) for term in names) / len(names) if names else 0.0


def _defines(question: QuestionTerms, sentence: Sentence) -> bool:
    """Whether the sentence begins with a definition of the thing asked about, or says that something is called so."""
    text, language, count = sentence.text, sentence.language, len(question.terms)
    verb, named = (lang.regex(f"extractive.{key}", language, r"\b%s\b").search(text) for key in ("is", "called"))
    head = terms(text[: verb.start()], language) if verb and verb.start() <= MAX_SUBJECT_CHARS else []
    tail = terms(text[named.end() : named.end() + MAX_SUBJECT_CHARS], language) if named else []
    subject = head[:count] if len(head) <= count + 1 else []
    return any(
        all(term.similarity(frozenset(part)) > 0.5 for term in question.terms) for part in (subject, tail[:count])
    )


def _names_somebody(sentence: Sentence, asked: frozenset[str]) -> bool:
    """Whether a sentence has two capitalised words in a row that the question does not have."""
    stop = stop_words(sentence.language)
    person = lang.regex("extractive.name_joints", sentence.language, _PERSON)
    return any(
        asked.isdisjoint(terms(match.group(), sentence.language))
        for match in person.finditer(sentence.text)
        if match.start() or match.group().split()[0].lower() not in stop
    )


def _gram_shares(question: QuestionTerms, found: Sequence[Sentence]) -> list[float]:
    """The share of the question's n-grams that each sentence has; rare ones weigh more."""
    held = [frozenset[str]().union(*map(_grams, sentence.terms)) for sentence in found]
    wanted = frozenset[str]().union(*(_grams_of(term) for term in question.terms))
    seen = Counter(gram for grams in held for gram in grams & wanted)
    worth = {gram: log(1 + (len(found) - seen[gram] + 0.5) / (seen[gram] + 0.5)) for gram in wanted}
    total = sum(worth.values()) or 1.0
    return [sum(worth[gram] for gram in grams & wanted) / total for grams in held]


def _grams_of(term: QuestionTerm) -> frozenset[str]:
    return frozenset[str]().union(*map(_grams, term.forms))


@lru_cache(maxsize=20_000)
def _grams(word: str) -> frozenset[str]:
    begun = f"^{word}"
    return frozenset(begun[n : n + GRAM_CHARS] for n in range(max(1, len(begun) - GRAM_CHARS + 1)))
