"""Error messages for invalid input: the closest known name, and what is wrong with a value."""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

MIN_NAME_SIMILARITY = 0.75
"""Similarity, from 0 to 1, from which a name counts as a misspelling of another."""

_LAST_PART = re.compile(r"\.|__|^PINCITE_")
_PLAIN = re.compile(r"[^0-9a-z]")


def closest(word: str, known: Iterable[str]) -> str | None:
    """Return the most similar known name, ignoring case, dashes and underscores; None if none is similar.

    The last part of a dotted name decides: `rag.bogus` does not match `rag.fusion` although both start with `rag.`.
    """
    whole, leaf = _plain(word), _leaf(word)
    rated = [(_similarity(leaf, _leaf(name)), _similarity(whole, _plain(name)), name) for name in known]
    best = max(rated, key=lambda rate: rate[0] + rate[1], default=None)
    return best[2] if best and best[0] >= MIN_NAME_SIMILARITY else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean …?` with the closest known name, or an empty string."""
    close = closest(word, known)
    return f"; did you mean '{close}'?" if close else ""


def _leaf(name: str) -> str:
    return _plain(_LAST_PART.split(name)[-1])


def _plain(name: str) -> str:
    return _PLAIN.sub("", name.lower())


def _similarity(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other).ratio() if one and other else 0.0


# --- values -------------------------------------------------------------------------------------------------

Context = Mapping[str, Any]

_INTEGER, _NUMBER, _BOOLEAN = "must be a whole number", "must be a number", "must be true or false"
_TEXT, _LIST, _OBJECT = "must be text", "must be a list", "must be an object"
_TIME = "must be a date and time such as 2026-05-01T12:00:00Z"

_MESSAGES: Mapping[str, str | Callable[[Context], str]] = {
    "missing": "is missing",
    "int_type": _INTEGER,
    "int_parsing": _INTEGER,
    "int_from_float": _INTEGER,
    "int_parsing_size": "has too many digits",
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": "must be a finite number",
    "bool_type": _BOOLEAN,
    "bool_parsing": _BOOLEAN,
    "string_type": _TEXT,
    "string_unicode": "must be text in UTF-8",
    "list_type": _LIST,
    "tuple_type": _LIST,
    "dict_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "mapping_type": _OBJECT,
    "datetime_type": _TIME,
    "datetime_parsing": _TIME,
    "datetime_from_date_parsing": _TIME,
    "datetime_object_invalid": _TIME,
    "none_required": "must be null",
    "extra_forbidden": "is not known here",
    "literal_error": lambda ctx: f"must be {ctx['expected']}",
    "enum": lambda ctx: f"must be {ctx['expected']}",
    "greater_than_equal": lambda ctx: f"must be at least {ctx['ge']:g}",
    "greater_than": lambda ctx: f"must be more than {ctx['gt']:g}",
    "less_than_equal": lambda ctx: f"must be at most {ctx['le']:g}",
    "less_than": lambda ctx: f"must be less than {ctx['lt']:g}",
    "string_too_short": lambda ctx: f"must have at least {_count(ctx['min_length'], 'character')}",
    "string_too_long": lambda ctx: f"may have at most {_count(ctx['max_length'], 'character')}",
    "too_short": lambda ctx: f"must have at least {_count(ctx['min_length'], 'entry', 'entries')}",
    "too_long": lambda ctx: f"may have at most {_count(ctx['max_length'], 'entry', 'entries')}",
}
"""The message for each pydantic error type; a callable gets the error's `ctx`."""


def describe_error(error: Mapping[str, Any]) -> str:
    """Return the message for a pydantic error; messages of our own validators stay as they are."""
    kind = str(error["type"])
    if kind in ("too_long", "too_short") and isinstance(error.get("input"), str):
        kind = f"string_{kind}"  # pydantic says so of a text that another validator checks first
    message = _MESSAGES.get(kind)
    if message is None:
        return str(error["msg"]).removeprefix("Value error, ")
    return message if isinstance(message, str) else message(error.get("ctx", {}))


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
