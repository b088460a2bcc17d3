"""What can be an answer by itself, found in a text: times, numbers, amounts. German and English."""

import re
from dataclasses import dataclass
from typing import Literal

LOOKED_AT = 4000
"""Letters of a text that are looked at: a sentence is shorter, and what is longer is none."""

Kind = Literal["time", "duration", "money", "percent", "quantity", "number"]


@dataclass(frozen=True, slots=True)
class Value:
    """A stretch of a text that says when, how much or how many."""

    kind: Kind
    start: int
    end: int
    text: str


_MONTHS = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"Januar|Jänner|Februar|März|Mai|Juni|Juli|Oktober|Dezember)"
)
_DAYS = r"(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|(?:Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonntag)s?)"
_ONES_EN = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen)"
)
_TENS_EN = r"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)"
_ONES_DE = r"(?:zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|(?:drei|vier|fünf|sech|sieb|acht|neun)zehn)"
_TENS_DE = r"(?:(?:(?:ein|zwei|drei|vier|fünf|sechs|sieben|acht|neun)und)?(?:zwan|vier|fünf|sech|sieb|acht|neun)zig|(?:(?:ein|zwei|drei|vier|fünf|sechs|sieben|acht|neun)und)?dreißig)"
_LARGE = r"(?:(?:hundred|thousand|million|billion|trillion|dozen)s?|hundert|tausend|Million(?:en)?|Milliarden?|Billion(?:en)?|Dutzend)"
_FIGURE = r"\d{1,3}(?:[.,  ’']\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?"
_SPELT = rf"{_TENS_EN}(?:-{_ONES_EN})?|{_TENS_DE}|{_ONES_EN}|{_ONES_DE}|{_LARGE}"
_NUMBER = rf"(?:(?:{_FIGURE})[½¼¾]?|{_SPELT})(?:[ -](?:and |a )?{_LARGE})*"
_RANGE = rf"{_NUMBER}(?:\s?(?:–|-|to|bis|and|und)\s?{_NUMBER})?"

_SPANS = (
    r"(?:(?:second|minute|hour|day|night|week|month|year|decade|centur(?:y|ie)|millenni(?:um|a))s?|"
    r"(?:Sekunde|Minute|Stunde|Woche)n?|(?:Tag|Monat|Jahr|Jahrzehnt|Jahrhundert|Jahrtausend)(?:e[ns]?|s)?|Nächten?|min|Min\.|ms)"
)
_UNITS = (
    r"(?:mm|cm|km²|km/h|km|kg|mg|g|m²|m³|m|l|ml|kW|MW|GW|kWh|W|V|A|Hz|kHz|MHz|GHz|GB|MB|kB|TB|K|bar|hPa|mph|ha|ft|"
    r"°\s?[CFK]?|(?:kilo|centi|milli)?(?:met(?:re|er)|gram|lit(?:re|er)|watt)s?|inch(?:es)?|feet|foot|miles?|acres?|tons?|tonnes?|pounds?|"
    r"degrees?|knots?|volts?|amps?|amperes?|square \w+|cubic \w+|Meter[n]?|(?:Kilo|Zenti|Milli)meter[n]?|(?:Kilo)?[Gg]ramm|Liter[n]?|"
    r"Quadrat\w+|Kubik\w+|Grad|Tonnen?|Hektar|Meilen?|Fuß|Ampere|Volt|Watt|Pfund|Zoll)"
)
_MONEY = r"(?:dollars?|euros?|pounds?|francs?|cents?|pence|yen|USD|EUR|GBP|CHF|Euro|Dollar|Pfund|Franken|Rappen|Cent|Mark|Kronen|Yen|Rubel)"

_PATTERNS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("percent", re.compile(rf"\b{_RANGE}\s?(?:%|percent\b|per cent\b|Prozent\b)")),
    (
        "money",
        re.compile(rf"(?:[$€£¥]|US\$|\bCHF|\bEUR|\bUSD)\s?{_NUMBER}|\b{_NUMBER}\s?(?:[$€£¥]|(?:[\w-]+ )?{_MONEY}\b)"),
    ),
    (
        "time",
        re.compile(
            rf"\b\d{{4}}-\d{{2}}-\d{{2}}\b|\b\d{{1,2}}\.\s?\d{{1,2}}\.\s?(?:\d{{4}}|\d{{2}})?(?!\d)|\b\d{{1,2}}/\d{{1,2}}/\d{{2,4}}\b|"
            rf"\b(?:{_DAYS}(?:,)? (?:the |den |dem )?)?(?:\d{{1,2}}(?:st|nd|rd|th|\.)? (?:of )?{_MONTHS}|{_MONTHS} \d{{1,2}}(?:st|nd|rd|th)?\b)(?:,? \d{{4}})?|"
            rf"\b{_MONTHS},? \d{{4}}\b|\b\d{{1,2}}/\d{{4}}\b|\b\d{{1,2}}[:.]\d{{2}}(?: ?(?:[ap]\.?m\.?|Uhr|h|UTC))?\b(?![.,]?\d)|\b\d{{1,2}} ?(?:[ap]\.?m\.?|Uhr|o'clock)\b|"
            rf"\b(?:1\d{{3}}|20\d{{2}})(?:er|s|['’]s)?\b(?![.,]\d|\s?(?:%|{_UNITS}\b|{_MONEY}\b))(?:\s?[–/-]\s?(?:\d{{4}}|\d{{2}})\b)?|"
            rf"\b\d{{1,4}} (?:AD|BC|BCE|CE|v\. ?Chr\.|n\. ?Chr\.)|\b(?:\d{{1,2}}(?:st|nd|rd|th|\.)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\w+teenth|twentieth|\w+ten|\w+zehnten)[ -](?:centur(?:y|ies)|Jahrhunderts?)\b|"
            rf"\b{_MONTHS}\b|\b{_DAYS}\b"
        ),
    ),
    ("duration", re.compile(rf"\b{_RANGE}(?:[ -](?:and a half |einhalb |working |business |calendar )?|\s){_SPANS}\b")),
    ("quantity", re.compile(rf"(?<![\w.])[-−+]?{_RANGE}[  -]?{_UNITS}(?!\w)")),
    ("number", re.compile(rf"(?<![\w.,]){_NUMBER}(?![\w])", re.IGNORECASE)),
)  # fmt: skip
"""In the order they are looked for; what one has taken is not another's."""


def values_in(text: str) -> list[Value]:
    """Times, amounts and numbers in the order they stand; none overlaps another."""
    found: list[Value] = []
    left = text[:LOOKED_AT]
    for kind, pattern in _PATTERNS:
        for match in list(pattern.finditer(left)):
            found.append(Value(kind, match.start(), match.end(), match.group()))
            left = left[: match.start()] + "\0" * len(match.group()) + left[match.end() :]
    return sorted(found, key=lambda value: value.start)
