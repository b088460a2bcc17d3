"""The probability that the sentences found answer a question, and the refusal where they do not."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import exp, log

from pincite.extractive.identifiers import mentions
from pincite.extractive.question import QuestionTerm, QuestionTerms
from pincite.extractive.score import WHOLE_FORMS, ScoredSentence
from pincite.extractive.sentences import Sentence
from pincite.text import lang
from pincite.text.fixed_answers import nothing_found
from pincite.text.terms import question_words, words
from pincite.text.wording.equivalents import equivalents

WEIGHTS: Mapping[str, float] = {"bias": -4.98, "meaning": 1.52, "fit": 0.51, "relevance": 1.21, "read": 0.6}
"""Weights of the features, fitted on a mixture of XQuAD, written records and natural questions; see docs/evaluation.md."""
WEIGHTS_ACROSS: Mapping[str, float] = {"bias": -3.24, "fit": 0.53, "relevance": 0.71}
"""The weights where the best sentence is in another language than the question, fitted on the same questions."""
WEIGHTS_YES_NO: Mapping[str, float] = {"bias": -4.81, "meaning": 4.15, "fit": 0.29, "relevance": 3.95}
"""The weights for yes/no questions, whose answers the reader underrates."""
WEIGHTS_WITHOUT_READER: Mapping[str, float] = {
    "bias": -4.92,
    "meaning": 1.72,
    "names": -0.22,
    "german": 0.53,
    "fit": 0.36,
    "relevance": 2.44,
}
"""The weights where no reader reads the passages, and for answers that no single sentence gives."""
WEIGHTS_ACROSS_WITHOUT_READER: Mapping[str, float] = {"bias": -6.81, "meaning": 3.66, "fit": 1.3, "relevance": 3.91}
"""These weights for a sentence in another language."""
WEIGHTS_WITHOUT_EMBEDDER: Mapping[str, float] = {
    "bias": -3.76,
    "near": 4.93,
    "names": -2.76,
    "german": 1.04,
    "fit": 0.3,
}
"""The weights where no embedder compares meanings."""
MIN_PROBABILITY = 0.36
"""Probability of an answer below which a question is refused."""
MIN_PROBABILITY_WITHOUT_VALUE = 0.5
"""The probability that is needed where the best sentence has no value of the kind asked for."""
MAX_TERM_WEIGHT = 10
"""A term weighs as much as it has letters, up to this number; a number weighs as much: long words say more."""
MIN_SIMILARITY = 0.5
"""Similarity of a term from which on the term counts as mentioned."""
LEAST_READ = 1e-3
"""Probability of the reader below which, and above whose complement, no difference is made."""
MIN_RELEVANCE, MIN_RELEVANCE_ACROSS = 0.06, 0.08
"""Relevance of the best sentence's source up to which few words in common, or a reader in doubt, refuse."""
MIN_TOPIC_RELEVANCE = 0.3
"""The relevance that is needed where no passage has a word of what the question is about."""
MIN_NEAR = 0.5
"""Share of the question's words that a passage of low relevance must have."""
SURE_READ, LIKELY_READ = 0.98, 0.8
"""Probability of the reader that makes up for a low relevance: in another language; in the same one, or where a number is the same."""
MAX_MISSING = 3
"""Missing words that a refusal names."""


def answer_probability(question: QuestionTerms, found: Sequence[ScoredSentence], *, with_meaning: bool = True) -> float:
    """The probability that the sentences found, the best first, answer the question."""
    if not found:
        return 0.0
    across = found[0].sentence.language != question.language
    if not with_meaning:
        weights = WEIGHTS_WITHOUT_EMBEDDER
    elif "read" not in found[0].features or question.answer.form in WHOLE_FORMS:
        weights = WEIGHTS_ACROSS_WITHOUT_READER if across else WEIGHTS_WITHOUT_READER
    elif question.answer.form == "yes_no":
        weights = WEIGHTS_YES_NO
    else:
        weights = WEIGHTS_ACROSS if across else WEIGHTS
    features = {"bias": 1.0, **answer_features(question, found)}
    return 1 / (1 + exp(-max(-60.0, min(60.0, sum(weight * features[name] for name, weight in weights.items())))))


def needed_probability(question: QuestionTerms, found: Sequence[ScoredSentence]) -> float:
    """The probability of an answer below which a question is refused."""
    if not found or not found[0].features.get("lacks_kind"):
        return MIN_PROBABILITY
    if found[0].sentence.is_row and question.answer.kind != "money":  # the name of a column may have the unit
        return MIN_PROBABILITY
    return MIN_PROBABILITY_WITHOUT_VALUE


