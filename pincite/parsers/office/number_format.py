"""Formats the numbers and dates of a spreadsheet by their format codes."""

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import lru_cache

from pincite.parsers.office.date_format import format_date, is_date

BUILT_IN = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: "$#,##0;-$#,##0", 6: "$#,##0;-$#,##0",
    7: "$#,##0.00;-$#,##0.00", 8: "$#,##0.00;-$#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?",
    13: "# ??/??", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm",
    21: "h:mm:ss", 37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;(#,##0.00)",
    41: '#,##0;(#,##0);"-"', 42: '$#,##0;$(#,##0);$"-"', 43: '#,##0.00;(#,##0.00);"-"',
    44: '$#,##0.00;$(#,##0.00);$"-"', 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
    # These depend on the reader's locale; ISO order is unambiguous everywhere.
    14: "yyyy-mm-dd", 22: "yyyy-mm-dd hh:mm", **dict.fromkeys([*range(27, 37), *range(50, 59)], "yyyy-mm-dd"),
}  # fmt: skip
"""The built-in format codes, which files refer to by number."""

_TOKEN = re.compile(
    r"""  "(?P<quoted>[^"]*)"? | \\(?P<escaped>.) | _. | \*. | \[\$(?P<currency>[^\]-]*)[^\]]*\]
      | \[(?P<condition>(?:[<>]=?|=|<>)-?[\d.]+)\] | \[[^\]]*\] | (?P<general>General)
      | (?P<exponent>[eE][+-][0#?]+) | (?P<digit>[0#?]) | (?P<sign>[.,%/@]) | (?P<other>.) """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"([<>=]+)(-?[\d.]+)")
