"""Facts by rules: the verb phrase between two names of a sentence, and the cells of tables."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from pincite.ingest.graph.names import Found
from pincite.text import lang
from pincite.text.markdown_blocks import plain
from pincite.text.sentences import Span, sentences
from pincite.text.terms import stop_words

MAX_RELATION_WORDS = 9
MAX_CELL_CHARS = 80
_CLAUSE = re.compile(
    r"[,;:()\[\]|\n\"“”„]|--|–|\b(?:and|or|but|that|which|who|whose|where|when|und|oder|aber|dass|welche\w*|wo)\b"
)
_LEAD = re.compile(
    r"^(?:(?:In|On|At|Since|By|From|Im|Am|Seit|Ab|Bis|After|Before|During)\b[^,]{0,40},)?\s*(?:(?:The|A|An|Der|Die|Das)\s)?$"
)
_PASSIVE = re.compile(r"^\s*(?:\([^)]*\)\s*)?,\s*((?:\w+ly )?\w+(?:ed|en|wn|lt) by)\s+(?:the )?$")
_ASIDE = re.compile(r"(?:,? (?:Inc|Ltd|LLC|Corp|Co)\.)?(?:\s*\([^()\n]{0,120}\))?")
"""The legal form and the brackets after a name."""
_RULE = re.compile(r"^[\s:|-]+$")


@dataclass(frozen=True, slots=True)
class RuleFact:
    """A fact of a passage; the sentence is a span of the passage, and `object` a name or a value."""

    subject: Found | str
    relation: str
    object: Found | str
    sentence: Span


def facts_in(text: str, language: str, names: Sequence[Found], title: str = "") -> Iterator[RuleFact]:
    """The facts that sentences state about two names.

    "It", "he" and "she" at the start of a sentence are what the document is called, where it was the subject so far.
    """
    by_sentence: dict[Span, list[Found]] = {}
    for one in names:
        by_sentence.setdefault(one.sentence, []).append(one)
    about = ""
    for sentence in sentences(text):
        found = sorted(by_sentence.get(sentence, ()), key=lambda one: one.start)
        if "|" in text[slice(*sentence)]:
            continue
        pronoun = lang.regex("graph.pronouns", language, r"\s*(?:%s)(?= )").match(text, *sentence)
        if pronoun and about:
            yield from _from_subject(text, language, about, pronoun.end(), found)
        elif found and _LEAD.match(text[sentence[0] : found[0].start].lstrip('#*_> -"“„')):
            about = found[0].text if found[0].text == title else ""
            yield from _from_subject(text, language, found[0], found[0].end, found[1:])
        elif not text[slice(*sentence)].startswith("#"):
            about = about if pronoun else ""


def _from_subject(
    text: str, language: str, subject: Found | str, end: int, others: Sequence[Found]
) -> Iterator[RuleFact]:
    """The fact about the name that begins a sentence with the next name after it."""
    aside = _ASIDE.match(text, end)
    start = aside.end() if aside else end
    for target in [one for one in others if one.start >= start][:1]:
        if not _stands_alone(text, target, language):
            continue
        between = text[start : target.start]
        passive = _PASSIVE.match(between)
        relation = passive[1] if passive else _relation(between, language)
        if relation and target.text != (subject if isinstance(subject, str) else subject.text):
            yield RuleFact(subject, relation, target, target.sentence)


def _stands_alone(text: str, name: Found, language: str) -> bool:
    """Whether a name describes nothing after it, as in `a UK body` or `Ohio's largest city`."""
    rest = text[name.end : name.end + 40]
    word = re.match(r" ([^\W\d_]+)", rest)
    if re.match(r"['’]s?\b", rest):
        return False
    if word is None or word[1][0].isupper() or word[1] in _function_words(language):
        return True
    return word[1].endswith(("te", "en", "t") if language in lang.flagged("nouns_capitalised") else ("ed", "ing"))


@cache
def _function_words(language: str) -> frozenset[str]:
    return stop_words(language) | lang.recognised_words("graph.verbs", language)


def _relation(between: str, language: str) -> str:
    """The verb phrase between two names; empty where there is another clause, no verb, or too much."""
    words = between.split()
    if not 1 <= len(words) <= MAX_RELATION_WORDS or _CLAUSE.search(between):
        return ""
    verbs = lang.recognised_words("graph.verbs", language)
    if words[0].lower() not in verbs and not (len(words) > 1 and words[0].endswith("ly") and words[1].lower() in verbs):
        return ""
    if any(word.isupper() or word[:1].isdigit() for word in words):
        return ""
    ends = lang.regex("graph.relation_ends", language, r"^(?:%s)$")
    if words[-1].lower() not in verbs and not ends.match(words[-1].lower()):
        return ""
    articles = ("the", "a", "an", "der", "die", "das", "den", "dem", "ein", "eine", "einen", "einer")
    while len(words) > 1 and words[-1].lower() in articles:
        words.pop()
    alone = len(words) == 1 and words[0].lower() in lang.recognised_words("graph.copulas", language)
    return "" if alone else " ".join(words)


def table_facts(text: str) -> Iterator[RuleFact]:
    """The cells of Markdown tables as facts: the name of the row, the head of the column, the cell."""
    heads: list[str] | None = None
    place, previous = 0, ""
    for line in text.split("\n"):
        if "|" not in line:
            heads = None
        elif heads is None and _RULE.match(line) and "|" in previous:
            heads = _cells(previous)
        elif heads is not None:
            cells = _cells(line)
            if len(cells) == len(heads) and _is_row_name(cells[0]):
                for head, cell in zip(heads[1:], cells[1:], strict=True):
                    if head and cell and len(cell) <= MAX_CELL_CHARS and len(head) <= MAX_CELL_CHARS:
                        yield RuleFact(cells[0], head, cell, (place, place + len(line)))
        place, previous = place + len(line) + 1, line


def _is_row_name(cell: str) -> bool:
    return 1 < len(cell) <= MAX_CELL_CHARS and any(map(str.isalpha, cell))


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [" ".join(plain(cell).split()) for cell in re.split(r"(?<!\\)\|", inner)]
