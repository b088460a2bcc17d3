"""The value in a sentence that answers a question, so that the answer can begin with it."""

import re
from collections.abc import Collection
from itertools import islice, pairwise, takewhile

from pincite.extractive.whole.naming import is_plural
from pincite.text import lang
from pincite.text.answer_type import AnswerKind
from pincite.text.quantities import Value, ValueKind, values_in
from pincite.text.terms import stem, stop_words, terms, words
from pincite.text.wording.equivalents import keys_in

VALUE_KINDS: dict[AnswerKind, frozenset[ValueKind]] = {
    "time": frozenset({"time"}),
    "duration": frozenset({"duration"}),
    "money": frozenset({"money"}),
    "percent": frozenset({"percent"}),
    "quantity": frozenset({"quantity", "percent", "money", "duration", "number"}),
    "number": frozenset({"number", "quantity", "duration", "percent", "money"}),
}
"""The kinds of values that can answer each kind of question."""
_CLAUSE_END = r"[,;:–](?=\s)|\b%s\b"
_WORD, _STOPS = re.compile(r"[^\W_]+"), re.compile(r"[.,;:()|]")
_WORD_NEXT = re.compile(r"\s+[^\W\d_]")
"""A number followed by a word is only part of a value: `three` of `three months' rent`."""
_COMMA = ", "
_PAIR = r"\.?(?:[–—/&-]| ?& ?| (?:%s) )"
"""Between the numbers of a pair or a range, such as `14 and 15 June`."""
_LOOSE_PAIR = re.compile(r" [–—-] ")
"""A dash that may join two numbers or separate them."""
MAX_COUNTED_DISTANCE = 3
"""Words after a number that are searched for the noun it counts."""


def fitting_values(kind: AnswerKind, text: str, language: str, asked: Collection[str]) -> list[Value]:
    """The values in a text that can answer a question of this kind and are not in the question."""
    kinds = VALUE_KINDS.get(kind, frozenset())
    found = (value for value in values_in(text.replace("\n", " "), language) if value.kind in kinds)
    return [value for value in found if not _is_asked(value, language, asked)]


def _is_asked(value: Value, language: str, asked: Collection[str]) -> bool:
    """Whether a question has this value, in whatever spelling."""
    keys = keys_in(value.text, language)
    return any(key in asked for key in keys) or set(terms(value.text, language)) - set(keys) <= set(asked)


def answer_value(kind: AnswerKind, text: str, language: str, asked: Collection[str], question: str = "") -> str:
    """The one value of a sentence that answers; empty where it has none or where several fit.

    A number that counts the thing asked for is returned with it: `25 days`. So is the rest of a pair or a range.
    """
    found = fitting_values(kind, text, language, asked)
    things = _counted_nouns(question, language)
    counted = [with_noun for value in found if (with_noun := _counted(value, text, language, things))]
    if kind == "number" and not counted:  # `7` of `How many stones does part 7 hold?` may also be the answer
        every = [value for value in values_in(text.replace("\n", " "), language) if value.kind == kind]
        all_counted = [with_noun for value in every if (with_noun := _counted(value, text, language, things))]
        counted = [one for one in all_counted if not any(one.start < value.start < one.end for value in every)]
    if kind == "number" and len(counted) == 1:
        return _with_pair(counted[0], text, language)
    exact = [value for value in found if value.kind == kind]
    if kind == "quantity":
        found = exact or [value for value in found if value.kind != "number" or not _WORD_NEXT.match(text, value.end)]
    found = found if len(found) < 2 else _in_clause(found, text, language, asked)
    return _with_pair(found[0], text, language) if len(found) == 1 else ""


def _with_pair(value: Value, text: str, language: str) -> str:
    """A value with the numbers that share its unit: `14 and 15 June`; empty where it is one of two whole values."""
    text = text.replace("\n", " ")
    pair = lang.regex("numbers.pair", language, _PAIR, re.IGNORECASE)
    ordinals = lang.regex("dates.ordinal_suffixes", language, r"\b\d{1,2}%s\b").finditer(text)
    every = [*values_in(text, language), *(Value("number", *one.span(), one.group()) for one in ordinals)]
    every.sort(key=lambda one: one.start)
    start = _pair_start(value, [one for one in every if one.end <= value.start], text, pair)
    end = _pair_end(value, [one for one in every if one.start >= value.end], text, pair)
    if start is None or end is None:
        return ""
    if (start, end) != (value.start, value.end) or pair.search(value.text):
        opened = lang.regex("numbers.pair_start", language, r"\b%s $", re.IGNORECASE).search(text[:start])
        start = opened.start() if opened else start
    return text[start:end]


def _pair_start(value: Value, before: list[Value], text: str, pair: re.Pattern[str]) -> int | None:
    """Where a value starts with the numbers before it; None where a whole value is before it."""
    start = value.start
    for one in reversed(before):
        gap = text[one.end : start]
        joined = pair.fullmatch(gap) or (start < value.start and gap == _COMMA)
        if not joined and not _LOOSE_PAIR.fullmatch(gap):
            break
        if one.kind == value.kind != "number" or (one.kind == "number" and not joined):
            return None
        if one.kind != "number":
            break
        start = one.start
    return start


def _pair_end(value: Value, after: list[Value], text: str, pair: re.Pattern[str]) -> int | None:
    """Where a value ends with the number after it; None where that is a whole value, or may count another thing."""
    gap = text[value.end : after[0].start] if after else ""
    if not pair.fullmatch(gap) and not _LOOSE_PAIR.fullmatch(gap):
        return value.end
    if after[0].kind != "number":
        return None if after[0].kind == value.kind else value.end
    if _WORD_NEXT.match(text, after[0].end):
        return None if value.text[-1].isdigit() else value.end
    return after[0].end


def _in_clause(found: list[Value], text: str, language: str, asked: Collection[str]) -> list[Value]:
    """The values in the one clause that has most terms of the question."""
    cuts = [
        0,
        *(match.end() for match in lang.regex("extractive.clause", language, _CLAUSE_END).finditer(text)),
        len(text),
    ]
    clauses = list(pairwise(cuts))
    held = [len(set(terms(text[start:end], language)) & set(asked)) for start, end in clauses]
    best = [clause for clause, share in zip(clauses, held, strict=True) if share == max(held)]
    return [value for value in found if len(best) == 1 and best[0][0] <= value.start < best[0][1]]


def _counted_nouns(question: str, language: str) -> frozenset[str]:
    """The stems of the words after `how many`, up to the next stop word."""
    match = lang.regex("questions.how_many", language, r"\b%s\b", re.IGNORECASE).search(question)
    small = stop_words(language)
    following = takewhile(lambda word: word not in small, words(question[match.end() :])) if match else ()
    return frozenset(stem(word, language) for word in following)


def _is_countable(word: str, language: str) -> bool:
    """Whether a word can be counted: a plural, or any noun where nouns have capitals."""
    if language in lang.flagged("nouns_capitalised"):
        return word[0].isupper()
    return is_plural(word, language)


def _counted(value: Value, text: str, language: str, asked: Collection[str]) -> Value | None:
    """The number with the words after it, up to the last noun that is asked for."""
    taken = 0
    for match in islice(_WORD.finditer(text, value.end), MAX_COUNTED_DISTANCE):
        if _STOPS.search(text, value.end, match.start()):
            break
        if stem(match.group().lower(), language) in asked and _is_countable(match.group(), language):
            taken = match.end()
    if not taken:
        return None
    return Value(value.kind, value.start, taken, text[value.start : taken].replace("\n", " "))
