"""Plain words of a language, and how common they are: the lists that come with pyspellchecker."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

LANGUAGES = ("en", "de")
COMMON = 1e-6
"""A word with at least this share of all that is said is common: whoever misspelt a word may well have meant it."""


@dataclass(frozen=True, slots=True)
class Dictionary:
    """The words of a language; `common` are those in frequent use, with their share of all that is said.

    Half a million words as strings of their own would take ten times the memory: they lie joined, by first letters.
    """

    shelves: Mapping[str, str]
    common: Mapping[str, float]

    def __contains__(self, word: str) -> bool:
        return f"\n{word}\n" in self.shelves.get(word[:2], "")


@cache
def dictionary(language: str) -> Dictionary:
    """The dictionary of a language in `LANGUAGES`; reading it takes a good part of a second, once."""
    from spellchecker import SpellChecker

    counts = SpellChecker(language=language).word_frequency.dictionary
    shelves: defaultdict[str, list[str]] = defaultdict(list)
    for word in counts:
        shelves[word[:2]].append(word)
    total = sum(counts.values())
    common = {word: count / total for word, count in counts.items() if count >= COMMON * total}
    return Dictionary({first: "\n".join(["", *found, ""]) for first, found in shelves.items()}, common)
