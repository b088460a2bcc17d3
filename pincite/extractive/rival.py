"""The sentence of another document that gives another value for what is asked, so that both are told."""

from collections.abc import Sequence

from pincite.core.query.hits import Hit
from pincite.extractive.answer_span import VALUE_KINDS, fitting_values
from pincite.extractive.question import QuestionTerms
from pincite.extractive.score import ScoredSentence
from pincite.extractive.sentences import Sentence
from pincite.text.quantities import figures_in

MAX_COMPARED = 12
"""Sentences after the best one that are compared with it."""
MIN_SCORE_SHARE = 0.7
"""Share of the best sentence's score that a rival has, at least."""
MIN_SHARE = 0.75
"""Share of the question's terms of the best sentence that a rival has, at least."""


def rival_sentence(question: QuestionTerms, found: Sequence[ScoredSentence], sources: Sequence[Hit]) -> Sentence | None:
    """The best sentence of another document with another value of the kind asked for; None without a second value."""
    best, kind = found[0], question.answer.kind
    if kind not in VALUE_KINDS:
        return None
    told = _figures(question, best.sentence)
    document = sources[best.sentence.source - 1].chunk.document_id
    if not told:
        return None
    for other in found[1 : 1 + MAX_COMPARED]:
        one = other.sentence
        if sources[one.source - 1].chunk.document_id == document or one.language != best.sentence.language:
            continue
        if other.score < MIN_SCORE_SHARE * best.score or _covered(question, one) < MIN_SHARE * _covered(
            question, best.sentence
        ):
            continue
        if _specifics(question, best.sentence) - _specifics(question, one):
            continue
        here = _figures(question, one)
        if here and here.isdisjoint(told):
            return one
    return None


def _figures(question: QuestionTerms, sentence: Sentence) -> frozenset[str]:
    """The values of the kind asked for, in one spelling each."""
    values = fitting_values(question.answer.kind, sentence.text, sentence.language, question.forms)
    return frozenset(
        str(figure) for value in values for figure in figures_in(value.text, sentence.language) or (value.text,)
    )


def _specifics(question: QuestionTerms, sentence: Sentence) -> frozenset[str]:
    """The names and numbers of the question that a sentence or its headings have."""
    held = sentence.terms | sentence.heading_terms
    numbers = {term.text for term in question.numbers}
    return frozenset(term.text for term in question.terms if term.text in question.names | numbers and term.is_in(held))


def _covered(question: QuestionTerms, sentence: Sentence) -> float:
    """The weight of the question's terms that a sentence, the one before it or its headings have."""
    held = sentence.terms | sentence.terms_before | sentence.heading_terms
    return sum(term.weight * term.similarity(held) for term in question.terms)
