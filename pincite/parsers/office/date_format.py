"""Formats the dates and times of a spreadsheet, given as a number of days and a format code."""

import re
from datetime import datetime, timedelta
from functools import lru_cache

_IGNORED_CODES = re.compile(r'"[^"]*"?|\\.|_.|\*.|\[(?!(?:h+|m+|s+)\])[^\]]*\]', re.IGNORECASE | re.DOTALL)
"""Literals and modifiers, which are ignored when a code is tested for date fields."""
_DATE = re.compile(r"[ymdhs]|am/pm|a/p", re.IGNORECASE)
_TOKEN = re.compile(
    r"""  "(?P<quoted>[^"]*)"? | \\(?P<escaped>.) | _. | \*. | \[(?P<elapsed>h+|m+|s+)\]
      | \[\$[^\]-]*-(?P<locale>[^\]]*)\] | \[[^\]]*\]
      | (?P<half>am/pm|a/p) | (?P<field>y+|m+|d+|h+|s+) | (?P<part>\.0+) | (?P<other>.) """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_LAST_DAY = 2_958_466
"""The first day of the year 10000, as a number of days; later dates are not supported."""
_SECONDS_PER_DAY = 86_400

_MONTHS = (
    "January February March April May June July August September October November December".split(),
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split(),
)
_DAYS = (
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
    "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag".split(),
)
_GERMAN = 0x07
"""The primary language of a Windows locale id such as 407."""

_Token = tuple[str, str]


@lru_cache(maxsize=1024)
def is_date(code: str) -> bool:
    """Whether a section of a format code formats dates or times."""
    bare = _IGNORED_CODES.sub("", code)
    return (
        "general" not in bare.lower()
        and not re.search(r"[0#?]", re.sub(r"\.0+", "", bare))
        and bool(_DATE.search(bare))
    )


def format_date(days: float, code: str, *, since_1904: bool) -> str:
    """A number of days as its format code shows it; empty where it is not a valid date."""
    if not 0 <= days < _LAST_DAY:
        return ""
    tokens = _tokens(code)
    parts = next((len(text) - 1 for kind, text in tokens if kind == "part"), 0)
    seconds = round(days * _SECONDS_PER_DAY, min(parts, 3))
    moment = _moment(seconds, since_1904)
    half = any(kind == "half" for kind, _ in tokens)
    german = any(kind == "locale" and _is_german(text) for kind, text in tokens)
    shown = "".join(_piece(token, moment, seconds, half=half, german=german) for token in tokens)
    return " ".join(shown.split())


def _moment(seconds: float, since_1904: bool) -> datetime:
    if since_1904:
        return datetime(1904, 1, 1) + timedelta(seconds=seconds)
    # Spreadsheets treat 1900 as a leap year, so days before March 1900 count from one day later.
    first = datetime(1899, 12, 30) if seconds >= 60 * _SECONDS_PER_DAY else datetime(1899, 12, 31)
    return first + timedelta(seconds=seconds)


@lru_cache(maxsize=1024)
def _tokens(code: str) -> tuple[_Token, ...]:
    """The tokens of a format code; `m` means minutes next to hours or seconds, else months."""
    found: list[_Token] = []
    for match in _TOKEN.finditer(code):
        kind = match.lastgroup or ""
        if kind in ("quoted", "escaped", "other"):
            found.append(("text", match[kind]))
        elif kind:
            found.append((kind, match[kind].lower()))
        elif match[0].startswith("_"):
            found.append(("text", " "))
    clock = [at for at, (kind, text) in enumerate(found) if kind in ("field", "elapsed") and text[0] in "ymdhs"]
    for before, at, after in zip([None, *clock], clock, [*clock[1:], None], strict=False):
        if found[at][0] == "field" and found[at][1][0] == "m":
            after_hour = before is not None and found[before][1][0] == "h"
            before_second = after is not None and found[after][1][0] == "s"
            if after_hour or before_second:
                found[at] = ("minute", found[at][1])
    return tuple(found)


def _is_german(locale: str) -> bool:
    return bool(re.fullmatch(r"[0-9a-f]{1,8}", locale)) and int(locale, 16) & 0x3FF == _GERMAN


def _piece(token: _Token, moment: datetime, seconds: float, *, half: bool, german: bool) -> str:
    kind, text = token
    if kind == "text":
        return text
    if kind == "half":
        return "AM" if moment.hour < 12 else "PM"
    if kind == "elapsed":
        return f"{int(seconds // {'h': 3600, 'm': 60, 's': 1}[text[0]]):0{len(text)}}"
    if kind == "part":
        return f"{seconds % 1:.{len(text) - 1}f}"[1:]
    if kind == "minute":
        return f"{moment.minute:0{min(len(text), 2)}}"
    return _field(text, moment, half=half, german=german) if kind == "field" else ""


def _field(text: str, moment: datetime, *, half: bool, german: bool) -> str:
    width = len(text)
    if text[0] == "y":
        return f"{moment.year % 100:02}" if width <= 2 else f"{moment.year:04}"
    if text[0] == "m":
        return _month_name(_MONTHS[german][moment.month - 1], width) if width > 2 else f"{moment.month:0{width}}"
    if text[0] == "d":
        if width <= 2:
            return f"{moment.day:0{width}}"
        name = _DAYS[german][moment.weekday()]
        return name if width > 3 else name[: 2 if german else 3]
    hour = (moment.hour % 12 or 12) if half else moment.hour
    return f"{hour if text[0] == 'h' else moment.second:0{min(width, 2)}}"


def _month_name(month: str, width: int) -> str:
    return month[0] if width == 5 else month if width == 4 else month[:3]
