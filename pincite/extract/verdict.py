"""Yes or no, where a sentence decides it beyond doubt; where it does not, nothing is said. German and English."""

import re
from typing import Literal

from pincite.extract.values import Value, values_in
from pincite.words import stem, words

Verdict = Literal["yes", "no"]
SAID = {"en": {"yes": "Yes.", "no": "No."}, "de": {"yes": "Ja.", "no": "Nein."}}

COVERED = 0.8
"""So much of what is asked must stand in the sentence, or in the headings and column names above it."""

_NOT = frozenset(
    "not no never none nobody nothing neither nor without cannot forbidden prohibited banned impossible "
    "nicht kein keine keinem keinen keiner keines nie niemals niemand nichts ohne weder verboten untersagt".split()
)
_DOUBT = frozenset(
    "if unless except only may might perhaps usually sometimes some partly often mostly exception until before after when "
    "wenn falls außer ausser nur sofern manchmal teilweise vielleicht meist meistens oft ausnahme bis bevor sobald".split()
)
_MODALS = (
    frozenset("may can could allowed permitted possible darf dürfen kann können erlaubt gestattet möglich".split()),
    frozenset(
        "must should shall have has need needs required obliged muss müssen soll sollen sollte nötig pflicht erforderlich".split()
    ),
)
_OPPOSITES = tuple(
    tuple(frozenset(side.split()) for side in pair)
    for pair in (
        ("open opened opens offen geöffnet", "closed shut gesperrt geschlossen zu"),
        (
            "allowed permitted erlaubt gestattet zulässig may can darf dürfen",
            "forbidden prohibited banned verboten untersagt unzulässig gesperrt",
        ),
        ("free kostenlos gratis kostenfrei", "paid costs kostenpflichtig kostet"),
        ("included inklusive enthalten inbegriffen", "excluded exclusive ausgeschlossen"),
        ("mandatory required obligatory verpflichtend obligatorisch pflicht", "optional voluntary freiwillig"),
        ("heated beheizt geheizt", "unheated unbeheizt ungeheizt"),
    )
)
_EMPHATIC = re.compile(r"\b(?:not even|nicht einmal|auch nicht)\b", re.IGNORECASE)
_SPELT = {
    word: number
    for number, spelt in enumerate(
        "one|ein two|zwei three|drei four|vier five|fünf six|sechs seven|sieben eight|acht nine|neun ten|zehn eleven|elf twelve|zwölf".split(),
        1,
    )
    for word in spelt.split("|")
}
_MORE = re.compile(
    r"\b(more than|over|above|longer than|higher than|at least|mehr als|über|länger als|höher als|mindestens)\b"
)
_LESS = re.compile(
    r"\b(less than|fewer than|under|below|shorter than|at most|weniger als|unter|kürzer als|höchstens|maximal)\b"
)
_NUMBER = re.compile(r"\d{1,3}(?:[.,]\d{3})+(?!\d)|\d+(?:[.,]\d+)?")
_INCLUSIVE = frozenset({"at least", "mindestens", "at most", "höchstens", "maximal"})
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,]\d{3})+")


def verdict(question: str, sentence: str, covered: float, language: str) -> Verdict | None:
    """What a sentence that covers so much of a question says to it."""
    asked, said = frozenset(words(question)), frozenset(words(sentence))
    if compares(question):
        return _compared(question, sentence, language)
    if _is_opposite(asked, said):
        return None if asked & _NOT else "no"
    if covered < COVERED or (said & _DOUBT) - asked or asked & _NOT:
        return None
    plainly = _EMPHATIC.sub(" ", sentence)
    negations = sum(word in _NOT for word in words(plainly)) + plainly.lower().count("n't")
    if negations:
        return "no" if negations == 1 else None
    return "yes" if all(not asked & modals or said & modals for modals in _MODALS) else None


def compares(question: str) -> bool:
    """Whether a question asks if something is more or less than a figure."""
    return bool(_MORE.search(question.lower())) != bool(_LESS.search(question.lower()))


def _is_opposite(asked: frozenset[str], said: frozenset[str]) -> bool:
    """Whether the sentence says the opposite of a word of the question, and that word nowhere."""
    for one, other in _OPPOSITES:
        for here, there in ((one, other), (other, one)):
            if asked & here and said & there and not said & here and not asked & there:
                return True
    return False


def _compared(question: str, sentence: str, language: str) -> Verdict | None:
    """`Is it more than 20 days?`, where the sentence has one figure of that unit."""
    more, less = _MORE.search(question.lower()), _LESS.search(question.lower())
    match = more or less
    assert match
    rest = question[match.end() :]
    limits = values_in(rest)
    unit = _unit(limits[0], rest, language) if len(limits) == 1 else ""
    same = [value for value in values_in(sentence) if unit and _unit(value, sentence, language) == unit]
    if len(same) != 1 or (figure := _figure(same[0].text)) is None or (bound := _figure(limits[0].text)) is None:
        return None
    if figure == bound:
        return "yes" if match.group() in _INCLUSIVE else "no"
    return "yes" if (figure > bound) == bool(more) else "no"


def _unit(value: Value, text: str, language: str) -> str:
    """The word that says what is counted: in the value, else right after it."""
    letters = [word for word in words(value.text) if word.isalpha() and word not in _SPELT]
    following = letters or words(text[value.end :])[:1]
    return stem(following[-1], language) if following else ""


def _figure(text: str) -> float | None:
    """The one number of a value."""
    digits = _NUMBER.findall(text)
    if not digits:
        return next((float(_SPELT[word]) for word in words(text) if word in _SPELT), None)
    if len(digits) > 1:
        return None
    return float(re.sub(r"[.,]", "", digits[0]) if _THOUSANDS.fullmatch(digits[0]) else digits[0].replace(",", "."))
