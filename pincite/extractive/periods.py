"""Sentences about another fiscal year, quarter, half-year, date or currency than the question names."""

import re
from collections.abc import Collection, Iterable, Sequence

from pincite.extractive.question import QuestionTerms
from pincite.extractive.sentences import Sentence
from pincite.text.wording.equivalents import Equivalent, equivalents, other_units

_FORMS = (re.compile(r"(?:19|20)\d\d"), re.compile(r"q[1-4]"), re.compile(r"h[12]"))
_DATE = re.compile(r"date\d{4}(\d{4})")


def without_other_periods(question: QuestionTerms, found: Sequence[Sentence]) -> list[Sentence]:
    """The sentences that may be about the periods, days and amounts of money that the question names.

    None where a sentence about another one has more of the question: what is asked for is told of that one only.
    """
    asked = equivalents(question.text, question.language)
    kept = list(found)
    named = frozenset(key for one in asked for key in one.asked)
    for form, keys in _periods(asked, question):
        kept = [one for one in kept if _may_be_in(one, form, keys)]
    for key in sorted(named):
        kept = [one for one in kept if not _is_another_year(one, key, named)]
        kept = _with_amount(kept, key, named)
    if len(kept) == len(found):
        return kept
    best = max(_share(question, one, named) for one in found)
    return kept if any(_share(question, one, named) >= best for one in kept) else []


def _share(question: QuestionTerms, sentence: Sentence, named: Collection[str]) -> float:
    """The weight of the question's other terms in a sentence, its headings and the sentence that it refers back to."""
    held = sentence.terms | sentence.heading_terms | (sentence.terms_before if sentence.refers_back else frozenset())
    return sum(term.weight * term.similarity(held) for term in question.terms if term.text not in named)


def names_several(question: QuestionTerms, sentence: Sentence) -> bool:
    """Whether a sentence names another period beside the one asked about, so that its values belong to either."""
    asked = _periods(equivalents(question.text, question.language), question)
    return any(form.fullmatch(term) for form, keys in asked for term in sentence.terms - keys)


def _periods(asked: Iterable[Equivalent], question: QuestionTerms) -> list[tuple[re.Pattern[str], frozenset[str]]]:
    """The fiscal years, quarters and half-years of a question, by form; beside one, any year is meant as a fiscal one."""
    named = {key for one in asked if one.kind in ("year", "quarter", "half") for key in one.asked}
    years = {term.text for term in question.terms if named and _FORMS[0].fullmatch(term.text)}
    forms = ((form, frozenset(key for key in named | years if form.fullmatch(key))) for form in _FORMS)
    return [(form, keys) for form, keys in forms if keys]


def _may_be_in(sentence: Sentence, form: re.Pattern[str], keys: frozenset[str]) -> bool:
    """Whether a sentence names one of the periods, or else what is around it does; a quarter must be named.

    A sentence that names only other periods of the same form is about those.
    """
    for held in (sentence.terms, sentence.passage_terms | sentence.heading_terms):
        if keys & held:
            return True
        if any(form.fullmatch(term) for term in held):
            return False
    return form is not _FORMS[1]


def _is_another_year(sentence: Sentence, key: str, named: frozenset[str]) -> bool:
    """Whether a sentence has the day and the month of a date, but only in a year that the question does not name."""
    wanted = _DATE.fullmatch(key)
    if not wanted or named & sentence.terms:
        return False
    return any((other := _DATE.fullmatch(term)) and other[1] == wanted[1] for term in sentence.terms)


def _with_amount(found: list[Sentence], key: str, named: frozenset[str]) -> list[Sentence]:
    """The sentences with an amount of money, where others have the same amount in another currency; else all."""
    if not any(other_units(key, one.terms) - named for one in found):
        return found
    return [one for one in found if key in one.terms]
