"""Identifiers in a text: versions, codes, rooms and part numbers, such as `3.1.0`, `E.114` or `LX-210`."""

import re
from functools import lru_cache

from pincite.text.quantities import values_in
from pincite.text.wording.equivalents import equivalents

_IDENTIFIER = re.compile(
    r"(?<![\w.,-])(?:"
    r"[^\W\d_]{1,12}[.\-/_]?\d[\w]*(?:[.\-/]\w+)*"  # E.114, LX-210, B2, KW11
    r"|\d+(?:\.\d+){1,4}(?![\d%‰])"  # 3.3, 3.1.0
    r"|\d+[.\-/_]?[^\W\d_]{1,4}\d*(?![\w])"  # 88B, 12-A
    r"|\d{2,}-\d{2,}"  # 88-20417
    r")(?![\w-])"
)
_PERIOD = re.compile(r"(?:FY|GJ|Q|H|KW)[ -]?\d+|\d+(?:st|nd|rd|th|er|ter|te|x|h|k|m)", re.IGNORECASE)
"""Years, quarters, weeks and ordinals have other spellings, so a text may have them in words."""
_SEPARATORS = re.compile(r"[.\-/_\s]")


@lru_cache(maxsize=2_000)
def identifiers_in(text: str, language: str) -> tuple[str, ...]:
    """The identifiers of a text, each once; periods, dates, amounts and numbers with a unit are none."""
    values = [(one.start, one.end) for one in values_in(text, language) if one.kind != "number"]
    taken = [*values, *((one.start, one.end) for one in equivalents(text, language) if one.kind != "version")]
    found = (
        match.group()
        for match in _IDENTIFIER.finditer(text)
        if not _PERIOD.fullmatch(match.group())
        and not any(start < match.end() and match.start() < end for start, end in taken)
    )
    return tuple(dict.fromkeys(found))


def mentions(text: str, identifier: str) -> bool:
    """Whether a text has an identifier, however its parts are separated: `E.114`, `E 114`, `E114`."""
    parts = [re.escape(part) for part in re.findall(r"[^\W\d_]+|\d+", identifier)]
    joined = r"[.\-/_ ]?".join(parts)
    return re.search(rf"(?<!\w){joined}(?!\w|[.]\d)", text, re.IGNORECASE) is not None


def names_another(text: str, identifier: str, language: str) -> bool:
    """Whether a text lacks an identifier and has another one of the same form: `E.119` where `E.114` is asked for."""
    if mentions(text, identifier):
        return False
    wanted = _form(identifier)
    return any(_form(other) == wanted for other in identifiers_in(text, language))


def _form(identifier: str) -> str:
    """The form of an identifier: letters as they are before a number, and a digit for each number."""
    if identifier[0].isdigit():
        return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "a", identifier))
    return re.sub(r"\d+", "9", _SEPARATORS.sub("", identifier).lower())
