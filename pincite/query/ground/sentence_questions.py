"""Questions as a person would ask them, made from a sentence that answers them."""

import re

from pincite.text import lang
from pincite.text.terms import terms

MAX_SENTENCE_CHARS = 200
"""Longer sentences make no good questions."""
MAX_QUESTION_WORDS = 12

_FORMS = (
    ("suggested.count", "suggested.ask_count"),
    ("suggested.amount", "suggested.ask_amount"),
    ("suggested.length", "suggested.ask_length"),
    ("suggested.price", "suggested.ask_price"),
    ("suggested.moment", "suggested.ask_moment"),
    ("suggested.name", "suggested.ask_name"),
    ("suggested.value", "suggested.ask_value"),
)
"""Patterns of sentences, and the questions that they answer."""


def sentence_question(sentence: str, language: str) -> str | None:
    """The question that a sentence answers; None where none can be made that stands alone and reads well."""
    text = " ".join(sentence.split()).rstrip(".")
    if len(text) > MAX_SENTENCE_CHARS or lang.own_regex("suggested.refers", language, r"\b%s\b", re.IGNORECASE).search(
        text
    ):
        return None
    for pattern, form in _FORMS:
        found = lang.own_regex(pattern, language, "^%s$").match(text)
        if found is None:
            continue
        parts = {name: _uncapitalised(part, language) for name, part in found.groupdict().items()}
        question = lang.message(form, language).format(**parts)
        if len(question.split()) <= MAX_QUESTION_WORDS and len(terms(question, language)) > 1:
            return question
    return None


def _uncapitalised(part: str, language: str) -> str:
    """A part of a sentence with its article in lower case, as it stands inside a question."""
    article = lang.own_regex("suggested.article", language, r"^%s\b").match(part)
    return part[0].lower() + part[1:] if article else part
