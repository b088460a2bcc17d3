"""Whether one sentence contradicts another: by negations, opposites, directions and quantities."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from pincite.text import lang
from pincite.text.terms import stem, stop_words

MAX_SCOPE_WORDS = 3
"""Words of meaning on either side that a negation applies to, within its clause."""
MAX_DIFFERENT_WORDS = 3
"""Words in which two sentences differ that are otherwise the same."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


@cache
def _poles(language: str) -> Mapping[str, tuple[str, int]]:
    """Each word of a pair of opposites, with the name of the pair and the side of it."""
    return {
        word: (name, side)
        for one in lang.recognised(language)
        for name, pair in lang.mapping("negation.opposites", one).items()
        for side, listed in enumerate(pair.split("|"))
        for word in listed.split()
    }


@cache
def _phrases(language: str) -> list[tuple[re.Pattern[str], str]]:
    """Phrases of several words, each with the word that replaces it."""
    return [
        (lang.regex(f"negation.{name}", language, flags=re.IGNORECASE), f" {name} ")
        for name in ("minimum", "maximum", "nobody", "not")
    ]


@cache
def _clause_end(language: str) -> re.Pattern[str]:
    return lang.regex("negation.clause", language, r"[,;:.!?()\n–—|]|\b%s\b", re.IGNORECASE)


def is_negator(word: str, language: str) -> bool:
    """Whether a word, in lower case, denies."""
    return word in negators(language) or bool(lang.regex("negation.endings", language).search(word))


def negators(language: str = "") -> frozenset[str]:
    """The words that deny, in lower case, in the languages that apply to a text in this language."""
    return lang.recognised_words("negation.negators", language)


@dataclass(frozen=True, slots=True)
class Stance:
    """The words that each negation of a sentence applies to, and its sides in pairs of opposites."""

    denied: tuple[frozenset[str], ...]
    sides: Mapping[tuple[str, int], tuple[tuple[str, frozenset[str]], ...]]
    stems: frozenset[str]
    words: Counter[str]


@lru_cache(maxsize=512)
def stance_of(text: str, language: str) -> Stance:
    """Read a sentence clause by clause."""
    for phrase, word in _phrases(language):
        text = phrase.sub(word, text)
    denied: list[frozenset[str]] = []
    poles = _poles(language)
    sides: dict[tuple[str, int], list[tuple[str, frozenset[str]]]] = {}
    counts: Counter[str] = Counter()
    for start, end in pairwise([0, *(match.start() for match in _clause_end(language).finditer(text)), len(text)]):
        words = [match.group().lower() for match in _WORD.finditer(text, start, end)]
        counts.update(words)
        for number, word in enumerate(words):
            around = _around(words, number, language)
            if _negates(words, number, language):
                denied.append(around)
            elif word in poles:
                sides.setdefault(poles[word], []).append((word, around))
    stems = frozenset(stem(word, language) for word in counts)
    return Stance(tuple(denied), {pole: tuple(found) for pole, found in sides.items()}, stems, counts)


def _negates(words: Sequence[str], number: int, language: str) -> bool:
    """Whether a word denies here: `not only` affirms, and German `noch` denies only after `weder`."""
    word = words[number]
    if not is_negator(word, language):
        return False
    affirms = set(words[number + 1 : number + 2]) & lang.recognised_words("negation.only", language)
    second = word in lang.recognised_words("negation.second_negators", language)
    return not affirms and not (second and not lang.recognised_words("negation.first_negators", language) & set(words))


def _around(words: Sequence[str], number: int, language: str) -> frozenset[str]:
    """The nearest words of meaning on either side."""
    stop = stop_words(language)

    def stems(part: Sequence[str]) -> list[str]:
        kept = (word for word in part if word not in stop and word.isalpha() and not is_negator(word, language))
        return [stem(word, language) for word in kept]

    return frozenset((*stems(words[:number])[-MAX_SCOPE_WORDS:], *stems(words[number + 1 :])[:MAX_SCOPE_WORDS]))


def opposed(claim: str, source: str, language: str) -> str | None:
    """Why a claim contradicts a sentence of its source, in words; None where it does not.

    Two reversals cancel each other: `not allowed` and `forbidden` mean the same.
    """
    mine, theirs = stance_of(claim, language), stance_of(source, language)
    reversals = [
        _denial(mine, theirs, language),
        *_turned_by_prefix(mine, theirs, language),
        *_opposite_sides(mine, theirs, language),
    ]
    reasons = [reason for reason in reversals if reason]
    return reasons[0] if len(reasons) % 2 else None


def _denial(mine: Stance, theirs: Stance, language: str) -> str | None:
    """A negation that only one of them has, about words that both have; or that is all in which they differ."""
    more, less = mine.words - theirs.words, theirs.words - mine.words
    if more.total() + less.total() <= MAX_DIFFERENT_WORDS and _denies(more, language) != _denies(less, language):
        return "denies what the source says" if _denies(more, language) else "says what the source denies"
    here = [around for around in mine.denied if around & theirs.stems and not _also(around, theirs)]
    there = [
        around for around in theirs.denied if 2 * len(around & mine.stems) > len(around) and not _also(around, mine)
    ]
    if here and not theirs.words.keys() & lang.recognised_words("negation.exceptions", language):
        return "denies what the source says"
    return "says what the source denies" if there else None


def _denies(words: Iterable[str], language: str) -> bool:
    return any(is_negator(word, language) for word in words)


def _also(around: frozenset[str], other: Stance) -> bool:
    """Whether the other one denies something about the same words."""
    return any(2 * len(around & denied) >= min(len(around), len(denied)) for denied in other.denied)


def _turned_by_prefix(mine: Stance, theirs: Stance, language: str) -> list[str]:
    """`usable` and `unusable`."""
    here, there = _prefixed(mine, theirs, language), _prefixed(theirs, mine, language)
    return [
        *(f"says “{word}”, the source says “{rest}”" for word, rest in here),
        *(f"says “{rest}”, the source says “{word}”" for word, rest in there),
    ]


def _prefixed(one: Stance, other: Stance, language: str) -> list[tuple[str, str]]:
    candidates = (
        (word, word[len(prefix) :])
        for word in one.words.keys() - other.words.keys()
        for prefix in lang.recognised_words("negation.prefixes", language)
        if word.startswith(prefix)
    )
    return [
        (word, rest) for word, rest in candidates if len(rest) > 3 and rest in other.words and rest not in one.words
    ]


def _opposite_sides(mine: Stance, theirs: Stance, language: str) -> list[str]:
    """The pairs of opposites in which each of the two has one side only, and not the same."""
    ambiguous = lang.recognised_words("negation.ambiguous", language)
    found = []
    for (pair, side), here in mine.sides.items():
        across = theirs.sides.get((pair, 1 - side))
        if across is None or (pair, side) in theirs.sides or (pair, 1 - side) in mine.sides:
            continue
        word, around = here[0]
        other, beside = across[0]
        if (word in ambiguous or other in ambiguous) and len(around & beside) < 2:
            continue
        if around & beside or around & theirs.stems:
            found.append(f"says “{word}”, the source says “{other}”")
    return found
