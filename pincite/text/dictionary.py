"""Word lists of a language with the frequency of each word, from pyspellchecker."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from pincite.text import lang

COMMON_SHARE = 1e-6
"""Share of all word occurrences from which on a word is common: a likely correction of a misspelling."""


def languages() -> tuple[str, ...]:
    """The languages that have a dictionary."""
    return lang.flagged("dictionary")


@dataclass(frozen=True, slots=True)
class Dictionary:
    """The words of a language; `common` maps the common ones to their share of all word occurrences.

    `by_prefix` has the words joined to one string, by their first two letters: half a million separate strings would
    take ten times the memory.
    """

    by_prefix: Mapping[str, str]
    common: Mapping[str, float]

    def __contains__(self, word: str) -> bool:
        return f"\n{word}\n" in self.by_prefix.get(word[:2], "")


_read: dict[str, Dictionary] = {}


def read_before(language: str) -> Dictionary | None:
    """The dictionary of a language; None before it was read."""
    return _read.get(language)


def dictionary(language: str) -> Dictionary:
    """The dictionary of one of `languages()`; the first call takes up to a second."""
    if language not in _read:
        _read[language] = _read_dictionary(language)
    return _read[language]


def _read_dictionary(language: str) -> Dictionary:
    from spellchecker import SpellChecker

    counts = SpellChecker(language=language).word_frequency.dictionary
    by_prefix: defaultdict[str, list[str]] = defaultdict(list)
    for word in counts:
        by_prefix[word[:2]].append(word)
    total = sum(counts.values())
    common = {word: count / total for word, count in counts.items() if count >= COMMON_SHARE * total}
    return Dictionary({first: "\n".join(["", *found, ""]) for first, found in by_prefix.items()}, common)
