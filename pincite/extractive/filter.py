"""Sentences that cannot answer a question, however alike: other identifiers, names or periods, quoted mails, headings."""

from collections.abc import Sequence

from pincite.core.query.hits import Hit
from pincite.extractive.answer_span import VALUE_KINDS, fitting_values
from pincite.extractive.identifiers import mentions, names_another
from pincite.extractive.periods import without_other_periods
from pincite.extractive.question import QuestionTerm, QuestionTerms
from pincite.extractive.sentences import Sentence
from pincite.text.dictionary import dictionary, languages
from pincite.text.terms import question_words


def without_others(
    question: QuestionTerms, found: Sequence[Sentence], sources: Sequence[Hit], asked: str = ""
) -> list[Sentence]:
    """The sentences that are about an identifier of the question, by their own words or by those around them.

    `asked` are the words of a follow-up as it was asked.
    """
    fitting = [one for one in found if not one.is_heading or _heading_answers(question, one)]
    fitting = without_other_periods(question, _without_old_mails(question, fitting))
    fitting = _without_earlier_names(_names_asked(question, asked), fitting)
    if not question.identifiers:
        return fitting
    return [one for one in fitting if _is_about(one, question.identifiers, sources[one.source - 1].chunk.text)]


def _is_about(sentence: Sentence, wanted: Sequence[str], passage: str) -> bool:
    """Whether a sentence has one of the identifiers, stands under one, or shares a passage and names no other one."""
    if any(mentions(sentence.text, one) for one in wanted):
        return True
    if sentence.is_row or any(names_another(sentence.text, one, sentence.language) for one in wanted):
        return False
    if any(mentions(sentence.above, one) for one in wanted):
        return True
    return any(mentions(passage, one) and not names_another(sentence.above, one, sentence.language) for one in wanted)


def _names_asked(question: QuestionTerms, asked: str) -> list[QuestionTerm]:
    """The names of a follow-up: `Kassel` in *and Kassel?* after a question about Bremen."""
    if not asked or question.language not in languages():
        return []
    everyday, words = dictionary(question.language).common, set(question_words(asked, question.language))
    return [term for term in question.terms if term.text in words and term.text not in everyday]


def _without_earlier_names(names: Sequence[QuestionTerm], found: Sequence[Sentence]) -> list[Sentence]:
    """The sentences without those that lack the names of a follow-up, where another sentence of their passage has them."""
    naming = {one.source for one in found if names and all(name.is_in(one.terms) for name in names)}
    return [
        one
        for one in found
        if one.source not in naming or all(name.is_in(one.terms | one.heading_terms) for name in names)
    ]


def _without_old_mails(question: QuestionTerms, found: Sequence[Sentence]) -> list[Sentence]:
    """The sentences without those of quoted mails, where the reply above says something about the question itself."""
    replying = {
        one.source for one in found if not one.is_quoted and any(term.is_in(one.terms) for term in question.terms)
    }
    return [one for one in found if not one.is_quoted or one.source not in replying]


def _heading_answers(question: QuestionTerms, heading: Sentence) -> bool:
    """Whether a heading has the kind of value that is asked for and a term of the question."""
    kind = question.answer.kind
    if kind not in VALUE_KINDS or not any(term.is_in(heading.terms) for term in question.terms):
        return False
    return bool(fitting_values(kind, heading.text, heading.language, question.forms))
