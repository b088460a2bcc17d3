"""Decompose a question into its parts: several questions in one, or one question about several entities."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from pincite.core.query.plan import Entity, QuestionAnalysis
from pincite.query.understand.noun_phrases import noun_phrases
from pincite.text.terms import question_language, terms

MAX_PARTS = 3
"""Parts of one question that are searched."""

_ASKING = (
    r"(?:who|whom|whose|what|when|where|why|how|which|is|are|was|were|does|did|do|can|"
    r"wer|wen|wem|was|wann|wo|wohin|woher|warum|wieso|weshalb|wie|welche[rsnm]?|ist|sind|war|hat|gibt|kann|darf|muss)"
)
_APART = re.compile(
    rf"[?;]\s+|\.\s+(?=[A-ZÄÖÜ])|,?\s+(?:and|und|or|oder|sowie|as well as)\s+(?={_ASKING}\b)|,\s+(?={_ASKING}\b)",
    re.IGNORECASE,
)
_JOINT = r"(?:and|und|or|oder|vs\.?|versus|with|mit|sowie|than|als)"
_JOINED = re.compile(rf"^\W*(?:{_JOINT}|,)\W*$", re.IGNORECASE)
_QUOTE = "[\"'„“”»«`]?"
_POINTS = re.compile(
    r"\b(?:it|its|they|them|their|he|him|his|she|her|er|sie|es|ihn|ihm|ihr|ihre[nrs]?|sein|seine[nrs]?|dies\w*)\b",
    re.IGNORECASE,
)


def parts_of(text: str, analysis: QuestionAnalysis) -> tuple[str, ...]:
    """The parts of a question, each to be searched separately; empty where there are fewer than two."""
    text = " ".join(text.split())  # the patterns are slow on long runs of white space
    language = question_language(text)
    asked = [part.strip(" ,;?") for part in _APART.split(text)]
    found = _with_subject([part for part in asked if terms(part, language)], language)
    if len(found) < 2:
        found = list(_question_per_entity(text, _coordinated_entities(text, analysis.entities)))
    distinct = tuple(dict.fromkeys(part for part in found if part != text.strip(" ,;?")))
    return distinct[:MAX_PARTS] if len(distinct) > 1 else ()


def _with_subject(parts: Sequence[str], language: str) -> list[str]:
    """The parts; one that refers to the first with a pronoun gets the subject of the first appended in brackets."""
    about = noun_phrases(parts[0], language) if parts else []
    lead = about[0].text if about else ""
    whole = [f"{part} ({lead})" if lead and _POINTS.search(part) else part for part in parts[1:]]
    return [*parts[:1], *(part for part in whole if len(terms(part, language)) > 1)]


def _coordinated_entities(text: str, entities: Sequence[Entity]) -> list[Entity]:
    """The entities that are joined, as in `A and B` or `A, B or C`."""
    places = [(text.find(entity.text), entity) for entity in entities if entity.kind in ("name", "quoted", "code")]
    places = sorted((place for place in places if place[0] >= 0), key=lambda place: place[0])
    found: list[Entity] = []
    for (start, one), (after, other) in pairwise(places):
        if _JOINED.match(text[start + len(one.text) : after].strip("\"'„“”»«`") or " "):
            found.extend(entity for entity in (one, other) if entity not in found)
    return found


def _question_per_entity(text: str, entities: Sequence[Entity]) -> Iterator[str]:
    """The question once for each entity, without the other entities."""
    for entity in entities:
        alone = text
        for other in entities:
            if other != entity:
                alone = _remove_entity(alone, re.escape(other.text))
        yield " ".join(alone.split()).strip(" ,;?")


def _remove_entity(text: str, name: str) -> str:
    """A question without one entity and without the conjunction that joined it to another."""
    for form in (
        rf"{_QUOTE}{name}{_QUOTE}\s*(?:,\s*)?(?:{_JOINT}\s+|(?<=,)\s*)",
        rf",?\s*(?:{_JOINT}\s+)?{_QUOTE}{name}{_QUOTE}",
    ):
        text, times = re.subn(form, "", text, count=1, flags=re.IGNORECASE)
        if times:
            break
    return text
