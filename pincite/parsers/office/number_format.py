"""Numbers and dates as a spreadsheet shows them: a value and its format code become text."""

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import lru_cache

from pincite.parsers.office.date_format import is_date, shown_date

BUILT_IN = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: "$#,##0;-$#,##0", 6: "$#,##0;-$#,##0",
    7: "$#,##0.00;-$#,##0.00", 8: "$#,##0.00;-$#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?",
    13: "# ??/??", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm",
    21: "h:mm:ss", 37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;(#,##0.00)",
    41: '#,##0;(#,##0);"-"', 42: '$#,##0;$(#,##0);$"-"', 43: '#,##0.00;(#,##0.00);"-"', 44: '$#,##0.00;$(#,##0.00);$"-"',
    45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
    # What these show depends on where they are looked at; the order that is the same everywhere is taken.
    14: "yyyy-mm-dd", 22: "yyyy-mm-dd hh:mm", **dict.fromkeys([*range(27, 37), *range(50, 59)], "yyyy-mm-dd"),
}  # fmt: skip
"""Format codes that files refer to by number only."""

_TOKEN = re.compile(
    r"""  "(?P<quoted>[^"]*)"? | \\(?P<escaped>.) | _. | \*. | \[\$(?P<currency>[^\]-]*)[^\]]*\]
      | \[(?P<condition>(?:[<>]=?|=|<>)-?[\d.]+)\] | \[[^\]]*\] | (?P<general>General)
      | (?P<exponent>[eE][+-][0#?]+) | (?P<digit>[0#?]) | (?P<sign>[.,%/@]) | (?P<other>.) """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"([<>=]+)(-?[\d.]+)")
_LONGEST = 400
"""Characters of a format code that are looked at."""
_MOST_DECIMALS = 30
_DIGITS = frozenset("0123456789")
_LARGEST = 1e300
_PRECISION = 15
"""Digits a spreadsheet keeps of a number."""
_CONTEXT = Context(prec=400)
_GENERAL = 10
"""Digits it shows of one that has no format."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of a format: a digit's place, a sign that means something, or words that are written as they are."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class _Section:
    """One of the formats that a code holds for numbers of different kinds."""

    code: str
    parts: tuple[_Part, ...]
    condition: tuple[str, float] | None
    date: bool
    kind: str


def shown(value: float, code: str, *, since_1904: bool = False) -> str:
    """A number as its format shows it; one that the format cannot show as if it had none."""
    if code == "General" or not abs(value) < _LARGEST:
        return general(value)
    sections = _sections(code[:_LONGEST])
    section, signed = _section_for(value, sections)
    try:
        if section.date:
            return shown_date(value, section.code, since_1904=since_1904) or general(value)
        return _SHOWN[section.kind](abs(value) if signed else value, section).strip()
    except ArithmeticError:  # days beyond the calendar, or scaled beyond what can be counted
        return general(value)


def _written(value: float, section: _Section) -> str:
    """A number without digits' places: in general, as text, or not at all."""
    return "".join(general(value) if _stands_for_all(part) else part.text for part in section.parts)


def _stands_for_all(part: _Part) -> bool:
    return part.kind == "general" or part == _Part("sign", "@")


def shown_text(text: str, code: str) -> str:
    """A text as its format shows it."""
    if "@" not in code or code == "@":
        return text
    sections = _sections(code[:_LONGEST])
    section = sections[3] if len(sections) > 3 else sections[0]
    if _Part("sign", "@") not in section.parts:
        return text
    return "".join(text if part.text == "@" else part.text for part in section.parts).strip()


def general(value: float) -> str:
    """A number without a format."""
    if abs(value) < 10**_PRECISION and value == int(value):
        return str(int(value))
    text = f"{value:.{_GENERAL}G}"
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
    if any(_stands_for_all(part) for part in parts) or not any(part.kind == "digit" for part in parts):
        return "written"
    return "fraction" if _Part("sign", "/") in parts else "numeral"


def _split(code: str) -> list[str]:
    """The sections of a code, parted by semicolons outside of quotes and brackets."""
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
    """The section for a number, and whether that says by itself that the number is negative."""
    if any(section.condition for section in sections[:2]):
        for number, section in enumerate(sections[:3]):
            if section.condition is None or _holds(value, *section.condition):
                return section, number > 0 and value < 0
        return sections[-1], False
    if value < 0 and len(sections) > 1:
        return sections[1], True
    if value == 0 and len(sections) > 2:
        return sections[2], True
    return sections[0], False


def _holds(value: float, sign: str, limit: float) -> bool:
    return {
        "<": value < limit, "<=": value <= limit, ">": value > limit, ">=": value >= limit, "=": value == limit,
        "<>": value != limit,
    }.get(sign, False)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Plan:
    """How a section writes a number: what stands around it, how many digits, and how it is scaled."""

    lead: str
    trail: str
    scale: int
    grouped: bool
    least: int
    places: str
    exponent: str
    whole: tuple[_Part, ...]

    @property
    def split(self) -> bool:
        """Whether words stand between the digits, as in `000-00-0000`."""
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
        least=sum(parts[at].text == "0" for at in whole),
        places="".join(parts[at].text for at in digits if at > point)[:_MOST_DECIMALS],
        exponent=next((part.text for part in parts if part.kind == "exponent"), ""),
        whole=parts[whole[0] : whole[-1] + 1] if whole else (),
    )


def _numeral(value: float, section: _Section) -> str:
    """A number in its places: digits before and after the point, thousands, per cent, exponent, words around."""
    plan = _plan(section)
    number = _exact(value).scaleb(plan.scale)
    power = number.adjusted() if plan.exponent and number else 0
    rounded = _rounded(number.scaleb(-power), plan)
    if plan.exponent and rounded.adjusted() > 0:  # 9.99 has become 10
        power, rounded = power + 1, _rounded(rounded.scaleb(-1), plan)
    before, _, after = f"{abs(rounded):{',' if plan.grouped else ''}f}".partition(".")
    before = before.zfill(plan.least) if plan.least or before != "0" else ""
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
    """Digits in their places, with the words between these."""
    places = sum(part.kind == "digit" for part in whole)
    extra = max(0, len(digits) - places)
    rest = iter(digits.rjust(places)[extra:])
    return digits[:extra] + "".join(next(rest, "") if part.kind == "digit" else _literal(part) for part in whole)


def _literal(part: _Part) -> str:
    return part.text if part.kind == "literal" or part.text == "%" else ""


def _fraction(value: float, section: _Section) -> str:
    """A number as a whole and a fraction: `1 3/4`."""
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
    """The number that was meant: a spreadsheet keeps fifteen digits."""
    return Decimal(f"{value:.{_PRECISION}g}")


_SHOWN = {"written": _written, "fraction": _fraction, "numeral": _numeral}