_MAX_CODE_CHARS = 400
"""Characters of a format code that are used."""
_MAX_DECIMALS = 30
_DIGITS = frozenset("0123456789")
_MAX_VALUE = 1e300
_PRECISION = 15
"""Significant digits that a spreadsheet stores of a number."""
_CONTEXT = Context(prec=400)
_GENERAL_DIGITS = 10
"""Significant digits shown of a number without format."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a format: a digit placeholder, a sign with a meaning, or literal text."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class _Section:
    """One section of a format code; a code has up to four, for positive, negative and zero numbers and for text."""

    code: str
    parts: tuple[_Part, ...]
    condition: tuple[str, float] | None
    date: bool
    kind: str


def format_value(value: float, code: str, *, since_1904: bool = False) -> str:
    """A number as its format code shows it; where that fails, as if it had no format."""
    if code == "General" or not abs(value) < _MAX_VALUE:
        return format_general(value)
    sections = _sections(code[:_MAX_CODE_CHARS])
    section, signed = _section_for(value, sections)
    try:
        if section.date:
            return format_date(value, section.code, since_1904=since_1904) or format_general(value)
        return _FORMATTERS[section.kind](abs(value) if signed else value, section).strip()
    except ArithmeticError:  # a date beyond the calendar, or a number too large after scaling
        return format_general(value)


def _format_plain(value: float, section: _Section) -> str:
    """A number in a section without digit placeholders: in general format, or literal text only."""
    return "".join(format_general(value) if _is_whole_value(part) else part.text for part in section.parts)


def _is_whole_value(part: _Part) -> bool:
    return part.kind == "general" or part == _Part("sign", "@")


def format_text(text: str, code: str) -> str:
    """A text as its format code shows it."""
    if "@" not in code or code == "@":
        return text
    sections = _sections(code[:_MAX_CODE_CHARS])
    section = sections[3] if len(sections) > 3 else sections[0]
    if _Part("sign", "@") not in section.parts:
        return text
    return "".join(text if part.text == "@" else part.text for part in section.parts).strip()


def format_general(value: float) -> str:
    """A number in the general format."""
    if abs(value) < 10**_PRECISION and value == int(value):
        return str(int(value))
    text = f"{value:.{_GENERAL_DIGITS}G}"
    return text.replace("E+0", "E+").replace("E-0", "E-") if "E" in text else text


@lru_cache(maxsize=1024)
def _sections(code: str) -> tuple[_Section, ...]:
    sections: list[_Section] = []
    for text in _split(code)[:4]:
        parts: list[_Part] = []
        condition = None
        for match in _TOKEN.finditer(text):
            if match["condition"] and (found := _CONDITION.match(match["condition"])):
                condition = (found[1], _float(found[2]))
            elif match.lastgroup in ("digit", "sign", "exponent", "general"):
                parts.append(_Part(match.lastgroup, match[match.lastgroup]))
            elif match.lastgroup in ("quoted", "escaped", "currency", "other"):
                parts.append(_Part("literal", match[match.lastgroup]))
            elif match[0].startswith("_"):
                parts.append(_Part("literal", " "))
        sections.append(_Section(text, tuple(parts), condition, is_date(text), _kind(parts)))
    return tuple(sections)


def _kind(parts: list[_Part]) -> str:
    if any(_is_whole_value(part) for part in parts) or not any(part.kind == "digit" for part in parts):
        return "written"
    return "fraction" if _Part("sign", "/") in parts else "numeral"


def _split(code: str) -> list[str]:
    """The sections of a code, which are separated by semicolons outside of quotes and brackets."""
    found, start = [], 0
    for match in re.finditer(r'"[^"]*"?|\\.|\[[^\]]*\]?|;', code, re.DOTALL):
        if match[0] == ";":
            found.append(code[start : match.start()])
            start = match.end()
    return [*found, code[start:]]


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _section_for(value: float, sections: tuple[_Section, ...]) -> tuple[_Section, bool]:
    """The section for a number, and whether the section writes the minus sign itself."""
    if any(section.condition for section in sections[:2]):
        for number, section in enumerate(sections[:3]):
            if section.condition is None or _condition_holds(value, *section.condition):
                return section, number > 0 and value < 0
        return sections[-1], False
    if value < 0 and len(sections) > 1:
        return sections[1], True
    if value == 0 and len(sections) > 2:
        return sections[2], True
    return sections[0], False


def _condition_holds(value: float, sign: str, limit: float) -> bool:
    return {
        "<": value < limit,
        "<=": value <= limit,
        ">": value > limit,
        ">=": value >= limit,
        "=": value == limit,
        "<>": value != limit,
    }.get(sign, False)


@dataclass(frozen=True, slots=True)
class _Plan:
    """How a section writes a number: the text around it, its digits and its scale."""

    lead: str
    trail: str
    scale: int
    grouped: bool
    min_digits: int
    places: str
    exponent: str
    whole: tuple[_Part, ...]

    @property
    def split(self) -> bool:
        """Whether there is literal text between the digits, as in `000-00-0000`."""
        return any(part.kind == "literal" for part in self.whole)


@lru_cache(maxsize=1024)
def _plan(section: _Section) -> _Plan:
    parts = section.parts
    digits = [at for at, part in enumerate(parts) if part.kind == "digit"]
    point = next((at for at, part in enumerate(parts) if part == _Part("sign", ".")), len(parts))
    whole = [at for at in digits if at < point]
    end = whole[-1] if whole else digits[0]
    commas = [at for at, part in enumerate(parts) if part == _Part("sign", ",")]
    return _Plan(
        lead="".join(_literal(part) for part in parts[: min(digits[0], point)]),
        trail="".join(_literal(part) for part in parts[digits[-1] + 1 :]),
        scale=2 * sum(part == _Part("sign", "%") for part in parts) - 3 * sum(at > end for at in commas),
        grouped=any(digits[0] < at < end for at in commas),
        min_digits=sum(parts[at].text == "0" for at in whole),
        places="".join(parts[at].text for at in digits if at > point)[:_MAX_DECIMALS],
        exponent=next((part.text for part in parts if part.kind == "exponent"), ""),
        whole=parts[whole[0] : whole[-1] + 1] if whole else (),
    )


def _format_digits(value: float, section: _Section) -> str:
    """A number with digit placeholders: decimals, thousands separators, per cent, exponent and literal text."""
    plan = _plan(section)
    number = _exact(value).scaleb(plan.scale)
    power = number.adjusted() if plan.exponent and number else 0
    rounded = _rounded(number.scaleb(-power), plan)
    if plan.exponent and rounded.adjusted() > 0:  # 9.99 has become 10
        power, rounded = power + 1, _rounded(rounded.scaleb(-1), plan)
    before, _, after = f"{abs(rounded):{',' if plan.grouped else ''}f}".partition(".")
    before = before.zfill(plan.min_digits) if plan.min_digits or before != "0" else ""
    while after and after.endswith("0") and plan.places[len(after) - 1] != "0":
        after = after[:-1]
    if plan.split:
        before = _spread(before, plan.whole)
    if plan.exponent:
        after += f"{plan.exponent[0].upper()}{'-' if power < 0 else '+'}{abs(power):0{len(plan.exponent) - 2}}"
    body = f"{before}.{after}" if after and plan.places and not after.startswith("E") else before + after
    return f"{'-' if rounded < 0 else ''}{plan.lead}{body}{plan.trail}"


def _rounded(number: Decimal, plan: _Plan) -> Decimal:
    return number.quantize(Decimal(1).scaleb(-len(plan.places)), ROUND_HALF_UP, _CONTEXT)


def _spread(digits: str, whole: tuple[_Part, ...]) -> str:
    """The digits with the literal text between them."""
    places = sum(part.kind == "digit" for part in whole)
    extra = max(0, len(digits) - places)
    rest = iter(digits.rjust(places)[extra:])
    return digits[:extra] + "".join(next(rest, "") if part.kind == "digit" else _literal(part) for part in whole)


def _literal(part: _Part) -> str:
    return part.text if part.kind == "literal" or part.text == "%" else ""


def _format_fraction(value: float, section: _Section) -> str:
    """A number as an integer and a fraction: `1 3/4`."""
    slash = next(at for at, part in enumerate(section.parts) if part.text == "/")
    below = "".join(part.text for part in section.parts[slash + 1 :] if part.kind == "digit" or part.text in _DIGITS)
    fixed = below.isdecimal() and int(below) > 0
    size = min(max(len(below), 1), 4)
    exact = Fraction(_exact(abs(value)))
    part = Fraction(round(exact * int(below)), int(below)) if fixed else exact.limit_denominator(10**size - 1)
    whole, rest = divmod(part.numerator, part.denominator)
    sign = "-" if value < 0 else ""
    if not rest:
        return f"{sign}{whole}"
    return f"{sign}{whole} {rest}/{part.denominator}" if whole else f"{sign}{rest}/{part.denominator}"


def _exact(value: float) -> Decimal:
    """The number rounded to the digits that a spreadsheet stores, without binary rounding errors."""
    return Decimal(f"{value:.{_PRECISION}g}")


_FORMATTERS = {"written": _format_plain, "fraction": _format_fraction, "numeral": _format_digits}
