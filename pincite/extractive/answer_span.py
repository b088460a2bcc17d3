"""The value that answers a question, taken out of the sentence that holds it, so that it can be said first."""

import re
from collections.abc import Collection
from itertools import islice, pairwise, takewhile

from pincite.text.answer_type import Want
from pincite.text.quantities import Kind, Value, values_in
from pincite.text.terms import STOP_WORDS, stem, terms, words

FITTING: dict[Want, frozenset[Kind]] = {
    "time": frozenset({"time"}),
    "duration": frozenset({"duration"}),
    "money": frozenset({"money"}),
    "percent": frozenset({"percent"}),
    "quantity": frozenset({"quantity", "percent", "money", "duration", "number"}),
    "number": frozenset({"number", "quantity", "duration", "percent", "money"}),
}
"""What each kind of question can be answered with."""
_CLAUSE = re.compile(r"[,;:–](?=\s)|\b(?:and|und|while|während|but|aber)\b")
_WORD, _STOPS = re.compile(r"[^\W_]+"), re.compile(r"[.,;:()|]")
_WORD_NEXT = re.compile(r"\s+[^\W\d_]")
"""A number followed by a word is only part of a value: `three` of `three months' rent`."""
_HOW_MANY = re.compile(r"\b(?:how many|wie viele?|wieviele?)\b", re.IGNORECASE)
_PLURALS = frozenset("people men women children feet teeth mice percent".split())
NEAR = 3
"""Words after a number among which is what it counts."""


def fitting(want: Want, text: str, language: str, asked: Collection[str]) -> list[Value]:
    """The values in a text that a question wants and does not hold itself."""
    kinds = FITTING.get(want, frozenset())
    found = (value for value in values_in(text.replace("\n", " ")) if value.kind in kinds)
    return [value for value in found if not set(terms(value.text, language)) <= set(asked)]


def lead(want: Want, text: str, language: str, asked: Collection[str], question: str = "") -> str:
    """The one value of a sentence that answers; empty where it has none or where several could be meant.

    A number that counts what was asked for is said with it: `25 days`.
    """
    found = fitting(want, text, language, asked)
    things = _things(question, language)
    counted = [with_noun for value in found if (with_noun := _counted(value, text, language, things))]
    if want == "number" and len(counted) == 1:
        return counted[0]
    exact = [value for value in found if value.kind == want]
    if want == "quantity":
        found = exact or [value for value in found if value.kind != "number" or not _WORD_NEXT.match(text, value.end)]
    found = found if len(found) < 2 else _in_clause(found, text, language, asked)
    return found[0].text if len(found) == 1 else ""


def _in_clause(found: list[Value], text: str, language: str, asked: Collection[str]) -> list[Value]:
    """Those in the one clause that holds most of the question's words."""
    cuts = [0, *(match.end() for match in _CLAUSE.finditer(text)), len(text)]
    clauses = list(pairwise(cuts))
    held = [len(set(terms(text[start:end], language)) & set(asked)) for start, end in clauses]
    best = [clause for clause, share in zip(clauses, held, strict=True) if share == max(held)]
    return [value for value in found if len(best) == 1 and best[0][0] <= value.start < best[0][1]]


def _things(question: str, language: str) -> frozenset[str]:
    """What a question asks the number of: the words after `how many`, up to the next small one."""
    match = _HOW_MANY.search(question)
    small = STOP_WORDS.get(language, frozenset())
    following = takewhile(lambda word: word not in small, words(question[match.end() :])) if match else ()
    return frozenset(stem(word, language) for word in following)


def _is_many(word: str, language: str) -> bool:
    """Whether a word looks like something that is counted: a plural, in German any noun."""
    return word[0].isupper() if language == "de" else word.lower().endswith("s") or word.lower() in _PLURALS


def _counted(value: Value, text: str, language: str, asked: Collection[str]) -> str:
    """The number and what follows it, up to the last of a few words that are asked for."""
    taken = 0
    for match in islice(_WORD.finditer(text, value.end), NEAR):
        if _STOPS.search(text, value.end, match.start()):
            break
        if stem(match.group().lower(), language) in asked and _is_many(match.group(), language):
            taken = match.end()
    return text[value.start : taken].replace("\n", " ") if taken else ""
