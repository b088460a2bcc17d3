"""Numbers, amounts, times and dates of a text: as spans that answer a question, and as values that can be compared.

Both readings share the patterns of numbers, months, units and scales, which come from the language files.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from pincite.text import lang
from pincite.text.terms import stem, stop_words
from pincite.text.units import (
    CURRENCIES,
    MONEY_SCALES,
    POUND,
    TIME_UNITS,
    cardinal_words,
    number_words,
    other_units,
    scales,
    signs_of,
    unit_names,
    units,
)

MAX_TEXT_CHARS = 4000
"""Characters of a text that are searched for values; a sentence is shorter."""
ROUNDING_TOLERANCE = 0.05
"""Relative error that is allowed where a text says that its number is not exact."""
YEAR_DIGITS = 4

ValueKind = Literal["time", "duration", "money", "percent", "quantity", "number"]
FigureKind = Literal["number", "time", "day"]

_GROUPED = r"\d{1,3}(?:[.,'’\u00a0\u202f ]\d{3})+"
_FRACTIONS = "½¼¾⅓⅔"
_OTHER_UNITS = r"km²|m²|m³|GW|K|bar|hPa|ha|°\s?[CFK]?|(?:kilo|centi|milli)?(?:met(?:re|er)|gram|lit(?:re|er)|watt)s?"
"""Units that the spans of answers need and that are not compared."""


@dataclass(frozen=True, slots=True)
class Value:
    """A span of a text that says when, how long, how much or how many."""

    kind: ValueKind
    start: int
    end: int
    text: str


def values_in(text: str, language: str = "") -> list[Value]:
    """The times, amounts and numbers of a text, in order and without overlaps."""
    found: list[Value] = []
    left = text[:MAX_TEXT_CHARS]
    for kind, pattern in _value_patterns(lang.recognised(language)):
        for match in list(pattern.finditer(left)):
            found.append(Value(kind, match.start(), match.end(), match.group()))
            left = left[: match.start()] + "\0" * len(match.group()) + left[match.end() :]
    return sorted(found, key=lambda value: value.start)


@cache
def _value_patterns(languages: tuple[str, ...]) -> tuple[tuple[ValueKind, re.Pattern[str]], ...]:
    """The patterns of all kinds in the order they are searched for; a span belongs to the first kind that matches."""
    language = languages[-1]

    def words(key: str) -> str:
        return f"(?:{lang.alternatives(key, language)})"

    months, shortened = (
        lang.any_of(
            form
            for one in languages
            for group in lang.sequence(key, one)
            for name in group.split(",")
            if name != "-"
            for form in _cases(name)
        )
        for key in ("dates.months", "dates.month_abbreviations")
    )
    dated = rf"(?:{months}|{shortened}\b\.?)"
    days, suffixes = words("dates.weekdays"), words("dates.ordinal_suffixes")
    large = lang.any_of(form for one in languages for word in scales(one) for form in _cases(word))
    digits = rf"{_GROUPED}(?:[.,]\d+)?|\d+(?:[.,]\d+)?"
    number = (
        rf"(?:(?:{digits})[{_FRACTIONS}]?|{lang.any_of(cardinal_words(language))}|{large})"
        rf"(?:[ -]{words('numbers.before_scale')}?{large})*"
    )
    amount = rf"{number}(?:\s?(?:–|-|{words('numbers.range')})\s?{number})?"
    time_units = rf"(?:{_named(TIME_UNITS, language)}|min|ms|{words('units.time')})"
    signs = lang.any_of(signs_of(other_units()))
    other = rf"(?:{_named(other_units(), language)}|{signs}|{_OTHER_UNITS}|{words('units.amounts')})"
    money = rf"(?:{_named(CURRENCIES | {POUND}, language)}|USD|EUR|GBP|CHF|JPY|{words('units.money')})"
    short = rf"(?:\s?(?i:{lang.any_of(MONEY_SCALES)})\b)?"
    clock = rf"(?:[ap]\.?m\.?|{words('dates.clock')}|h|UTC)"
    date = rf"(?:\d{{1,2}}(?:{suffixes}|\.)? {words('dates.before_month_name')}?{dated}|{dated} \d{{1,2}}{suffixes}?\b)"
    time = (
        r"\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}\.\s?\d{1,2}\.\s?(?:\d{4}|\d{2})?(?!\d)|\b\d{1,2}/\d{1,2}/\d{2,4}\b",
        rf"\b(?:{days},? {words('dates.after_weekday')}?)?{date}(?:,? \d{{4}})?",
        rf"\b{dated},? \d{{4}}\b|\b\d{{1,2}}/\d{{4}}\b",
        rf"\b\d{{1,2}}[:.]\d{{2}}(?: ?(?i:{clock}))?\b(?![.,]?\d)",
        rf"\b\d{{1,2}} ?(?i:[ap]\.?m\.?|{words('dates.clock')})\b",
        rf"\b{words('dates.clock_forms')}\b",
        rf"\b(?:1\d{{3}}|20\d{{2}}){words('dates.decade_suffixes')}?\b(?![.,]\d|\s?(?:%|{other}\b|{money}\b))"
        r"(?:\s?[–/-]\s?(?:\d{4}|\d{2})\b)?",
        rf"\b\d{{1,4}} {words('dates.era')}",
        rf"\b(?:\d{{1,2}}(?:{suffixes}|\.)|{words('dates.ordinal_centuries')})[ -]{words('dates.century')}\b",
        rf"\b{months}\b|\b{days}\b",
    )
    return (
        ("percent", re.compile(rf"\b{amount}\s?(?:%|{words('numbers.percent')}\b)")),
        (
            "money",
            re.compile(
                rf"(?:(?:\bUS)?\$|[€£¥]|\b(?:CHF|EUR|USD|GBP|JPY))\s?{number}{short}|\b{number}{short}\.?\s?(?:[$€£¥]|(?:[\w-]+ )?{money}\b)"
            ),
        ),
        ("time", re.compile("|".join(time))),
        ("duration", re.compile(rf"\b{amount}(?:[ -]{words('numbers.before_time_unit')}?|\s){time_units}\b")),
        ("quantity", re.compile(rf"(?<![\w.])[-−+]?{amount}[ \u00a0-]?{other}(?!\w)")),
        ("number", re.compile(rf"(?<![\w.,]){number}(?![\w])", re.IGNORECASE)),
    )


def _cases(word: str) -> tuple[str, str]:
    """A word as it stands within a sentence, and with a capital as German nouns have it."""
    return word, word[:1].upper() + word[1:]


def _named(names: frozenset[str], language: str) -> str:
    """A pattern of the names of these units."""
    return lang.any_of(form for name in names for word in unit_names(name, language) for form in _cases(word))


@dataclass(frozen=True, slots=True)
class Figure:
    """A number, a time of day (in minutes) or a day of the year (month × 100 + day, or the month alone).

    `values` are all its readings in `unit`: `1.500` is fifteen hundred or one and a half. `noun` is the stem of the
    word it counts, `bare` its readings without the unit, `year` the year of a day. `loose` means that the number is not
    exact.
    """

    kind: FigureKind
    values: frozenset[float]
    shown: str
    unit: str = ""
    noun: str = ""
    bare: frozenset[float] = frozenset()
    year: int = 0
    spelt: bool = False
    loose: bool = False


@lru_cache(maxsize=1024)
def figures_in(text: str, language: str) -> tuple[Figure, ...]:
    """Every figure of a text, in order."""
    pattern = _figure_pattern(lang.recognised(language))
    return tuple(figure for match in pattern.finditer(text) for figure in _read(match, text, language))


@cache
def _figure_pattern(languages: tuple[str, ...]) -> re.Pattern[str]:
    language = languages[-1]
    small = frozenset(
        one for other in languages if other in lang.flagged("months_lower_case") for one in months_of(other)
    )
    months = lang.any_of(name for other in languages for name in months_of(other))
    month = rf"(?:(?=(?-i:[A-ZÄ])){months}|{lang.any_of(small)})"
    suffixes, of = (
        f"(?:{lang.alternatives(f'dates.{key}', language)})" for key in ("ordinal_suffixes", "before_month_name")
    )
    clock, forms = (f"(?:{lang.alternatives(f'dates.{key}', language)})" for key in ("clock", "clock_forms"))
    alone = frozenset[str]().union(*(lang.words("numbers.not_alone", one) for one in languages))
    spelt = lang.any_of(word for word in number_words(language) if word not in alone)
    digits = rf"{_GROUPED}(?:[.,]\d{{1,2}}(?!\d))?(?!\d)|\d+(?:[.,]\d+)?"
    return re.compile(
        r"(?P<iso>\b\d{4}-\d{2}-\d{2}\b)"
        r"|(?P<dotted>\b\d{1,2}\. ?\d{1,2}\. ?\d{4}\b|(?<=\b[avz][mou][mnr] )\d{1,2}\. ?\d{1,2}\.(?!\d))"
        r"|(?P<slashed>\b\d{1,2}/\d{1,2}/\d{2,4}\b|\b\d{1,2}/\d{4}\b)"
        rf"|(?P<day>\b(?P<d1>\d{{1,2}})(?:{suffixes}|\.)? {of}?(?P<m1>{month})\b\.?)"
        rf"|(?P<month>\b(?P<m2>{month})\b\.?(?: (?P<d2>\d{{1,2}}){suffixes}?\b(?!\.?\d| ?%))?)"
        r"|(?P<clock>\b\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]\.?m\b\.?)?"
        rf"|\b{forms}\b|\b\d{{1,2}}(?:\.\d{{2}})? ?{clock})"
        rf"|(?P<number>(?:(?<![\w.,/–−-])[-−]?|(?<=(?-i:[\da-z])[/–−-]))(?:{digits})[{_FRACTIONS}]?"
        rf"(?=[^\w]|[a-zA-Z°]{{1,4}}\b|$)|(?<!\w)[{_FRACTIONS}])"
        rf"|(?P<word>(?<![\w-]){spelt}(?![\w-]))",
        re.IGNORECASE,
    )


@cache
def months_of(language: str) -> Mapping[str, int]:
    """The names and abbreviations of the months of a language with their numbers, in lower case."""
    return {
        name.lower(): number
        for key in ("dates.months", "dates.month_abbreviations")
        for number, group in enumerate(lang.sequence(key, language), start=1)
        for name in group.split(",")
        if name != "-"
    }


_YEAR = re.compile(r",? (\d{4})\b")
_CURRENCY_BEFORE = re.compile(r"(?:([€$£¥])|\b(EUR|USD|CHF|GBP|JPY|Fr\.))\s?$")
_CELSIUS = re.compile(r"\s*(?:celsius|c\b)", re.IGNORECASE)


@cache
def _word_after(language: str) -> re.Pattern[str]:
    """The unit or the word after a number, after the ending of an ordinal."""
    suffixes = lang.alternatives("dates.ordinal_suffixes", language)
    return re.compile(rf"(?:(?:s|{suffixes})\b)?(?:\s?(%|€|\$|£|°\s?[CF]\b|°|km/h|m/s)|[\s-]?([^\W\d_]+))")


def _read(match: re.Match[str], text: str, language: str) -> Iterator[Figure]:
    kind, shown = match.lastgroup, match.group().strip()
    shown = shown if match["clock"] else shown.rstrip(".")
    if match["number"] or match["word"]:
        yield _number(match, text, language)
    elif match["clock"]:
        yield Figure("time", frozenset({_minutes(shown)}), shown)
    elif match["day"]:
        yield _day(_month_of(match["m1"], language), int(match["d1"]), shown, _year_after(text, match))
    elif match["month"]:
        if _is_month(text, match, language):
            yield _day(_month_of(match["m2"], language), int(match["d2"] or 0), shown, _year_after(text, match))
    else:
        numbers = [int(part) for part in re.findall(r"\d+", shown)]
        yield from _dated(kind or "", numbers, shown)


def _dated(kind: str, numbers: list[int], shown: str) -> Iterator[Figure]:
    """A date in figures: its day, and its year as a number of its own."""
    year = next((number for number in numbers if number > 31), None)
    rest = [number for number in numbers if number != year]
    if year is not None:
        yield Figure("number", frozenset({float(year)}), str(year), bare=frozenset({float(year)}))
    if len(rest) == 1:
        yield _day(rest[0], 0, shown, year or 0)
    elif len(rest) > 1:
        first, second = rest[:2]
        readings = {"iso": [(first, second)], "dotted": [(second, first)]}.get(kind, [(second, first), (first, second)])
        yield Figure("day", frozenset(float(100 * month + day) for month, day in readings), shown, year=year or 0)


def _day(month: int, day: int, shown: str, year: int) -> Figure:
    return Figure("day", frozenset({float(100 * month + day)}), f"{shown} {year}" if year else shown, year=year)


def _year_after(text: str, match: re.Match[str]) -> int:
    found = _YEAR.match(text, match.end())
    return int(found[1]) if found else 0


def _month_of(name: str, language: str) -> int:
    return next(months[name.lower()] for one in lang.recognised(language) if name.lower() in (months := months_of(one)))


def _is_month(text: str, match: re.Match[str], language: str) -> bool:
    """Whether the name of a month is meant as one: `May` and `March` have other meanings."""
    ambiguous = lang.recognised_words("dates.ambiguous_months", language)
    if match["m2"] not in ambiguous or match["d2"] is not None or _year_after(text, match) > 0:
        return True
    before = lang.regex("dates.before_month", language, r"\b%s[ -]$", re.IGNORECASE)
    return bool(before.search(text[max(0, match.start() - 10) : match.start()]))


def _minutes(shown: str) -> float:
    hour, minute = (*map(int, re.findall(r"\d+", shown)), 0)[:2]
    afternoon = re.search(r"p\.?m", shown, re.IGNORECASE)
    return float((hour % 12 + 12 if afternoon else hour) * 60 + minute)


def _number(match: re.Match[str], text: str, language: str) -> Figure:
    """A number with its scale, its unit or the word it counts, its currency, and whether it is exact."""
    written = match.group()
    values = {number_words(language)[written.lower()]} if match["word"] else _readings(written)
    end, shown = match.end(), written
    after, known = _word_after(language), units(language)
    following = after.match(text, end)
    before = _CURRENCY_BEFORE.search(text[max(0, match.start() - 4) : match.start()])
    known_scales = {**MONEY_SCALES, **scales(language)} if before else scales(language)
    scale = known_scales.get((following[2] or "").lower()) if following else None
    if following and scale:
        values, shown, end = {value * scale for value in values}, text[match.start() : following.end()], following.end()
        following = after.match(text, end + (text[end : end + 1] == "."))
    unit, size, noun = "", 1.0, ""
    if following:
        word = (following[1] or following[2]).replace(" ", "").lower()
        unit, size = known.get(word, ("", 1.0))
        noun = "" if unit or word in stop_words(language) else stem(word, language)
        shown = text[match.start() : following.end()] if unit else shown
    if before and not unit:
        unit = known[(before[1] or before[2]).lower().strip(".")][0]
        shown = before.group() + shown
    if unit in ("°", "%") and following and _CELSIUS.match(text, following.end()):
        unit = "°C"
    inexact = lang.regex("numbers.inexact", language, r"\b%s\s+(?:[€$£]\s?)?$", re.IGNORECASE)
    loose = bool(inexact.search(text[max(0, match.start() - 20) : match.start()]))
    readings = frozenset(values)
    return Figure(
        "number",
        frozenset(value * size for value in readings),
        " ".join(shown.split()),
        unit,
        noun,
        readings,
        spelt=bool(match["word"]),
        loose=loose,
    )


def _readings(written: str) -> set[float]:
    """The readings of digits: a comma or a point before three digits groups thousands, or is decimal."""
    sign = -1.0 if written[0] in "-−" else 1.0
    digits, half = written.lstrip("-−"), 0.0
    if unicodedata.category(digits[-1]) == "No":
        digits, half = digits[:-1], unicodedata.numeric(digits[-1])
    plain = re.sub(r"[^\d.,]", "", digits)
    marks = re.findall(r"[.,]", plain)
    if not marks:
        return {sign * (float(plain or 0) + half)}
    whole, last, tail = plain.rpartition(marks[-1])
    grouped = float(re.sub(r"[.,]", "", plain))
    decimal = float(f"{re.sub(r'[.,]', '', whole)}.{tail}")
    if len(marks) > 1 and len(set(marks)) == 1:
        return {sign * grouped}
    if len(marks) > 1 or len(tail) != 3 or last not in ".,":
        return {sign * decimal}
    return {sign * grouped, sign * decimal}


def agree(claimed: Figure, stated: Figure) -> bool:
    """Whether a figure of the source supports a figure of a claim."""
    if claimed.kind != stated.kind:
        return False
    if claimed.kind == "day":
        if claimed.year and stated.year and claimed.year != stated.year:
            return False
        return bool(claimed.values & stated.values) or any(
            value % 100 == 0 and any(value // 100 == other // 100 for other in stated.values)
            for value in claimed.values
        )
    if claimed.unit and stated.unit and claimed.unit != stated.unit:
        return False
    both = bool(claimed.unit) == bool(stated.unit)
    mine, theirs = (claimed.values, stated.values) if both else (claimed.bare, stated.bare)
    if claimed.kind == "time":
        mine, theirs = claimed.values, stated.values
    return any(_are_close(one, other, loose=claimed.loose and not stated.loose) for one in mine for other in theirs)


def _are_close(one: float, other: float, *, loose: bool) -> bool:
    return abs(one - other) <= (ROUNDING_TOLERANCE if loose else 1e-9) * max(abs(one), abs(other), 1e-12)


def unmatched(claimed: Iterable[Figure], stated: Iterable[Figure]) -> list[Figure]:
    """The claimed figures that no figure of the source supports."""
    source = tuple(stated)
    return [one for one in claimed if not any(agree(one, other) for other in source)]


def rival(claimed: Figure, stated: Iterable[Figure]) -> Figure | None:
    """The figure of the source that contradicts a claimed one: of the same kind, and of the same unit or noun."""
    alike = [one for one in stated if one.kind == claimed.kind and not agree(claimed, one)]
    same = [
        one
        for one in alike
        if one.unit == claimed.unit and (one.unit or one.noun == claimed.noun) and _dates(one) == _dates(claimed)
    ]
    other_unit = [one for one in alike if one.bare & claimed.bare and one.unit and claimed.unit]
    return next(iter((*other_unit, *same, *alike)), None)


def _dates(figure: Figure) -> bool:
    """Whether a bare number may be a year."""
    return figure.kind == "number" and not figure.unit and not figure.noun and len(figure.shown) == YEAR_DIGITS
