"""The names of a sentence, and whether its source has the same names."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, lru_cache

from pincite.text import lang
from pincite.text.sentences import fold
from pincite.text.terms import stop_words
from pincite.text.units import units

MAX_REPLACED_WORDS = 4
"""Words of a claim, and of its source, within which one name may replace another."""
MIN_SPELLING_SIMILARITY = 0.85
"""Share of letters in the same order from which on two words are spellings of one."""
MAX_ABBREVIATION_CHARS = 6
MIN_PART_CHARS = 4
"""Letters of a part of a compound."""

IsPlainWord = Callable[[str, str], bool]
"""Whether a word, in lower case, is an ordinary word of a language."""

_TOKEN = re.compile(r"[^\W_]+(?:[-.&/'’][^\W_]+)*")
_CODE = re.compile(r"(?=.*\d)(?=.*[^\W\d_])|[A-ZÄÖÜ]{2,}[a-z]?$|[A-ZÄÖÜ]?[a-z]+[A-ZÄÖÜ]")
_SUFFIX = re.compile(r"\d+(?:['’]?s|st|nd|rd|th|[a-z]{1,3}|km/h|m/s|kwh)$", re.IGNORECASE)
_JOINT = re.compile(r"[-/]")
_OPENS = re.compile(r"(?:^|[.!?:;\n|][\"'”’»)\]*_]*|[-*•])\s*[\"'“„«(*_#]*$")


@cache
def _not_names(language: str) -> frozenset[str]:
    """Words with a capital letter that are no names: months, weekdays, yes and no, in lower case."""
    calendar = (
        name.lower()
        for one in lang.recognised(language)
        for group in lang.sequence("dates.months", one)
        for name in group.split(",")
    )
    return (
        frozenset(calendar)
        | lang.recognised_words("dates.weekday_names", language)
        | lang.recognised_words("names.not_names", language)
    )


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a sentence; `name` is None where its capital may come from a German noun or the start of a sentence."""

    text: str
    folded: str
    name: bool | None


@lru_cache(maxsize=512)
def tokens_of(text: str, language: str) -> tuple[Token, ...]:
    """The words of a text, each with whether its spelling makes it a name."""
    matches = list(_TOKEN.finditer(text))
    capital = [match.group()[0].isupper() for match in matches]
    opens = [bool(_OPENS.search(text[max(0, match.start() - 8) : match.start()])) for match in matches]
    found = []
    for number, match in enumerate(matches):
        beside = any(
            0 <= other < len(matches)
            and capital[other]
            and not opens[max(number, other)]
            and _joined(text, matches, number, other)
            for other in (number - 1, number + 1)
        )
        found.append(
            Token(
                match.group(),
                fold(match.group()).replace(".", ""),
                _is_name(match.group(), opens[number], beside, language),
            )
        )
    return tuple(found)


def _joined(text: str, matches: Sequence[re.Match[str]], one: int, other: int) -> bool:
    first, second = sorted((one, other))
    return text[matches[first].end() : matches[second].start()] == " "


def _is_name(word: str, opens: bool, beside: bool, language: str) -> bool | None:
    lower = word.lower()
    if lower in units(language):
        return False
    if _CODE.match(word) and not _SUFFIX.match(word):
        return True
    if not word[0].isupper() or lower in _not_names(language) or lower in stop_words(language):
        return False
    if language in lang.flagged("nouns_capitalised"):
        return None
    return True if not opens or beside else None


@lru_cache(maxsize=256)
def _folded_words(text: str) -> tuple[frozenset[str], str]:
    """The folded words of a text with the parts of its compounds, and the whole folded text."""
    folded = fold(text)
    words = {word.replace(".", "") for word in _TOKEN.findall(folded)}
    return frozenset(words | {part for word in words for part in _JOINT.split(word)}), folded


def has_word(folded: str, text: str) -> bool:
    """Whether a text has a word: as it is, inflected, as a part of a longer one, or misspelt."""
    words, whole = _folded_words(text)
    if folded in words or (len(folded) >= MIN_PART_CHARS and folded in whole):
        return True
    bare = re.sub(r"(?:['’]s|s|es|en|e|n)$", "", folded)
    if len(bare) >= MIN_PART_CHARS - 1 and bare in whole:
        return True
    parts = [part for part in _JOINT.split(folded) if len(part) >= MIN_PART_CHARS]
    return (len(parts) > 1 and any(part in words for part in parts)) or any(_same_word(bare, word) for word in words)


def _same_word(one: str, other: str) -> bool:
    """Whether two words are inflections or spellings of one word."""
    if len(one) <= MIN_PART_CHARS or abs(len(one) - len(other)) > 2 or one[:2] != other[:2]:
        return False
    return SequenceMatcher(a=one, b=other, autojunk=False).ratio() >= MIN_SPELLING_SIMILARITY


