"""Where a run of words with capitals holds more or less than one name: possessives, German nouns, roles."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from pincite.text import lang
from pincite.text.dictionary import dictionary
from pincite.text.names import is_plain

Word = tuple[str, int, int]
"""A word with its span."""
MIN_COMPOUND_CHARS = 8
_POSSESSIVE = re.compile(r"['’]s$")
_JOIN = re.compile(r"von|für|am|an der")
_ADJECTIVE = re.compile(r"\w{3,}(?:isch|igt|lich|deutsch|heilig|groß|neu|ost|west|nord|süd)e[nrsm]?$", re.IGNORECASE)
_NOUN_ENDING = re.compile(
    r"(?:ungs?|ungen|heit|keit|schaft(?:en)?|tion(?:en)?|tät|nis|zeit|theorie|minister(?:in)?|präsident(?:in|en)?|mitglied(?:er)?|führer|herrschaft)$"
)
_LEGAL_FORMS = ("GmbH", "AG", "KG", "SE", "eV", "e.V.")
_OFFICES = ("President", "Senator", "Governor", "Mayor", "Chancellor", "Minister", "Secretary", "Generalissimo")
_ROLE_TAIL = re.compile(r"\b(?:Manager|Officer|President|Director|Secretary|Minister|Chairman|Executive)$")


@cache
def cues(language: str) -> frozenset[str]:
    """Words of a name that tell what it is."""
    kinds = ("organization", "place", "event", "law", "project")
    return frozenset(word for kind in kinds for word in lang.recognised_words(f"graph.{kind}", language))


@cache
def places() -> frozenset[str]:
    """Names of countries, regions and cities."""
    return lang.all_words("graph.places")


def is_given_name(word: str) -> bool:
    """Whether a word is a given name, or given names with a hyphen."""
    return all(part in lang.all_words("graph.given_names") for part in word.split("-"))


def name_parts(words: Sequence[Word], language: str) -> Iterator[tuple[Sequence[Word], bool]]:
    """The names in a run of words, each with whether a German noun before it introduces it: `Hurrikan Dora`."""
    if language in lang.flagged("nouns_capitalised"):
        yield from _between_nouns(words, language)
        return
    start = 0
    for place, (word, _, _) in enumerate(words[:-1]):
        if _POSSESSIVE.search(word) and word[:-2].lower() not in dictionary(lang.FALLBACK).common:
            yield words[start : place + 1], False
            start = place + 1
        elif word in _OFFICES and words[place + 1][0][0].isupper():
            start = place + 1
    if words:
        yield words[start:], False


def _between_nouns(words: Sequence[Word], language: str) -> Iterator[tuple[Sequence[Word], bool]]:
    """What stands between ordinary nouns, and on both sides of a preposition that belongs to no name."""
    run: list[Word] = []
    introduced = False
    for place, one in enumerate(words):
        before = run[-1][0] if run else ""
        if _JOIN.fullmatch(one[0]):
            if before and (before in cues(language) or is_given_name(run[0][0])):
                run.append(one)
                continue
            ends, noun = True, False
        else:
            kept = bool(run) and (is_given_name(run[0][0]) or _JOIN.fullmatch(before) or _ADJECTIVE.match(before))
            following = words[place + 1][0] if place + 1 < len(words) else ""
            noun = not kept and _is_common(one[0], following, language)
            ends = noun
        if run and (ends or (one[0] in places() and not _JOIN.fullmatch(before))):
            yield run, introduced
            run, introduced = [], False
        if ends:
            run, introduced = [], noun
        else:
            run.append(one)
    if run:
        yield run, introduced


def _is_common(word: str, following: str, language: str) -> bool:
    """Whether a German word is an ordinary noun here, and neither tells what a name is nor describes what follows."""
    if word in cues(language) or word in places() or is_given_name(word):
        return False
    if following and (_ADJECTIVE.match(word) or following in _LEGAL_FORMS):
        return False
    return is_german_noun(word, language)


@lru_cache(maxsize=10_000)
def is_german_noun(word: str, language: str) -> bool:
    """Whether a word with a capital is an ordinary noun: known to German, unknown to English, or put together."""
    if language not in lang.flagged("nouns_capitalised"):
        return False
    head, _, last = word.rpartition("-")
    if head:
        return len(last) > 2 and (last.lower() in dictionary(language) or is_german_noun(last, language))
    lower = word.lower()
    if not word.isalpha() or word.isupper() or word in places():
        return False
    if word in lang.words("graph.nouns", language):
        return True
    if lower in dictionary(lang.FALLBACK):
        return False
    if lower in dictionary(language):
        return True
    long = len(word) >= MIN_COMPOUND_CHARS
    return long and (bool(_NOUN_ENDING.search(lower)) or is_plain(lower, language, _in_dictionary))


def _in_dictionary(word: str, language: str) -> bool:
    return len(word) > 3 and word in dictionary(language)


def is_noun_tail(word: str, language: str) -> bool:
    """Whether a German word at the end of a name is an ordinary noun by its ending."""
    return bool(_NOUN_ENDING.search(word)) and is_german_noun(word, language)


def is_role(words: Sequence[Word], language: str) -> bool:
    """Whether words name an office and nobody who holds it: `Mayor of Edison`, `General Manager`."""
    texts = [word for word, _, _ in words]
    titles = lang.recognised_words("graph.person_before", language)
    before_of = texts[: texts.index("of")] if "of" in texts else []
    if before_of and before_of[-1].lower() in titles:
        return True
    return len(texts) > 1 and bool(_ROLE_TAIL.search(texts[-1]))
