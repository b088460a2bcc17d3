"""The answer that a question asks for, by its words: the kind of value, and the form of the answer.

`matches` is the one classifier of questions: query/understand/intent.py reads its intents from the same patterns.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

from pincite.text import lang
from pincite.text.terms import question_language

AnswerKind = Literal["person", "time", "duration", "money", "percent", "quantity", "number", "none"]
AnswerForm = Literal["value", "definition", "list", "yes_no", "steps", "comparison", "summary", "sentence"]

MAX_QUESTION_CHARS = 1000
"""Characters of a question that are classified; its beginning says what it asks for."""
MEASURED_KINDS: frozenset[AnswerKind] = frozenset(get_args(AnswerKind)) - {"person", "none"}
"""Kinds of values that patterns find in a text, so that an answer can begin with the value."""

MAX_REQUEST_WORDS = 6
"""Words of a request without enough stop words to tell its language: `Kurzfassung Jahresbericht 2023`."""
_REQUESTS = frozenset({"summary", "summary_request", "comparison", "comparison_sides", "steps", "steps_passive"})
"""Patterns of words that mean the same in no other language."""

_KINDS: tuple[AnswerKind, ...] = ("percent", "duration", "time", "money", "number", "quantity", "person")
"""In the order they are tried; the first match decides."""
_FORMS: tuple[tuple[AnswerForm, tuple[str, ...]], ...] = (
    ("summary", ("summary", "summary_request")),
    ("list", ("list_first",)),
    ("comparison", ("comparison", "comparison_sides")),
    ("steps", ("steps", "steps_passive", "steps_topic")),
    ("list", ("list_request", "list_question", "list_members", "list_things", "list_everything")),
    ("definition", ("definition",)),
)
"""The patterns of each form, in the order they are tried."""


@dataclass(frozen=True, slots=True)
class AnswerType:
    """The kind of value that answers a question, and the form of the answer."""

    kind: AnswerKind
    form: AnswerForm


def answer_type(question: str) -> AnswerType:
    """The kind and the form of the answer to a question."""
    language = question_language(question)
    text = question.lower()[:MAX_QUESTION_CHARS]
    kind: AnswerKind = next((kind for kind in _KINDS if matches(text, kind, language)), "none")
    form = next((form for form, names in _FORMS if any(_asks_for(text, name, language) for name in names)), None)
    if form in (None, "definition") and (_yes_no(language).search(text) or matches(text, "after_clause", language)):
        form = "yes_no"
    return AnswerType(kind, form or ("value" if kind in MEASURED_KINDS else "sentence"))


def _asks_for(text: str, pattern: str, language: str) -> bool:
    """Whether a question matches a pattern; a request of few words is read in every language."""
    if len(text.split()) > MAX_REQUEST_WORDS or pattern not in _REQUESTS:
        return matches(text, pattern, language)
    return any(lang.own_regex(f"questions.{pattern}", one).search(text) for one in lang.LANGUAGES)


def matches(text: str, pattern: str, language: str) -> bool:
    """Whether a question, in lower case, matches a pattern of `[questions]` in the language files."""
    return lang.regex(f"questions.{pattern}", language).search(text) is not None


@cache
def _yes_no(language: str) -> re.Pattern[str]:
    """The pattern of a yes/no question: it starts with an auxiliary verb and contains no "or"."""
    opening = lang.own_regex("questions.auxiliaries", language).pattern
    return re.compile(
        rf"^\W*(?:{lang.alternatives('questions.and', language)})?{opening}\b"
        rf"(?!.*\b(?:{lang.alternatives('questions.or', language)})\b)"
    )
