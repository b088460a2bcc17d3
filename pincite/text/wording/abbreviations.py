"""Abbreviations that a text itself explains: `Days sales outstanding (DSO)` or `DSO (days sales outstanding)`."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from pincite.text.terms import words

MAX_WORDS = 8
"""Words before a bracket that are searched for the long form."""
MIN_INITIAL_WORD_CHARS = 4
"""Letters of each word of a long form that no text explains."""
_SHORT = r"[^\W\d_a-zß-öø-ÿ][\w&-]{0,8}[^\W\d_a-zß-öø-ÿ]s?"
_LONG = r"[^\W\d_][\w&'’-]*"
_AFTER = re.compile(rf"((?:{_LONG}[ \n]){{1,{MAX_WORDS}}})\(({_SHORT})\)")
_BEFORE = re.compile(rf"(?<!\w)({_SHORT}) \(((?:{_LONG}[ \n]){{1,{MAX_WORDS - 1}}}{_LONG})\)")


@lru_cache(maxsize=256)
def abbreviations_in(text: str) -> Mapping[str, str]:
    """The abbreviations that a text explains, in lower case, each with its long form in lower case."""
    found: dict[str, str] = {}
    if "(" not in text:
        return found
    explained = [(match[2], match[1]) for match in _AFTER.finditer(text)]
    explained += [(match[1], match[2]) for match in _BEFORE.finditer(text)]
    for short, before in explained:
        long = _long_form(short.removesuffix("s"), before.split())
        if long:
            found.setdefault(short.removesuffix("s").lower(), long)
    return found


def _long_form(short: str, before: list[str]) -> str:
    """The last words that begin with the letters of an abbreviation, in order; empty where they do not.

    A word may have several of the letters, and small words may have none.
    """
    letters = [char.lower() for char in short if char.isalpha()]
    for count in range(2, len(before) + 1):
        parts = [word.lower() for word in before[-count:]]
        initials = [part[0] for word in parts for part in re.split(r"[-&]", word) if part]
        if parts[0][0] == letters[0] and _is_subsequence(letters, initials) and count <= len(letters) + 2:
            return " ".join(parts)
    return ""


def _is_subsequence(letters: Iterable[str], initials: Iterable[str]) -> bool:
    left = iter(initials)
    return all(letter in left for letter in letters)


def phrase_with_initials(text: str, short: str) -> str:
    """The words in a row, in lower case, that begin with the letters of an abbreviation; empty where there are none."""
    match = _initials(short).search(text)
    return " ".join(match.group().lower().split()) if match else ""


@lru_cache(maxsize=256)
def _initials(short: str) -> re.Pattern[str]:
    parts = r"[\s-]+".join(rf"{re.escape(letter)}[^\W\d_]{{{MIN_INITIAL_WORD_CHARS - 1},}}" for letter in short)
    return re.compile(rf"(?<!\w){parts}(?!\w)", re.IGNORECASE)


def shortened(text: str, known: Mapping[str, str]) -> str:
    """A text with each long form replaced by its abbreviation."""
    for short, long in known.items():
        text = _phrase(long).sub(short, text)
    return text


def explained_in(text: str, known: Mapping[str, str]) -> frozenset[str]:
    """The words of the abbreviations whose long forms a text has: `r` and `d` of `R&D`."""
    found = (short for short, long in known.items() if _phrase(long).search(text))
    return frozenset(word for short in found for word in words(short))


@lru_cache(maxsize=256)
def _phrase(long: str) -> re.Pattern[str]:
    phrase = r"[\s-]+".join(map(re.escape, long.split()))
    return re.compile(rf"(?<!\w){phrase}(?!\w)", re.IGNORECASE)
