"""What a question names outright (names, quotations, codes, dates, numbers), and whether it takes several steps."""

import re
from collections.abc import Iterator, Mapping
from functools import cache

from pincite.core.query.plan import Entity, EntityKind
from pincite.text import lang
from pincite.text.quantities import months_of
from pincite.text.terms import question_language, stop_words

MAX_ENTITIES = 20
"""Entities that are told of one question."""

_QUOTED = re.compile(r"[\"„“»«]([^\"„“”»«]{2,200})[\"“”»«]|(?<!\w)'([^']{2,200})'(?!\w)|`([^`]{2,200})`")
_CODE = re.compile(
    r"(?<![\w/])(?=[\w./:#-]*\d)(?=[\w./:#-]*[A-Za-z])[A-Za-z0-9][\w./:#-]{1,60}\b|\b[A-Z]{2,6}-\d+\b|"
    r"\b(?:\w+\.)*\w+(?:_\w+)+\b|\b[\w-]+(?:\.[\w-]+){1,5}\(\)|"
    r"\b\w+\.(?:py|md|txt|pdf|json|toml|ya?ml|csv|docx?|xlsx?|js|ts|sql|html)\b|(?<!\w)--[\w-]{2,}"
)
_NUMBER = re.compile(r"(?<![\w.,-])\d+(?:[.,]\d+)*\s?(?:%|€|\$|°C|°)?(?![\w.,]*\w)")


@cache
def _kinds(language: str) -> Mapping[EntityKind, re.Pattern[str]]:
    """The patterns in the order they are searched for; a span belongs to the first kind that matches."""
    month = lang.any_of(name for one in lang.recognised(language) for name in months_of(one))
    suffixes = lang.alternatives("dates.ordinal_suffixes", language)
    date = re.compile(
        r"\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}\.\s?\d{1,2}\.(?:\s?\d{2,4})?(?!\d)|\b\d{1,2}/\d{1,2}/\d{2,4}\b|"
        rf"\b\d{{1,2}}(?:{suffixes}|\.)?\s{month}\b(?:\s\d{{4}})?|"
        rf"\b{month}\s\d{{1,4}}(?:{suffixes})?\b(?:,?\s\d{{4}})?|"
        r"\b(?:1[5-9]|20)\d{2}\b(?![-.,]?\d|\w|%|\s?(?:euros?|eur|usd|dollars?|m|km|kg|€|\$)\b)",
        re.IGNORECASE,
    )
    return {"quoted": _QUOTED, "date": date, "code": _CODE, "number": _NUMBER}


_TELLING = re.compile(r"[\d_\"'„“»«`./-]")
"""Without any of these there is nothing but names."""

_CAPITAL = re.compile(r"[^\W\d_a-zß-öø-ÿœ][\w'’&-]*(?:\.(?=[^\W\d_]))?[\w'’&-]*")
_NAME_JOINS = r"(?:\s+(?:of|the|de|van|von|&|du|la|le)){0,2}\s+"
_NAME = re.compile(rf"{_CAPITAL.pattern}(?:(?:\s+|{_NAME_JOINS}){_CAPITAL.pattern})*")
_MIXED = re.compile(r"\w[A-ZÄÖÜ]")


def entities_in(text: str) -> tuple[Entity, ...]:
    """The entities of a question in the order they stand, each once."""
    found: dict[int, Entity] = {}
    left, plain = text, not _TELLING.search(text)
    for kind, pattern in () if plain else _kinds(question_language(text)).items():
        for match in list(pattern.finditer(left)):
            words = next((group for group in match.groups() if group), match.group())
            found[match.start()] = Entity(words.strip(), kind)
            left = left[: match.start()] + "\0" * len(match.group()) + left[match.end() :]
    found.update(_names(left))
    ordered = dict.fromkeys(found[start] for start in sorted(found))
    return tuple(ordered)[:MAX_ENTITIES]


@cache
def _no_names(language: str) -> tuple[frozenset[str], frozenset[str]]:
    """Words that open a sentence with a capital letter, and other words with one, that name nothing."""
    stop = lang.recognised_words("terms.stop_words", language)
    return (
        lang.recognised_words("questions.openers", language) | stop,
        lang.recognised_words("questions.no_names", language) | stop_words(lang.FALLBACK),
    )


def _names(text: str) -> Iterator[tuple[int, Entity]]:
    """Words with a capital that nothing but a name explains: in German, where nouns have them, two in a row or mixed case."""
    language = question_language(text)
    capitals = language in lang.flagged("nouns_capitalised")
    openers, no_names = _no_names(language)
    measuring = lang.words("questions.measuring", language)
    for match in _NAME.finditer(text):
        start, name = match.start(), match.group()
        first, _, rest = name.partition(" ")
        opens = not text[:start].strip(" \t\"'„“»«¿¡(-") or text[:start].rstrip().endswith((".", "!", "?", ":"))
        if opens and (first.lower() in openers or not rest):
            start, name = start + len(first) + 1, rest
        words = name.split()
        if not words or (len(words) == 1 and words[0].lower() in no_names):
            continue
        if not any(map(str.isupper, name)):
            continue
        if not capitals or (len(words) > 1 and words[0] not in measuring) or _MIXED.search(name):
            yield start, Entity(name, "name")


def is_multi_hop(text: str) -> bool:
    """Whether something has to be found before what is asked about it can be."""
    return bool(lang.own_regex("questions.multi_hop", question_language(text)).search(text.lower()))
