"""Spellings of one thing: fiscal years, quarters, half-years, dates, amounts, large numbers, versions, each with its keys.

A text is indexed by its words and by the keys of what it mentions: `FY22` by `2022`, `second quarter` by `q2`, `3 May
2022` by `date20220503`, `$1.2bn` by `usd1200000000`, `3.1.0` by `v3d1d0`. A question has the key instead of its own
spelling. Keys end in a digit, so that stemming leaves them as they are.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from pincite.text import lang
from pincite.text.quantities import Figure, Value, figures_in, values_in
from pincite.text.units import CURRENCIES

PeriodKind = Literal["year", "quarter", "half"]
Kind = PeriodKind | Literal["date", "amount", "number", "version"]

MIN_LAST_CENTURY = 70
"""Years of two digits from which on the last century is meant."""
_YEAR = r"(?:19|20)\d\d"
_DIGIT = re.compile(r"\d")
_BLOCK_END = re.compile(r"\n(?=[ \t]*(?:\n|[|#*•>-]))")
_PARTS: tuple[tuple[PeriodKind, str], ...] = (("quarter", "periods.quarters"), ("half", "periods.halves"))
_OTHER_DOLLAR = re.compile(r"\w\$")
"""`A$` and `C$` are no US dollars."""
_AMOUNT = re.compile(r"(eur|usd|chf|gbp|jpy)(m?\d+(?:d\d+)?)")
_DIGITS = re.compile(r"\d(?:[\d.,]*\d)?")
_VERSION = re.compile(r"(?<![\w.,])[vV]?(\d{1,5}(?:\.\d{1,5}){2,3})(?![\w%]|[.,]\d)")
_THOUSANDS = re.compile(r"\d{1,3}(?:\.\d{3})+")
_MONTHS = 12
_LARGE = 1000
"""Number from which on digits are grouped and scales are used."""
_PERCENT, _POUND = "pct", "pound"


@dataclass(frozen=True, slots=True)
class Equivalent:
    """A span of a text with other spellings.

    `asked` are the words that stand for it in a question, `held` the keys of a text that mentions it, and `bare` is its
    number as written.
    """

    kind: Kind
    start: int
    end: int
    text: str
    asked: tuple[str, ...]
    held: tuple[str, ...]
    bare: str = ""


@lru_cache(maxsize=2048)
def equivalents(text: str, language: str) -> tuple[Equivalent, ...]:
    """The spans of a text with other spellings, in order and without overlaps."""
    periods = list(_periods(text, language))
    values = (
        one
        for start, block in _blocks_with_digits(text)
        for value in values_in(block, language)
        if not _OTHER_DOLLAR.match(block, max(0, value.start - 1))
        if (one := _of_value(value, start, language))
    )
    found = _without_overlaps(periods, values)
    return tuple(sorted(_without_overlaps(found, _versions(text)), key=lambda one: one.start))


def _without_overlaps(taken: list[Equivalent], further: Iterable[Equivalent]) -> list[Equivalent]:
    """The first ones, and those of the others that overlap none of them."""
    free = (one for one in further if not any(one.start < other.end and other.start < one.end for other in taken))
    return [*taken, *free]


def _versions(text: str) -> Iterator[Equivalent]:
    """The versions of a text: three or four numbers between dots that group no thousands."""
    for match in _VERSION.finditer(text):
        if _THOUSANDS.fullmatch(match[1]):
            continue
        key = "v" + match[1].replace(".", "d")
        yield Equivalent("version", *match.span(), match.group(), (key,), (key,))


def _blocks_with_digits(text: str) -> Iterator[tuple[int, str]]:
    """The paragraphs and rows of a text with a digit, each after its offset, on one line.

    Only these have dates and amounts with other spellings.
    """
    start = 0
    for block in _BLOCK_END.split(text):
        if _DIGIT.search(block):
            yield start, block.replace("\n", " ")
        start += len(block) + 1


def keys_in(text: str, language: str) -> list[str]:
    """The keys of everything in a text that has other spellings, with repetitions."""
    return [key for one in equivalents(text, language) for key in one.held]


def normalised(question: str, language: str) -> str:
    """A question with the keys in place of its own spellings."""
    for one in reversed(equivalents(question, language)):
        question = f"{question[: one.start]}{' '.join(one.asked)}{question[one.end :]}"
    return question


def other_units(key: str, keys: frozenset[str]) -> frozenset[str]:
    """The keys of the same number in another unit: `eur350000000` for `usd350000000`."""
    found = _AMOUNT.fullmatch(key)
    return frozenset(
        one for one in keys if found and (other := _AMOUNT.fullmatch(one)) and other[2] == found[2] and one != key
    )


def _periods(text: str, language: str) -> Iterator[Equivalent]:
    """The fiscal years, quarters and half-years of a text."""
    languages = lang.recognised(language)
    for match in _fiscal_year_pattern(languages).finditer(text):
        years = tuple(_full_year(one) for one in match.groups() if one)
        yield Equivalent("year", *match.span(), match.group(), years[-1:], years)
    for kind, key in _PARTS:
        for match in _part_pattern(kind, key, languages).finditer(text):
            number = next(name[-1] for name, found in match.groupdict().items() if found)
            digits = re.search(r"\d\d$", match.group())
            keys = (f"{kind[0]}{number}", *([_full_year(digits.group())] if digits else []))
            yield Equivalent(kind, *match.span(), match.group(), keys, keys)


@cache
def _fiscal_year_pattern(languages: tuple[str, ...]) -> re.Pattern[str]:
    """A fiscal year with its one or two years, or with the day it ended."""
    fiscal, ended = (lang.alternatives(f"periods.{key}", languages[-1]) for key in ("fiscal_year", "year_ended"))
    return re.compile(
        rf"(?<!\w)(?:(?:{fiscal})[ ’'-]{{0,2}}({_YEAR}|\d\d)(?:\s?[/–-]\s?({_YEAR}|\d\d))?"
        rf"|(?:{ended}) [^.;\n]{{1,20}}?\b({_YEAR}))(?![\w%]|[.,]\d)",
        re.IGNORECASE,
    )


@cache
def _part_pattern(kind: PeriodKind, key: str, languages: tuple[str, ...]) -> re.Pattern[str]:
    """A quarter or a half of a year in letters or words; the group that matches ends in its number."""
    letter, parts = ("[Qq]", 4) if kind == "quarter" else ("H", 2)
    alone = "?" if kind == "quarter" else ""  # `2H` may be two hours
    choices = []
    for number in range(1, parts + 1):
        written = [
            rf"{letter}{number}(?:\s?[’'/]\s?\d\d)?",
            rf"{number}{letter}(?:[’'/]?\d\d){alone}",
            *(f"(?i:{_nth(number, key, one)})" for one in languages),
        ]
        choices.append(f"(?P<n{number}>{'|'.join(written)})")
    return re.compile(rf"(?<![\w.,])(?:{'|'.join(choices)})(?!\w)")


def _nth(number: int, key: str, language: str) -> str:
    """The pattern of a number in a list of patterns; one that never matches where the language has none."""
    found = lang.patterns(key, language)
    return found[number - 1] if len(found) >= number else "(?!)"


def _full_year(written: str) -> str:
    if len(written) > 2:
        return written
    return f"{19 if int(written) >= MIN_LAST_CENTURY else 20}{written}"


def _of_value(value: Value, offset: int, language: str) -> Equivalent | None:
    """A date, an amount or a large number as an equivalent; None for what has one spelling only."""
    figures = figures_in(value.text, language)
    place = offset + value.start, offset + value.end, value.text
    if value.kind == "time":
        day = next((one for one in figures if one.kind == "day"), None)
        return _date(day, place, language) if day else None
    numbers = [one for one in figures if one.kind == "number"]
    if value.kind == "duration" or len(numbers) != 1 or numbers[0].spelt:
        return None
    [figure] = numbers
    bare = "".join(_DIGITS.findall(value.text)[:1])
    if value.kind == "percent":
        return _amount(_PERCENT, figure.bare, bare, place, language)
    unit = "GBP" if value.kind == "money" and figure.unit == _POUND else figure.unit
    if unit in CURRENCIES or (value.kind == "quantity" and unit):
        return _amount(re.sub(r"\W", "", unit.lower()) or "deg", figure.values, bare, place, language)
    number = _chosen(figure.values, bare, language)
    if value.kind == "number" and number >= _LARGE and _key("", number) != bare:
        return Equivalent("number", *place, (_key("", number),), (_key("", number),), bare)
    return None


def _date(day: Figure, place: tuple[int, int, str], language: str) -> Equivalent | None:
    """A day with or without its year; in figures with slashes, English names the month first."""
    readings = [(month, date) for month, date in (divmod(int(value), 100) for value in day.values) if month <= _MONTHS]
    first = int(match[1]) if (match := re.match(r"(\d+)/", place[2])) else 0
    readings.sort(key=lambda one: (one[0] != first) == (language == lang.FALLBACK))
    held = tuple(f"date{year}{month:02}{date:02}" for month, date in readings if date for year in (day.year or "", ""))
    return Equivalent("date", *place, held[:1], tuple(dict.fromkeys(held))) if held else None


def _amount(unit: str, values: frozenset[float], bare: str, place: tuple[int, int, str], language: str) -> Equivalent:
    held = tuple(_key(unit, value) for value in sorted(values))
    return Equivalent("amount", *place, (_key(unit, _chosen(values, bare, language)),), held, bare)


def _chosen(values: frozenset[float], bare: str, language: str) -> float:
    """The reading of a number by the mark that groups thousands in its language."""
    mark = lang.message("tables.grouping_mark", language)
    return max(values) if mark in bare else min(values)


def _key(unit: str, value: float) -> str:
    """A unit and a number as one word: `eur1200d5`."""
    sign = "m" if value < 0 else ""
    return unit + sign + f"{abs(value):.6f}".rstrip("0").rstrip(".").replace(".", "d")
