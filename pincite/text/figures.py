"""Numbers, amounts, times and dates of a text as values, however they are written, in English and German."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pincite.text.terms import STOP_WORDS, stem
from pincite.text.units import SCALES, SPELT, UNITS

Kind = Literal["number", "time", "day"]
YEAR_DIGITS = 4
ROUNDED = 0.05
"""How far a number may be off where the text says that it is not exact."""

_MONTHS = (
    "jan(?:uary|uar)?", "feb(?:ruary|ruar)?", "mar(?:ch)?|märz|mär", "apr(?:il)?", "may|mai", "june?|juni", "july?|juli",
    "aug(?:ust)?", "sept?(?:ember)?", "o[ck]t(?:ober)?", "nov(?:ember)?", "de[cz](?:ember)?",
)  # fmt: skip
_MONTH = "|".join(_MONTHS)
_MONTH_NUMBERS = [re.compile(month, re.IGNORECASE) for month in _MONTHS]
_SPELT = "|".join(sorted((word for word in SPELT if word not in ("one", "zero")), key=len, reverse=True))
_DIGITS = r"\d{1,3}(?:[.,'’\u00a0\u202f ]\d{3})+(?:[.,]\d{1,2}(?!\d))?(?!\d)|\d+(?:[.,]\d+)?"
_FIGURE = re.compile(
    rf"""(?P<iso>\b\d{{4}}-\d{{2}}-\d{{2}}\b)
    | (?P<dotted>\b\d{{1,2}}\.\ ?\d{{1,2}}\.\ ?\d{{4}}\b | (?<=\b[avz][mou][mnr]\ )\d{{1,2}}\.\ ?\d{{1,2}}\.(?!\d))
    | (?P<slashed>\b\d{{1,2}}/\d{{1,2}}/\d{{2,4}}\b | \b\d{{1,2}}/\d{{4}}\b)
    | (?P<day>\b(?P<d1>\d{{1,2}})(?:st|nd|rd|th|\.)?\ (?:of\ )?(?=(?-i:[A-ZÄ]))(?P<m1>{_MONTH})\b\.?)
    | (?P<month>\b(?=(?-i:[A-ZÄ]))(?P<m2>{_MONTH})\b\.?(?:\ (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\.?\d|\ ?%))?)
    | (?P<clock>\b\d{{1,2}}:\d{{2}}(?::\d{{2}})?(?:\ ?[ap]\.?m\b\.?)? | \b\d{{1,2}}(?:\.\d{{2}})?\ ?(?:uhr\b|o'clock|[ap]m\b|[ap]\.m\.))
    | (?P<number>(?:(?<![\w.,/–−-])[-−]?|(?<=(?-i:[\da-z])[/–−-]))(?:{_DIGITS})[½¼¾⅓⅔]?(?=[^\w]|[a-zA-Z°]{{1,4}}\b|$)
        | (?<!\w)[½¼¾⅓⅔])
    | (?P<word>(?<![\w-])(?:{_SPELT})(?![\w-]))""",
    re.VERBOSE | re.IGNORECASE,
)  # fmt: skip
_YEAR = re.compile(r",? (\d{4})\b")
_AMBIGUOUS = ("May", "March", "Mar")
_IN_A_MONTH = re.compile(
    r"\b(?:in|of|since|until|by|from|to|between|and|or|early|late|mid|last|next|this|every|each)[ -]$", re.IGNORECASE
)
_BEFORE = re.compile(r"(?:([€$£¥])|\b(EUR|USD|CHF|GBP|JPY|Fr\.))\s?$")
_AFTER = re.compile(r"(?:(?:s|st|nd|rd|th)\b)?(?:\s?(%|€|\$|£|°\s?[CF]\b|°|km/h|m/s)|[\s-]?([^\W\d_]+))")
_NOT_EXACT = re.compile(
    r"\b(?:about|around|roughly|approximately|nearly|almost|some|over|more than|up to|rund|etwa|ca\.?|circa|fast|knapp|"
    r"über|mehr als|ungefähr|gut)\s+(?:[€$£]\s?)?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Figure:
    """A number, a time of day (in minutes) or a day of the year (month × 100 + day, or the month alone).

    `values` are all its readings in `unit`: `1.500` is fifteen hundred or one and a half. `noun` is the stem of the
    word it counts, `bare` how it stands without its unit, `year` that of a day, and `loose` says that it is not exact.
    """

    kind: Kind
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
    """Every figure of a text, in the order they stand."""
    return tuple(figure for match in _FIGURE.finditer(text) for figure in _read(match, text, language))


def _read(match: re.Match[str], text: str, language: str) -> Iterator[Figure]:
    kind, shown = match.lastgroup, match.group().strip()
    shown = shown if match["clock"] else shown.rstrip(".")
    if match["number"] or match["word"]:
        yield _number(match, text, language)
    elif match["clock"]:
        yield Figure("time", frozenset({_minutes(shown)}), shown)
    elif match["day"]:
        yield _day(_month_of(match["m1"]), int(match["d1"]), shown, _year_after(text, match))
    elif match["month"]:
        if _is_month(text, match):
            yield _day(_month_of(match["m2"]), int(match["d2"] or 0), shown, _year_after(text, match))
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


def _month_of(name: str) -> int:
    return next(n for n, pattern in enumerate(_MONTH_NUMBERS, start=1) if pattern.match(name))


def _is_month(text: str, match: re.Match[str]) -> bool:
    """Whether a month's name is one: `May` and `March` begin sentences as well."""
    plain = match["m2"] not in _AMBIGUOUS or match["d2"] is not None or _year_after(text, match) > 0
    return plain or bool(_IN_A_MONTH.search(text[max(0, match.start() - 10) : match.start()]))


def _minutes(shown: str) -> float:
    hour, minute = (*map(int, re.findall(r"\d+", shown)), 0)[:2]
    afternoon = re.search(r"p\.?m", shown, re.IGNORECASE)
    return float((hour % 12 + 12 if afternoon else hour) * 60 + minute)


def _number(match: re.Match[str], text: str, language: str) -> Figure:
    """A number with what stands around it: a scale, a unit or what it counts, a currency, and whether it is exact."""
    written = match.group()
    values = {float(SPELT[written.lower()])} if match["word"] else _readings(written)
    end, shown = match.end(), written
    following = _AFTER.match(text, end)
    scale = SCALES.get(language, SCALES["en"]).get((following[2] or "").lower()) if following else None
    if following and scale:
        values, shown, end = {value * scale for value in values}, text[match.start() : following.end()], following.end()
        following = _AFTER.match(text, end + (text[end : end + 1] == "."))
    unit, size, noun = "", 1.0, ""
    if following:
        word = (following[1] or following[2]).replace(" ", "").lower()
        unit, size = UNITS.get(word, ("", 1.0))
        noun = "" if unit or word in STOP_WORDS.get(language, ()) else stem(word, language)
        shown = text[match.start() : following.end()] if unit else shown
    before = _BEFORE.search(text[max(0, match.start() - 4) : match.start()])
    if before and not unit:
        unit = next(UNITS[sign][0] for sign in ((before[1] or before[2]).lower().strip("."),))
        shown = before.group() + shown
    if unit in ("°", "%") and re.match(
        r"\s*(?:celsius|c\b)", text[following.end() :] if following else "", re.IGNORECASE
    ):
        unit = "°C"
    loose = bool(_NOT_EXACT.search(text[max(0, match.start() - 20) : match.start()]))
    readings = frozenset(values)
    return Figure(
        "number", frozenset(value * size for value in readings), " ".join(shown.split()), unit, noun, readings,
        spelt=bool(match["word"]), loose=loose,
    )  # fmt: skip


def _readings(written: str) -> set[float]:
    """What digits may mean: a comma or a point with three digits after it parts thousands, or is decimal."""
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


def agree(claimed: Figure, told: Figure) -> bool:
    """Whether a figure that is told bears out one that is claimed."""
    if claimed.kind != told.kind:
        return False
    if claimed.kind == "day":
        if claimed.year and told.year and claimed.year != told.year:
            return False
        return bool(claimed.values & told.values) or any(
            value % 100 == 0 and any(value // 100 == other // 100 for other in told.values) for value in claimed.values
        )
    if claimed.unit and told.unit and claimed.unit != told.unit:
        return False
    both = bool(claimed.unit) == bool(told.unit)
    mine, theirs = (claimed.values, told.values) if both else (claimed.bare, told.bare)
    if claimed.kind == "time":
        mine, theirs = claimed.values, told.values
    return any(_near(one, other, loose=claimed.loose and not told.loose) for one in mine for other in theirs)


def _near(one: float, other: float, *, loose: bool) -> bool:
    return abs(one - other) <= (ROUNDED if loose else 1e-9) * max(abs(one), abs(other), 1e-12)


def unmatched(claimed: Iterable[Figure], told: Iterable[Figure]) -> list[Figure]:
    """The claimed figures that none of those told bears out."""
    held = tuple(told)
    return [one for one in claimed if not any(agree(one, other) for other in held)]


def rival(claimed: Figure, told: Iterable[Figure]) -> Figure | None:
    """The figure that is told in the place of one that is claimed: of its kind, and of its unit or what it counts."""
    alike = [one for one in told if one.kind == claimed.kind and not agree(claimed, one)]
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
