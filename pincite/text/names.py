"""Who and what a sentence names, and whether its source names the same, in English and German."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from pincite.text.sentences import fold
from pincite.text.terms import STOP_WORDS
from pincite.text.units import UNITS

MOST_SWAPPED = 4
"""Words on either side that one name and the other may stand among."""
ALIKE = 0.85
"""Share of letters in their order that two spellings of a word have in common."""
LONGEST_LETTERS = 6
"""Letters of an abbreviation that is looked up."""
SHORTEST_PART = 4
"""Letters of a part of a compound."""

Plain = Callable[[str, str], bool]
"""Whether a word, in lower case, is a plain one of a language."""

_TOKEN = re.compile(r"[^\W_]+(?:[-.&/'’][^\W_]+)*")
_CODE = re.compile(r"(?=.*\d)(?=.*[^\W\d_])|[A-ZÄÖÜ]{2,}[a-z]?$|[A-ZÄÖÜ]?[a-z]+[A-ZÄÖÜ]")
_SUFFIX = re.compile(r"\d+(?:['’]?s|st|nd|rd|th|[a-z]{1,3}|km/h|m/s|kwh)$", re.IGNORECASE)
_JOINT = re.compile(r"[-/]")
_OPENS = re.compile(r"(?:^|[.!?:;\n|][\"'”’»)\]*_]*|[-*•])\s*[\"'“„«(*_#]*$")
_CALENDAR = frozenset(
    "january february march april may june july august september october november december monday tuesday wednesday thursday "
    "friday saturday sunday januar februar märz mai juni juli oktober dezember montag dienstag mittwoch donnerstag freitag "
    "samstag sonnabend sonntag i yes no ja nein source sources quelle quellen".split()
)
_ARTICLES = frozenset("der die das den dem des ein eine einen einem einer eines the a an".split())
_ACTIVE = frozenset("by von vom durch was were been is are wurde wurden wird werden worden ist sind war waren".split())
"""Words of the passive, in which names change their places and nothing else does."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a sentence; `name` is None where a capital may be a German noun's or a sentence's first."""

    text: str
    folded: str
    name: bool | None


@lru_cache(maxsize=512)
def tokens_of(text: str, language: str) -> tuple[Token, ...]:
    """The words of a text, and which of them are names by the way they are written."""
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
    if lower in UNITS:
        return False
    if _CODE.match(word) and not _SUFFIX.match(word):
        return True
    if not word[0].isupper() or lower in _CALENDAR or lower in STOP_WORDS.get(language, frozenset()):
        return False
    if language == "de":
        return None
    return True if not opens or beside else None


@lru_cache(maxsize=256)
def _held(text: str) -> tuple[frozenset[str], str]:
    """The words of a text and of its compounds, and all of it in one form."""
    folded = fold(text)
    words = {word.replace(".", "") for word in _TOKEN.findall(folded)}
    return frozenset(words | {part for word in words for part in _JOINT.split(word)}), folded


def is_held(folded: str, text: str) -> bool:
    """Whether a text has a word: as it is, in another form, as a part of a longer one, or with a slip of the pen."""
    words, whole = _held(text)
    if folded in words or (len(folded) >= SHORTEST_PART and folded in whole):
        return True
    bare = re.sub(r"(?:['’]s|s|es|en|e|n)$", "", folded)
    if len(bare) >= SHORTEST_PART - 1 and bare in whole:
        return True
    parts = [part for part in _JOINT.split(folded) if len(part) >= SHORTEST_PART]
    return (len(parts) > 1 and any(part in words for part in parts)) or any(_alike(bare, word) for word in words)


def _alike(one: str, other: str) -> bool:
    """Whether two words are forms or spellings of one."""
    if len(one) <= SHORTEST_PART or abs(len(one) - len(other)) > 2 or one[:2] != other[:2]:
        return False
    return SequenceMatcher(a=one, b=other, autojunk=False).ratio() >= ALIKE


def strangers(claim: str, whole: str, language: str, plain: Plain) -> tuple[list[str], list[str]]:
    """The names of a claim that its source does not have anywhere; and the nouns, where these look like names."""
    names, nouns, tokens = [], [], tokens_of(claim, language)
    for number, token in enumerate(tokens):
        if token.name is False or is_held(token.folded, whole) or _abbreviated(number, tokens, whole):
            continue
        if token.name or not is_plain(token.text.lower(), language, plain):
            names.append(token.text)
        elif language == "de":
            nouns.append(token.text)
    return names, nouns


