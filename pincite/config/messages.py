"""Wrong input in words: the name that was probably meant, and what a value should have been."""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

ALIKE = 0.75
"""How much two names have in common, from 0 to 1, before one is taken for the other misspelt."""

_LAST_PART = re.compile(r"\.|__|^PINCITE_")
_PLAIN = re.compile(r"[^0-9a-z]")


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant, whatever its case, dashes and underscores; None where none is close.

    The last part of a dotted name has to be close: `rag.bogus` is not `rag.fusion` only because both begin alike.
    """
    whole, leaf = _plain(word), _leaf(word)
    rated = [(_alike(leaf, _leaf(name)), _alike(whole, _plain(name)), name) for name in known]
    best = max(rated, key=lambda rate: rate[0] + rate[1], default=None)
    return best[2] if best and best[0] >= ALIKE else None


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean …?` where something known is close, else nothing."""
    close = closest(word, known)
    return f"; did you mean '{close}'?" if close else ""


def _leaf(name: str) -> str:
    return _plain(_LAST_PART.split(name)[-1])


def _plain(name: str) -> str:
    return _PLAIN.sub("", name.lower())


def _alike(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other).ratio() if one and other else 0.0


# --- values -------------------------------------------------------------------------------------------------

Context = Mapping[str, Any]

_WHOLE, _NUMBER, _YES_NO = "must be a whole number", "must be a number", "must be true or false"
_TEXT, _LIST, _OBJECT = "must be text", "must be a list", "must be an object"
_TIME = "must be a date and time such as 2026-05-01T12:00:00Z"

_SAID: Mapping[str, str | Callable[[Context], str]] = {
    "missing": "is missing",
    "int_type": _WHOLE, "int_parsing": _WHOLE, "int_from_float": _WHOLE,
    "int_parsing_size": "has too many digits",
    "float_type": _NUMBER, "float_parsing": _NUMBER, "finite_number": "must be a finite number",
    "bool_type": _YES_NO, "bool_parsing": _YES_NO,
    "string_type": _TEXT, "string_unicode": "must be text in UTF-8",
    "list_type": _LIST, "tuple_type": _LIST,
    "dict_type": _OBJECT, "model_type": _OBJECT, "model_attributes_type": _OBJECT, "mapping_type": _OBJECT,
    "datetime_type": _TIME, "datetime_parsing": _TIME, "datetime_from_date_parsing": _TIME,
    "datetime_object_invalid": _TIME,
    "none_required": "must be null",
    "extra_forbidden": "is not known here",
    "literal_error": lambda told: f"must be {told['expected']}",
    "enum": lambda told: f"must be {told['expected']}",
    "greater_than_equal": lambda told: f"must be at least {told['ge']:g}",
    "greater_than": lambda told: f"must be more than {told['gt']:g}",
    "less_than_equal": lambda told: f"must be at most {told['le']:g}",
    "less_than": lambda told: f"must be less than {told['lt']:g}",
    "string_too_short": lambda told: f"must have at least {_counted(told['min_length'], 'character')}",
    "string_too_long": lambda told: f"may have at most {_counted(told['max_length'], 'character')}",
    "too_short": lambda told: f"must have at least {_counted(told['min_length'], 'entry', 'entries')}",
    "too_long": lambda told: f"may have at most {_counted(told['max_length'], 'entry', 'entries')}",
}  # fmt: skip
"""What to say of each kind of fault a validator finds; `ctx` has its numbers."""


def describe_error(told: Mapping[str, Any]) -> str:
    """One of a validator's findings in our words; what our own checks say stays as it is."""
    said = _SAID.get(str(told["type"]))
    if said is None:
        return str(told["msg"]).removeprefix("Value error, ")
    return said if isinstance(said, str) else said(told.get("ctx", {}))


def _counted(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
