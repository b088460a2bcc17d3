"""A question's own parts: what it asks one after the other, and each of the things it asks about at once."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

from pincite.core.query.plan import Entity, QuestionAnalysis
from pincite.query.understand.followup import is_sentence
from pincite.query.understand.standalone.noun_phrases import noun_phrases
from pincite.text import lang
from pincite.text.terms import question_language, terms

MAX_PARTS = 3
"""Parts that are searched for."""

_QUOTE = "[\"'„“”»«`]?"


@cache
def _apart(language: str) -> re.Pattern[str]:
    """Where one part of a question ends and the next begins."""
    opening, joint = (lang.alternatives(f"questions.{key}", language) for key in ("part_openers", "part_joints"))
    return re.compile(
        rf"[?;]\s+|\.\s+(?=[A-ZÄÖÜ])|,?\s+(?:{joint})\s+(?=(?:{opening})\b)|,\s+(?=(?:{opening})\b)", re.IGNORECASE
    )


def parts_of(text: str, reading: QuestionAnalysis) -> tuple[str, ...]:
    """The parts of a question, each to be searched by itself; none where it is one thing."""
    text = " ".join(text.split())  # patterns of blanks take their time over many of them
    language = question_language(text)
    asked = [part.strip(" ,;?") for part in _split(text, language)]
    found = _with_subject([part for part in asked if terms(part, language)], language)
    if len(found) < 2:
        found = list(_question_per_entity(text, _coordinated_entities(text, reading.entities, language), language))
    distinct = tuple(dict.fromkeys(part for part in found if part != text.strip(" ,;?")))
    return distinct[:MAX_PARTS] if len(distinct) > 1 else ()


def _split(text: str, language: str) -> list[str]:
    """The parts as they are written; an introduction is none: `In 2023, how many …?`, `Please tell me, who …?`."""
    cut = _apart(language).search(text)
    introduced = cut is not None and cut[0].strip() == "," and not _asks(text[: cut.start()], language)
    start = cut.end() if cut and introduced else 0
    first, *others = _apart(language).split(text[start:])
    return [text[:start] + first, *others]


def _asks(text: str, language: str) -> bool:
    """Whether a text is a sentence, and not only a polite one before the question."""
    polite = lang.regex("cache.polite", language, r"^\W*(?:%s)+", re.IGNORECASE)
    return is_sentence(polite.sub("", text), language)


def _with_subject(parts: Sequence[str], language: str) -> list[str]:
    """Parts that point at the first with a pronoun also say what that is about."""
    about = noun_phrases(parts[0], language) if parts else []
    lead = about[0].text if about else ""
    points = lang.regex("questions.pronouns", language, r"\b%s\b", re.IGNORECASE)
    whole = [f"{part} ({lead})" if lead and points.search(part) else part for part in parts[1:]]
    return [*parts[:1], *(part for part in whole if len(terms(part, language)) > 1)]


def _coordinated_entities(text: str, entities: Sequence[Entity], language: str) -> list[Entity]:
    """The entities that stand beside each other, as in `A and B` or `A, B or C`."""
    places = [(text.find(entity.text), entity) for entity in entities if entity.kind in ("name", "quoted", "code")]
    places = sorted((place for place in places if place[0] >= 0), key=lambda place: place[0])
    joint = lang.regex("questions.entity_joints", language, r"^\W*(?:%s|,)\W*$", re.IGNORECASE)
    found: list[Entity] = []
    for (start, one), (after, other) in pairwise(places):
        if joint.match(text[start + len(one.text) : after].strip("\"'„“”»«`") or " "):
            found.extend(entity for entity in (one, other) if entity not in found)
    return found


def _question_per_entity(text: str, entities: Sequence[Entity], language: str) -> Iterator[str]:
    """The question about each of the entities alone."""
    for entity in entities:
        alone = text
        for other in entities:
            if other != entity:
                alone = _remove_entity(alone, re.escape(other.text), language)
        yield " ".join(alone.split()).strip(" ,;?")


def _remove_entity(text: str, name: str, language: str) -> str:
    """A question without one of the things it asks about, and without what joined it to the next or the one before."""
    joint = f"(?:{lang.alternatives('questions.entity_joints', language)})"
    for form in (
        rf"{_QUOTE}{name}{_QUOTE}\s*(?:,\s*)?(?:{joint}\s+|(?<=,)\s*)",
        rf",?\s*(?:{joint}\s+)?{_QUOTE}{name}{_QUOTE}",
    ):
        text, times = re.subn(form, "", text, count=1, flags=re.IGNORECASE)
        if times:
            break
    return text