def _abbreviated(number: int, tokens: Sequence[Token], whole: str) -> bool:
    """Whether the source has the letters that a name begins with, or the name that letters stand for."""
    letters = tokens[number].text.replace(".", "")
    if letters.isalpha() and 2 <= len(letters) <= LONGEST_LETTERS and not letters[1:].islower():
        return bool(
            re.search(r"\b" + r"[\w.]*[\s-]+(?:(?:of|the|and|für|der|und)\s)?".join(letters.lower()), fold(whole))
        )
    for start in range(max(0, number - LONGEST_LETTERS + 1), number + 1):
        for end in range(number + 1, min(len(tokens), start + LONGEST_LETTERS) + 1):
            run = tokens[start:end]
            if len(run) > 1 and all(token.name for token in run):
                initials = "".join(token.folded[0] for token in run)
                if initials in _held(whole)[0]:
                    return True
    return False


@lru_cache(maxsize=4096)
def is_plain(word: str, language: str, plain: Plain) -> bool:
    """Whether a word is in the dictionary, or is put together of such words."""
    if plain(word, language) or (word.endswith(("s", "n", "e")) and plain(word[:-1], language)):
        return True
    if language != "de":
        return "-" in word and all(plain(part, language) for part in word.split("-") if part)
    cuts = range(SHORTEST_PART, len(word) - SHORTEST_PART + 1)
    return any(_part(word[:cut], plain) and is_plain(word[cut:], language, plain) for cut in cuts) or (
        "-" in word and all(is_plain(part, language, plain) for part in word.split("-") if part)
    )


def _part(word: str, plain: Plain) -> bool:
    """The first part of a compound, with or without the letters that join it to the next."""
    if plain(word, "de") or plain(f"{word}e", "de"):
        return True
    return any(plain(word.removesuffix(joint), "de") for joint in ("s", "es", "n", "en") if word.endswith(joint))


def swapped(claim: str, told: str, language: str, plain: Plain) -> tuple[str, str] | None:
    """A name of the claim, and the one its source has in that place."""
    mine, theirs = tokens_of(claim, language), tokens_of(told, language)
    here, there = {token.folded for token in mine}, {token.folded for token in theirs}
    matcher = SequenceMatcher(a=[token.folded for token in mine], b=[token.folded for token in theirs], autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind != "replace" or max(b - a, d - c) > MOST_SWAPPED:
            continue
        left = [token for token in theirs[c:d] if token.folded not in here and _named(token, language, plain)]
        put = [token for token in mine[a:b] if token.folded not in there and _named(token, language, plain)]
        if left and not put and (a == 0 or mine[a - 1].folded not in _ARTICLES):
            put = [token for token in mine[a:b] if token.folded not in there and token.name is None]
        if put and left and not _same(put, left):
            return " ".join(token.text for token in put), " ".join(token.text for token in left)
    return _exchanged(mine, theirs, language, plain)


def _named(token: Token, language: str, plain: Plain) -> bool:
    return bool(token.name) or (token.name is None and not is_plain(token.text.lower(), language, plain))


def _same(put: Sequence[Token], left: Sequence[Token]) -> bool:
    """`ESA` and `European Space Agency`, `Brückl` and `Brückls`."""
    initials = "".join(token.folded[0] for token in left)
    return any(
        token.folded == initials or is_held(token.folded, other.folded) or is_held(other.folded, token.folded)
        for token in put
        for other in left
    )


def _exchanged(mine: Sequence[Token], theirs: Sequence[Token], language: str, plain: Plain) -> tuple[str, str] | None:
    """Two names that stand the other way round, where all else is as it is."""
    if sorted(token.folded for token in mine) != sorted(token.folded for token in theirs):
        return None
    if {token.folded for token in mine} & _ACTIVE:
        return None
    names = [token for token in mine if _named(token, language, plain)]
    order = [token.folded for token in theirs if _named(token, language, plain)]
    for one, other in zip(names, order, strict=False):
        if one.folded != other and one.folded in order:
            return one.text, next(token.text for token in theirs if token.folded == other)
    return None
