"""Units, scales and numbers in words, with their values; a count with its noun and a size in bytes, for messages."""

from collections.abc import Iterator, Mapping
from functools import cache

from pincite.text import lang

_SIGNS: Mapping[str, tuple[str, float, str]] = {
    "s": ("s", 1, "s sec secs"),
    "min": ("s", 60, "min mins"),
    "h": ("s", 3600, "h hr hrs"),
    "day": ("s", 86400, ""),
    "week": ("s", 604800, ""),
    "month": ("month", 1, ""),
    "quarter": ("month", 3, ""),
    "year": ("month", 12, ""),
    "decade": ("month", 120, ""),
    "mm": ("m", 0.001, "mm"),
    "cm": ("m", 0.01, "cm"),
    "m": ("m", 1, "m"),
    "km": ("m", 1000, "km"),
    "mile": ("mile", 1, ""),
    "ft": ("foot", 1, "ft"),
    "inch": ("inch", 1, ""),
    "mg": ("g", 0.001, "mg"),
    "g": ("g", 1, "g"),
    "kg": ("g", 1000, "kg"),
    "t": ("g", 1000000, "t"),
    "ml": ("l", 0.001, "ml"),
    "cl": ("l", 0.01, "cl"),
    "l": ("l", 1, "l"),
    "%": ("%", 1, "%"),
    "°C": ("°C", 1, "°C"),
    "°F": ("°F", 1, "°F"),
    "°": ("°", 1, "°"),
    "km/h": ("km/h", 1, "km/h kmh kph"),
    "m/s": ("m/s", 1, "m/s"),
    "mph": ("mph", 1, "mph"),
    "W": ("W", 1, "W"),
    "kW": ("W", 1000, "kW"),
    "MW": ("W", 1000000, "MW"),
    "Wh": ("Wh", 1, "Wh"),
    "kWh": ("Wh", 1000, "kWh"),
    "V": ("V", 1, "V"),
    "A": ("A", 1, "A"),
    "Hz": ("Hz", 1, "Hz"),
    "kHz": ("Hz", 1e3, "kHz"),
    "MHz": ("Hz", 1e6, "MHz"),
    "GHz": ("Hz", 1e9, "GHz"),
    "B": ("B", 1, ""),
    "kB": ("B", 1e3, "kB KB"),
    "MB": ("B", 1e6, "MB"),
    "GB": ("B", 1e9, "GB"),
    "TB": ("B", 1e12, "TB"),
    "EUR": ("EUR", 1, "€ EUR"),
    "USD": ("USD", 1, "$ USD"),
    "CHF": ("CHF", 1, "CHF Fr"),
    "GBP": ("GBP", 1, "£ GBP"),
    "lb": ("pound", 1, "lb lbs"),
    "JPY": ("JPY", 1, "¥ JPY"),
}
"""By the key of a unit in the language files: its base unit, its size in it, and its signs in all languages."""

TIME_UNITS = frozenset({"s", "min", "h", "day", "week", "month", "quarter", "year", "decade"})
CURRENCIES = frozenset({"EUR", "USD", "CHF", "GBP", "JPY"})
MONEY_SCALES: Mapping[str, float] = {"k": 1e3, "m": 1e6, "mm": 1e6, "mn": 1e6, "b": 1e9, "bn": 1e9, "tn": 1e12}
"""Letters that multiply an amount of money: `$75m`. Elsewhere they are units."""
POUND = "lb"
"""A unit of weight whose name is also a currency."""

_NOT_JOINED = frozenset({"t"})
"""German `zweit` is no two tonnes."""
_FIRST_ORDINAL = 3
"""`first` and `second` have other meanings, so that the language files begin with the third."""


@cache
def units(language: str = "") -> Mapping[str, tuple[str, float]]:
    """By sign or name in lower case: the base unit, and the size of the unit in it."""
    return {
        written.lower(): (base, float(size))
        for name, (base, size, signs) in _SIGNS.items()
        for written in (*signs.split(), *unit_names(name, language))
    }


