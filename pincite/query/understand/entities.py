"""The entities of a question (names, quotations, codes, dates, numbers), and whether it is a multi-hop question."""

import re
from collections.abc import Iterator, Mapping

from pincite.core.query.plan import Entity, EntityKind
from pincite.text.terms import STOP_WORDS, question_language

MAX_ENTITIES = 20
"""Entities that are kept of one question."""

_MONTH = (
    r"(?:jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?|"
    r"sep(?:tember)?|oct(?:ober)?|okt(?:ober)?|nov(?:ember)?|dec(?:ember)?|dez(?:ember)?)"
)
_KINDS: Mapping[EntityKind, re.Pattern[str]] = {
    "quoted": re.compile(r"[\"„“»«]([^\"„“”»«]{2,200})[\"“”»«]|(?<!\w)'([^']{2,200})'(?!\w)|`([^`]{2,200})`"),
    "date": re.compile(
        rf"\b\d{{4}}-\d{{2}}-\d{{2}}\b|\b\d{{1,2}}\.\s?\d{{1,2}}\.(?:\s?\d{{2,4}})?(?!\d)|\b\d{{1,2}}/\d{{1,2}}/\d{{2,4}}\b|"
        rf"\b\d{{1,2}}(?:st|nd|rd|th|\.)?\s{_MONTH}\b(?:\s\d{{4}})?|\b{_MONTH}\s\d{{1,4}}(?:st|nd|rd|th)?\b(?:,?\s\d{{4}})?|"
        rf"\b(?:1[5-9]|20)\d{{2}}\b(?![-.,]?\d|\w|%|\s?(?:euros?|eur|usd|dollars?|m|km|kg|€|\$)\b)",
        re.IGNORECASE,
    ),
    "code": re.compile(
        r"(?<![\w/])(?=[\w./:#-]*\d)(?=[\w./:#-]*[A-Za-z])[A-Za-z0-9][\w./:#-]{1,60}\b|\b[A-Z]{2,6}-\d+\b|\b(?:\w+\.)*\w+(?:_\w+)+\b|"
        r"\b[\w-]+(?:\.[\w-]+){1,5}\(\)|\b\w+\.(?:py|md|txt|pdf|json|toml|ya?ml|csv|docx?|xlsx?|js|ts|sql|html)\b|(?<!\w)--[\w-]{2,}"
    ),
    "number": re.compile(r"(?<![\w.,-])\d+(?:[.,]\d+)*\s?(?:%|€|\$|°C|°)?(?![\w.,]*\w)"),
}  # fmt: skip
"""The patterns in the order of the search; text that one pattern matched is not matched again."""

_TELLING = re.compile(r"[\d_\"'„“»«`./-]")
"""A text without any of these characters can only hold names."""

_CAPITAL = re.compile(r"[^\W\d_a-zäöüß][\w'’&-]*(?:\.(?=[^\W\d_]))?[\w'’&-]*")
_NAME_JOINS = r"(?:\s+(?:of|the|de|van|von|&|du|la|le)){0,2}\s+"
_NAME = re.compile(rf"{_CAPITAL.pattern}(?:(?:\s+|{_NAME_JOINS}){_CAPITAL.pattern})*")
_OPENERS = frozenset(
    "wie was wer wen wem wessen wo wann warum wieso weshalb welche welcher welches welchen welchem womit wofür gibt gilt kann "
    "darf hat haben ist sind nenne liste erkläre beschreibe fasse vergleiche zeige bitte gib worum wohin woher bis seit ab "
    "what who whom whose when where why how which list name compare explain describe summarise summarize give show tell please "
    "does did is are was were can could should may must will would has have find enumerate discuss analyse analyze evaluate "
    "define according during before after since until if and or but the hello thanks".split()
)
"""Words that open a sentence with a capital letter and name nothing."""

_MEASURES = frozenset(
    "Sekunden Minuten Stunden Tage Tagen Wochen Monate Monaten Jahre Jahren Euro Prozent Meter Liter Grad".split()
)
"""German nouns that are followed by what they measure."""
_MIXED = re.compile(r"\w[A-ZÄÖÜ]")

_STEPS = {
    "en": re.compile(
        r"\bwhose\b|\b(?:of|by|in|at|from|with|to|for) (?:the|a|an) (?:[\w'-]+ ){1,4}(?:that|which|who|where|of)\b|"
        r"\bthe [\w-]+ (?:of|by|in|from) (?:[\w-]+ ){1,4}(?:that|which|who|where)\b|"
        r"\bthe [\w-]+ (?:who|that|which|where) (?:[\w-]+ ){3}|"
        r"['’]s \w+(?: \w+)?['’]s\b|\bboth (?:[\w-]+ ){1,6}and\b"
    ),
    "de": re.compile(
        r",\s?(?:(?:in|an|für|mit|von|bei) )?(?:der|die|das|dem|den|wo) [^?,]{5,}"
        r"\b(?:hat|habe|haben|ist|sind|war|waren|w[iu]rde?n?|w[ei]rden|kann|können|\w{2,}t|\w{3,}te|\w{3,}ten)(?=\s*(?:[,?.!]|$))|"
        r"\b(?:dessen|deren)\b|\b(?:des|eines|einer) [\w-]+ (?:de[sr]|eines|einer|von) \w+|\bsowohl (?:[\w-]+ ){1,6}als auch\b"
    ),
}
"""What is asked about something that has to be found first: `the director of the film that …`."""


def entities_in(text: str) -> tuple[Entity, ...]:
    """The entities of a question in their order, without duplicates."""
    found: dict[int, Entity] = {}
    left, plain = text, not _TELLING.search(text)
    for kind, pattern in () if plain else _KINDS.items():
        for match in list(pattern.finditer(left)):
            words = next((group for group in match.groups() if group), match.group())
            found[match.start()] = Entity(words.strip(), kind)
            left = left[: match.start()] + "\0" * len(match.group()) + left[match.end() :]
    found.update(_names(left))
    ordered = dict.fromkeys(found[start] for start in sorted(found))
    return tuple(ordered)[:MAX_ENTITIES]


def _names(text: str) -> Iterator[tuple[int, Entity]]:
    """Capitalised words that can only be names.

    German capitalises all nouns: there, only two such words in a row or mixed case count.
    """
    german = question_language(text) == "de"
    for match in _NAME.finditer(text):
        start, name = match.start(), match.group()
        first, _, rest = name.partition(" ")
        opens = not text[:start].strip(" \t\"'„“»«¿¡(-") or text[:start].rstrip().endswith((".", "!", "?", ":"))
        if opens and (first.lower() in _OPENERS or first.lower() in STOP_WORDS["en"] | STOP_WORDS["de"] or not rest):
            start, name = start + len(first) + 1, rest
        words = name.split()
        if not words or (len(words) == 1 and words[0].lower() in STOP_WORDS["en"] | {"i", "i'm", "sie", "ihr"}):
            continue
        if not german or (len(words) > 1 and words[0] not in _MEASURES) or _MIXED.search(name):
            yield start, Entity(name, "name")


def is_multi_hop(text: str) -> bool:
    """Whether the question asks about something that must be found first."""
    return bool(_STEPS[question_language(text)].search(text.lower()))