def strangers(claim: str, whole: str, language: str, plain: IsPlainWord) -> tuple[list[str], list[str]]:
    """The names of a claim that its source lacks, and the nouns that it lacks where nouns have capitals."""
    names, nouns, tokens = [], [], tokens_of(claim, language)
    for number, token in enumerate(tokens):
        if token.name is False or has_word(token.folded, whole) or _abbreviated(number, tokens, whole, language):
            continue
        if token.name or not is_plain(token.text.lower(), language, plain):
            names.append(token.text)
        elif language in lang.flagged("nouns_capitalised"):
            nouns.append(token.text)
    return names, nouns


def _abbreviated(number: int, tokens: Sequence[Token], whole: str, language: str) -> bool:
    """Whether the source has the abbreviation of a name, or the name of an abbreviation."""
    letters = tokens[number].text.replace(".", "")
    if letters.isalpha() and 2 <= len(letters) <= MAX_ABBREVIATION_CHARS and not letters[1:].islower():
        between = rf"[\w.]*[\s-]+(?:(?:{lang.alternatives('names.inside', language)})\s)?"
        return bool(re.search(r"\b" + between.join(letters.lower()), fold(whole)))
    for start in range(max(0, number - MAX_ABBREVIATION_CHARS + 1), number + 1):
        for end in range(number + 1, min(len(tokens), start + MAX_ABBREVIATION_CHARS) + 1):
            run = tokens[start:end]
            if len(run) > 1 and all(token.name for token in run):
                initials = "".join(token.folded[0] for token in run)
                if initials in _folded_words(whole)[0]:
                    return True
    return False


@lru_cache(maxsize=4096)
def is_plain(word: str, language: str, plain: IsPlainWord) -> bool:
    """Whether a word is in the dictionary, or is a compound of such words."""
    if plain(word, language) or (word.endswith(("s", "n", "e")) and plain(word[:-1], language)):
        return True
    if language not in lang.flagged("compounds"):
        return "-" in word and all(plain(part, language) for part in word.split("-") if part)
    cuts = range(MIN_PART_CHARS, len(word) - MIN_PART_CHARS + 1)
    return any(
        _is_compound_part(word[:cut], language, plain) and is_plain(word[cut:], language, plain) for cut in cuts
    ) or ("-" in word and all(is_plain(part, language, plain) for part in word.split("-") if part))


def _is_compound_part(word: str, language: str, plain: IsPlainWord) -> bool:
    """Whether a word is the first part of a compound, with or without the letters that join it to the next."""
    if plain(word, language) or plain(f"{word}e", language):
        return True
    return any(plain(word.removesuffix(joint), language) for joint in ("s", "es", "n", "en") if word.endswith(joint))


def swapped(claim: str, source: str, language: str, plain: IsPlainWord) -> tuple[str, str] | None:
    """A name of the claim and the different name that its source has in the same place, or None."""
    mine, theirs = tokens_of(claim, language), tokens_of(source, language)
    here, there = {token.folded for token in mine}, {token.folded for token in theirs}
    matcher = SequenceMatcher(a=[token.folded for token in mine], b=[token.folded for token in theirs], autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind != "replace" or max(b - a, d - c) > MAX_REPLACED_WORDS:
            continue
        left = [token for token in theirs[c:d] if token.folded not in here and _named(token, language, plain)]
        put = [token for token in mine[a:b] if token.folded not in there and _named(token, language, plain)]
        if left and not put and (a == 0 or mine[a - 1].folded not in lang.recognised_words("names.articles", language)):
            put = [token for token in mine[a:b] if token.folded not in there and token.name is None]
        if put and left and not _same(put, left):
            return " ".join(token.text for token in put), " ".join(token.text for token in left)
    return _exchanged(mine, theirs, language, plain)


def _named(token: Token, language: str, plain: IsPlainWord) -> bool:
    return bool(token.name) or (token.name is None and not is_plain(token.text.lower(), language, plain))


def _same(put: Sequence[Token], left: Sequence[Token]) -> bool:
    """`ESA` and `European Space Agency`, `Brückl` and `Brückls`."""
    initials = "".join(token.folded[0] for token in left)
    return any(
        token.folded == initials or has_word(token.folded, other.folded) or has_word(other.folded, token.folded)
        for token in put
        for other in left
    )


def _exchanged(
    mine: Sequence[Token], theirs: Sequence[Token], language: str, plain: IsPlainWord
) -> tuple[str, str] | None:
    """Two names in exchanged places, where all other words are the same."""
    if sorted(token.folded for token in mine) != sorted(token.folded for token in theirs):
        return None
    if {token.folded for token in mine} & lang.recognised_words("names.passive", language):
        return None
    names = [token for token in mine if _named(token, language, plain)]
    order = [token.folded for token in theirs if _named(token, language, plain)]
    for one, other in zip(names, order, strict=False):
        if one.folded != other and one.folded in order:
            return one.text, next(token.text for token in theirs if token.folded == other)
    return None