def is_unfounded(question: QuestionTerms, found: Sequence[ScoredSentence]) -> bool:
    """Whether the sources are about something else, however well one of their sentences fits the kind of answer.

    No passage has a word of what the question is about, or the best source is hardly relevant and has few of its words;
    and the reader finds no answer.
    """
    if not found:
        return False
    best, features = found[0].sentence, answer_features(question, found)
    if best.language != question.language:
        same_number = any(len(term.text) > 1 and term.is_in(best.terms) for term in question.numbers)
        read = max(scored.features.get("read", 1.0) for scored in found)
        return best.relevance <= MIN_RELEVANCE_ACROSS and read < (LIKELY_READ if same_number else SURE_READ)
    if max(scored.features.get("read", 0.0) for scored in found) >= LIKELY_READ:
        return False
    if best.relevance <= MIN_RELEVANCE and features["near"] < MIN_NEAR:
        return True
    held = frozenset[str]().union(*(one.sentence.passage_terms | one.sentence.heading_terms for one in found))
    topics = topic_terms(question)
    absent = bool(topics) and all(term.similarity(held) < MIN_SIMILARITY for term in topics)
    return absent and best.relevance < MIN_TOPIC_RELEVANCE


def topic_terms(question: QuestionTerms) -> list[QuestionTerm]:
    """The terms that say what a question is about, not which kind of answer it wants: not `cost`, `many`, `steps`."""
    keys = ("questions.asked_for", "tables.spending", "tables.worth", "tables.generic")
    asking = frozenset[str]().union(*(lang.recognised_words(key, question.language) for key in keys))
    return [term for term in question.terms if term.text not in asking]


def answer_features(question: QuestionTerms, found: Sequence[ScoredSentence]) -> dict[str, float]:
    """The best cosine, the best sentence's score, the terms and names its passage has, and what the reader says of it."""
    best = found[0].sentence
    near = best.passage_terms | best.heading_terms
    total = sum(map(_term_weight, question.terms)) or 1
    names = [term for term in question.terms if term.text in question.names]
    return {
        "meaning": max(scored.cosine for scored in found),
        "near": sum(_term_weight(term) * term.similarity(near) for term in question.terms) / total,
        "names": sum(term.similarity(near) < MIN_SIMILARITY for term in names) / len(names) if names else 0.0,
        "german": float(question.language in lang.flagged("compounds")),
        "fit": found[0].score,
        "relevance": best.relevance,
        "read": _scaled_odds(found[0].features.get("read", 0.0)),
    }


def _scaled_odds(probability: float) -> float:
    """The logarithm of the odds, from -1 for LEAST_READ to 1."""
    limited = min(max(probability, LEAST_READ), 1 - LEAST_READ)
    return log(limited / (1 - limited)) / log(1 / LEAST_READ - 1)


def without_missing(question: QuestionTerms, found: Sequence[ScoredSentence], asked: str) -> QuestionTerms:
    """A follow-up's question without the earlier words that no passage has: these are no reason to refuse."""
    own = set(question_words(asked, question.language))
    if not own:
        return question
    held = frozenset[str]().union(*(scored.sentence.passage_terms | scored.sentence.heading_terms for scored in found))
    kept = tuple(term for term in question.terms if term.text in own or term.similarity(held) >= MIN_SIMILARITY)
    return replace(question, terms=kept) if kept else question


def refusal(
    question: QuestionTerms,
    found: Sequence[ScoredSentence],
    left_out: Sequence[Sentence] = (),
    elsewhere: Collection[str] = (),
) -> str:
    """The sentence that says that there is no answer, with the missing words."""
    return nothing_found(missing_words(question, found, left_out, elsewhere), question.language)


def missing_words(
    question: QuestionTerms,
    found: Sequence[ScoredSentence],
    left_out: Sequence[Sentence] = (),
    elsewhere: Collection[str] = (),
) -> list[str]:
    """The words of the question that no passage has, as written: identifiers, periods, names and numbers, then nouns.

    `left_out` are sentences about another identifier or period, whose other words are not missing. `elsewhere` are words that
    other passages of the documents have.
    """
    texts = [f"{scored.sentence.text} {scored.sentence.above}" for scored in found]
    identifiers = [one for one in question.identifiers if not any(mentions(text, one) for text in texts)]
    parts = {word for one in question.identifiers for word in words(one)}
    held = frozenset[str]().union(*(scored.sentence.passage_terms | scored.sentence.heading_terms for scored in found))
    told = held.union(*(sentence.passage_terms | sentence.heading_terms for sentence in left_out))
    lacking = {term.text for term in question.terms if term.similarity(held) < MIN_SIMILARITY}
    absent = {term.text for term in question.terms if term.similarity(told) < MIN_SIMILARITY}
    spelt = [one for one in equivalents(question.text, question.language) if one.kind != "version"]
    periods = [one.text for one in spelt if not lacking.isdisjoint(one.asked)]
    nouns = lang.own_regex("extractive.things", question.language)
    things = [match[1] for match in nouns.finditer(question.text) if match[1].lower() not in question.names]
    names = [word for word in re.findall(r"[^\W_]+", question.text) if word.lower() in question.names]
    keys = {key for one in spelt for key in one.asked}
    others = [
        word for word in dict.fromkeys([*names, *things]) if word.lower() in absent - parts - keys - set(elsewhere)
    ]
    return [*identifiers, *periods, *others][:MAX_MISSING]


def _term_weight(term: QuestionTerm) -> int:
    has_digit = any(char.isdigit() for char in term.text)
    return MAX_TERM_WEIGHT if has_digit else min(len(term.text), MAX_TERM_WEIGHT)
