"""Which questions lean on what was said before."""

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from pincite.core.query.question import Exchange
from pincite.query.understand.standalone.inflection import agrees
from pincite.query.understand.standalone.noun_phrases import is_plural, noun_phrases, simple_phrases
from pincite.text import lang
from pincite.text.terms import question_language, terms

MAX_TERMS_BEFORE_PRONOUN = 3
"""A pronoun with more words of meaning before it in the same text most likely stands for one of them."""
MAX_FRAGMENT_TERMS = 2
"""A text without a verb and with at most so many words of meaning goes on with what was said before."""
MAX_VAGUE_TERMS = 1
"""So does a whole question with so few of them: `What are the benefits?`"""

_INDEFINITE_END = r"\b%s\s+\S++\W*+$|^\W*+(?:[\w']++\s++){1,2}[A-Z]\w*+\W*+$"
"""`What is a galaxy?`, `Explain Spark.`: short, and yet they name what they ask about."""


@cache
def _refers(language: str, key: str = "followup.refers") -> re.Pattern[str]:
    """Words that stand for something said before; German says itself where case does not count."""
    flags = 0 if language in lang.flagged("nouns_capitalised") else re.IGNORECASE
    return lang.own_regex(key, language, r"\b%s\b", flags)


def is_bare(text: str, language: str) -> bool:
    """Whether a text is a question word and nothing else."""
    template = r"^\W*%s\W*$"
    keys = ("followup.bare", "followup.more")
    return any(lang.regex(key, language, template, re.IGNORECASE).match(text) for key in keys)


def is_sentence(text: str, language: str) -> bool:
    """Whether a text has a finite verb or a question word, which a whole sentence has."""
    return bool(lang.own_regex("followup.finite", language, r"\b%s\b", re.IGNORECASE).search(text))


def is_follow_up(text: str, conversation: Sequence[Exchange]) -> bool:
    """Whether a question leans on what was said before; the first of a conversation never does."""
    return bool(conversation) and _depends_on_history(text)


@lru_cache(maxsize=512)
def _depends_on_history(text: str) -> bool:
    """Whether a text does not stand alone; the turns of a conversation are looked at with each of its questions."""
    language = question_language(text)
    leads = lang.regex("followup.leads", language, r"^\W*%s\b", re.IGNORECASE)
    if leads.search(text) or is_bare(text, language) or find_reference(text, language):
        return True
    if _means_earlier_document(text, language):
        return True
    held = len(terms(text, language))
    if held <= MAX_VAGUE_TERMS and is_sentence(text, language):
        place = lang.regex("followup.asks_place", language, r"^\W*%s\b", re.IGNORECASE)
        return not (place.match(text) or lang.regex("followup.indefinite", language, _INDEFINITE_END).search(text))
    return held <= MAX_FRAGMENT_TERMS and not is_sentence(text, language)


def _means_earlier_document(text: str, language: str) -> bool:
    """Whether a text speaks of a document without saying which: `the document`, not `the document on travel`."""
    match = _refers(language, "followup.earlier_document").search(text)
    return match is not None and not _is_specific(text, match.start() + match[0].find(" "), language)


def find_reference(text: str, language: str) -> re.Match[str] | None:
    """The first word of a question that stands for something said before, where there is one."""
    return next(iter(find_references(text, language)), None)


def find_references(text: str, language: str) -> list[re.Match[str]]:
    """The words of a question that stand for something said before."""
    emptied = lang.own_regex("followup.empty_it", language, r"\b%s", re.IGNORECASE).sub(
        lambda match: " " * len(match[0]), text
    )
    found = list[re.Match[str]]()
    for match in _refers(language).finditer(emptied):
        before = emptied[: match.start()]
        if not found and (_has_own_antecedent(before, language) or _has_owner(before, match[0].lower(), language)):
            break
        if not (_is_demonstrative(match[0], language) and _is_specific(text, match.end(), language)):
            found.append(match)
    return found


def _has_own_antecedent(before: str, language: str) -> bool:
    """Whether a pronoun most likely stands for something in its own text: much came before it, or another clause."""
    return len(terms(before, language)) > MAX_TERMS_BEFORE_PRONOUN or (
        any(mark in before for mark in ",;.?!") and bool(noun_phrases(before, language))
    )


def _has_owner(before: str, word: str, language: str) -> bool:
    """Whether a possessive belongs to something in its own text: `Should guests bring their own lunch?`"""
    phrases = noun_phrases(before, language)
    if lang.mapping("followup.genders", language):
        owned = lang.own_regex("followup.possessives", language).fullmatch(word) is not None
        return owned and any(agrees(phrase, word, language) for phrase in phrases)
    plural = lang.mapping("followup.kinds", language).get(word) == "things"
    owned = word in lang.words("followup.possessive", language)
    return owned and any(is_plural(phrase, language) == plural for phrase in phrases)


def _is_demonstrative(word: str, language: str) -> bool:
    return bool(lang.regex("followup.demonstratives", language, flags=re.IGNORECASE).fullmatch(word))


def _is_specific(text: str, end: int, language: str) -> bool:
    """`this Deep Impact mission` says itself which one it means; `this mission` and `this mission yesterday` do not."""
    start = end + len(text[end:]) - len(text[end:].lstrip())
    adverb = lang.regex("followup.time_and_place", language, r"(?:^|\s)%s$", re.IGNORECASE)
    return any(
        phrase.start == start and " " in adverb.sub("", phrase.text) for phrase in simple_phrases(text, language)
    )