def signs_of(names: frozenset[str]) -> list[str]:
    """The signs of these units as they are written; without those that are also the ending of a number in words."""
    return [sign for name in _SIGNS if name in names for sign in _SIGNS[name][2].split() if sign not in _NOT_JOINED]


def other_units() -> frozenset[str]:
    """The units that measure neither time nor money nor a percentage."""
    return frozenset(_SIGNS) - TIME_UNITS - CURRENCIES - {"%"}


def unit_names(name: str, language: str = "") -> list[str]:
    """The names of a unit in the languages that apply to a text in this language, in lower case."""
    return [
        word for one in lang.recognised(language) for word in lang.mapping("units.names", one).get(name, "").split()
    ]


@cache
def scales(language: str) -> Mapping[str, float]:
    """The words of a language that multiply the number before them; English where it has none."""
    found = lang.mapping("numbers.scales", language) or lang.mapping("numbers.scales", lang.FALLBACK)
    return {word: float(value) for word, value in found.items()}


@cache
def number_words(language: str = "") -> Mapping[str, float]:
    """Numbers in words with their values: ordinals, cardinals below a hundred, and halves."""
    return {
        form: number
        for makers in (_ordinals, _cardinals, _halves)
        for one in lang.recognised(language)
        for word, number in makers(one)
        for form in _spellings(word)
    }


@cache
def cardinal_words(language: str = "") -> frozenset[str]:
    """The cardinals below a hundred that are an amount by themselves."""
    return frozenset(
        form
        for one in lang.recognised(language)
        for word, _ in _cardinals(one)
        if word not in lang.words("numbers.no_amount", one)
        for form in _spellings(word)
    )


def _spellings(word: str) -> tuple[str, str, str]:
    """A number as it may be spelt: `dreissig` as well as `dreißig`, `twenty five` as well as `twenty-five`."""
    return word, word.replace("ß", "ss"), word.replace("-", " ")


def _cardinals(language: str) -> Iterator[tuple[str, float]]:
    small = lang.sequence("numbers.cardinals", language)
    forms = lang.mapping("numbers.forms", language)
    yield from ((word, float(number)) for number, word in enumerate(small))
    for ten, tens in enumerate(lang.sequence("numbers.tens", language), start=2):
        yield tens, 10.0 * ten
        for one in range(1, 10):
            word = forms.get("one", small[one]) if one == 1 else small[one]
            yield forms["compound"].format(tens=tens, one=word), 10.0 * ten + one
    yield from ((word, float(value)) for word, value in lang.mapping("numbers.irregular", language).items())


def _halves(language: str) -> Iterator[tuple[str, float]]:
    """`dreieinhalb`, `three and a half`."""
    forms = lang.mapping("numbers.forms", language)
    yield from ((word, float(value)) for word, value in lang.mapping("numbers.others", language).items())
    if "half" in forms:
        for number, word in enumerate(lang.sequence("numbers.cardinals", language)):
            yield forms["half"].format(number=forms.get("one", word) if number == 1 else word), number + 0.5


def _ordinals(language: str) -> Iterator[tuple[str, float]]:
    endings = lang.sequence("numbers.ordinal_endings", language) or ("",)
    for number, word in enumerate(lang.sequence("numbers.ordinals", language), start=_FIRST_ORDINAL):
        yield from ((word + ending, float(number)) for ending in endings)


def count(number: int, one: str, many: str = "") -> str:
    """`1 passage`, `2 passages`, `1,200 passages`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(number: float) -> str:
    """A size in bytes with a unit: `1.2 MB`."""
    units = ["bytes", "KB", "MB", "GB", "TB"]
    while number >= 1024 and len(units) > 1:
        number, units = number / 1024, units[1:]
    whole = units[0] == "bytes" or number >= 100
    return f"{number:,.0f} {units[0]}" if whole else f"{number:.1f} {units[0]}"
