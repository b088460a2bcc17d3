"""Variants of real questions, made by rules: variants with another meaning, and variants with the same meaning."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random

Twin = Callable[[str, Random, Sequence[str]], str | None]
"""A question, chance, and the names that others hold → its twin; None where it has nothing to be changed."""

_YEAR = re.compile(r"\b(1[0-9]|20)\d\d\b")
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w.,]*\w)")
_NAME = re.compile(r"(?<=\s)[A-ZÄÖÜ][\w-]*[a-z][\w-]*")
_PLAIN = re.compile(r"(?<=\s)[a-zäöüß]{5,}\b")
_MONTHS = "January February March April May June July August September October November December".split()
_MONATE = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()
UNITS = (
    "days weeks months years hours minutes seconds", "km miles metres feet", "kilometers meters inches", "kg pounds tonnes",
    "dollars euros pounds", "percent degrees", "million billion thousand", "Tage Wochen Monate Jahre Stunden Minuten",
    "Kilometer Meilen Meter", "Millionen Milliarden Tausend", "Euro Dollar Franken",
)  # fmt: skip
OPPOSITES = (
    "more less", "most least", "highest lowest", "largest smallest", "biggest smallest", "longest shortest", "before after",
    "first last", "oldest youngest", "earlier later", "higher lower", "above below", "largest fewest", "north south", "east west",
    "meisten wenigsten", "größte kleinste", "größten kleinsten", "höchste niedrigste", "vor nach", "erste letzte", "ersten letzten",
    "mehr weniger", "längste kürzeste", "älteste jüngste", "höher niedriger",
)  # fmt: skip
_AUXILIARY = re.compile(r"\b(is|are|was|were|did|does|do|can|could|has|have|will|would|should|may|must)\b")
_ASKS = {
    "who": "when", "when": "where", "where": "why", "why": "when", "what": "why", "how many": "which", "how": "when",
    "wer": "wann", "wann": "wo", "wo": "warum", "warum": "wann", "was": "warum", "wie viele": "welche", "wie": "wann",
}  # fmt: skip


def _swapped(groups: Sequence[str], text: str, chance: Random) -> str | None:
    """A word of a group in place of another of it."""
    for group in groups:
        words = group.split()
        for word in words:
            pattern = re.compile(rf"\b{word}\b")
            if pattern.search(text):
                return pattern.sub(chance.choice([other for other in words if other != word]), text, count=1)
    return None


def _number(text: str, chance: Random, _names: Sequence[str]) -> str | None:
    found = [match for match in _NUMBER.finditer(text) if not _YEAR.fullmatch(match[0])]
    if not found:
        return None
    one = chance.choice(found)
    digit = chance.choice([n for n, char in enumerate(one[0]) if char.isdigit()])
    other = one[0][:digit] + str((int(one[0][digit]) + chance.randint(1, 9)) % 10) + one[0][digit + 1 :]
    return text[: one.start()] + other + text[one.end() :]


def _date(text: str, chance: Random, _names: Sequence[str]) -> str | None:
    if match := _YEAR.search(text):
        return text[: match.start()] + str(int(match[0]) + chance.choice((-10, -2, -1, 1, 2, 10))) + text[match.end() :]
    return _swapped((" ".join(_MONTHS), " ".join(_MONATE)), text, chance)


def _name(text: str, chance: Random, names: Sequence[str]) -> str | None:
    found = list(_NAME.finditer(text))
    if not found:
        return None
    one = chance.choice(found)
    other = chance.choice([name for name in names if name.lower() not in text.lower()])
    return text[: one.start()] + other + text[one.end() :]


def _direction(text: str, chance: Random, _names: Sequence[str]) -> str | None:
    found = list(_NAME.finditer(text))
    pairs = [(a, b) for a in found for b in found if b.start() - a.end() > 3 and a[0] != b[0]]
    if not pairs:
        return None
    a, b = chance.choice(pairs)
    return text[: a.start()] + b[0] + text[a.end() : b.start()] + a[0] + text[b.end() :]


def _negation(text: str, chance: Random, _names: Sequence[str]) -> str | None:
    if match := _AUXILIARY.search(text):
        short = match[0] in ("is", "are", "was", "were", "did", "does", "do", "has", "have") and chance.random() < 0.5
        return text[: match.end()] + ("n't" if short else " not") + text[match.end() :]
    return (
        f"{text[:-1].rstrip()} nicht?" if text.endswith("?") and re.search(r"[äöüß]|\b(der|die|das)\b", text) else None
    )


def _asks(text: str, _chance: Random, _names: Sequence[str]) -> str | None:
    for word, other in _ASKS.items():
        if re.match(rf"{word}\b", text, re.IGNORECASE):
            return other.capitalize() + text[len(word) :]
    return None


def _word(text: str, chance: Random, names: Sequence[str]) -> str | None:
    found = list(_PLAIN.finditer(text))
    others = [word for name in names for word in _PLAIN.findall(f" {name.lower()}") if word not in text.lower()]
    if not found or not others:
        return None
    one = chance.choice(found)
    return text[: one.start()] + chance.choice(others) + text[one.end() :]


OTHERS: Mapping[str, Twin] = {
    "a number": _number,
    "a date": _date,
    "a name": _name,
    "a unit": lambda text, chance, _names: _swapped(UNITS, text, chance),
    "a negation": _negation,
    "a comparison": lambda text, chance, _names: _swapped(OPPOSITES, text, chance),
    "what is asked": _asks,
    "who and whom": _direction,
    "any word": _word,
}
"""What is changed, so that it is another question."""

_POLITE = {
    "en": ("Please tell me: {}", "Could you tell me {}", "Hello, {}", "I would like to know: {}", "{} Thanks!", "{} Please."),
    "de": ("Bitte sag mir: {}", "Kannst du mir bitte sagen: {}", "Hallo, {}", "Ich möchte wissen: {}", "{} Danke!", "Weißt du, {}"),
}  # fmt: skip
_SAME_ASKED = (
    (r"\bwhich (?=[a-z])", "what "), (r"\bwhat (?=(?:year|city|country|type|kind|name|state|day|company|team)\b)", "which "),
    (r"^how many\b", "What number of"), (r"^why\b", "For what reason"), (r"^when\b", "At what time"), (r"^where\b", "In what place"),
    (r"\bwhom\b", "who"), (r"^wie viele\b", "Wieviele"), (r"^wie viel\b", "Wieviel"), (r"^warum\b", "Weshalb"), (r"^wann\b", "Zu welchem Zeitpunkt"),
    (r"^wo\b", "An welchem Ort"),
)  # fmt: skip
_SHORTENED = (
    (r"\bwhat is\b", "what's"), (r"\bwho is\b", "who's"), (r"\bwhere is\b", "where's"), (r"\bdid not\b", "didn't"),
    (r"\bis not\b", "isn't"), (r"\bdoes not\b", "doesn't"), (r"\bwhat's\b", "what is"), (r"n't\b", " not"),
)  # fmt: skip
_LAST = re.compile(r"^(.+) ((?:in|on|during|since|after|before|between|at|from|im|am|seit|nach) [^?]{3,40})\?$")


def _rewritten(rules: Sequence[tuple[str, str]], text: str) -> str | None:
    made = (re.sub(said, other, text, count=1, flags=re.IGNORECASE) for said, other in rules)
    return next((one for one in made if one.casefold() != text.casefold()), None)


def _polite(text: str, chance: Random, _names: Sequence[str]) -> str:
    german = re.search(r"[äöüß]|\b(der|die|das|wie|wer|wann|wo|warum|welche\w?|von|wurde|ist)\b", text, re.IGNORECASE)
    form = chance.choice(_POLITE["de" if german else "en"])
    return form.format(text if form.startswith("{") else text[0].lower() + text[1:])


def _fronted(text: str, _chance: Random, _names: Sequence[str]) -> str | None:
    found = _LAST.match(text)
    if found is None or not re.search(r"\b(did|do|does|is|are|was|were)\b", found[1]):
        return None
    main, last = found.groups()
    return f"{last[0].upper()}{last[1:]}, {main[0].lower()}{main[1:]}?"


SAME: Mapping[str, Twin] = {
    "politeness": _polite,
    "case": lambda text, chance, _names: chance.choice((text.lower(), text.upper())),
    "punctuation": lambda text, chance, _names: chance.choice((text.rstrip("?"), f"{text} ?", text.replace(" ", "  "))),
    "question words": lambda text, _chance, _names: _rewritten(_SAME_ASKED, text),
    "contractions": lambda text, _chance, _names: _rewritten(_SHORTENED, text),
    "word order": _fronted,
    "articles": lambda text, _chance, _names: _rewritten(((r"\b(?:the|an?) ", ""),), text),
}
"""What is changed, so that it is the same question."""


def twins(questions: Sequence[str], kinds: Mapping[str, Twin]) -> Iterator[tuple[str, str, str]]:
    """Every question with every twin that can be made of it: what was changed, the question, its twin."""
    chance = Random(1)
    names = sorted({match for text in questions for match in _NAME.findall(text)})
    for text in questions:
        for kind, make in kinds.items():
            twin = make(text, chance, names)
            if twin is not None and twin != text:
                yield kind, text, twin
