"""The type of an entity, by the words of its name and by what stands around it; one type in a document."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from pincite.core.graph import EntityType
from pincite.ingest.graph.name_parts import is_given_name, places
from pincite.ingest.graph.names import Found
from pincite.text import lang
from pincite.text.wording.entity_names import name_hash

_BY_WORD: tuple[tuple[EntityType, str], ...] = (
    ("law", "law"), ("event", "event"), ("project", "project"), ("organization", "organization"), ("place", "place"),
)  # fmt: skip
_STANDARD = re.compile(r"^(?:§|ISO|DIN|IEC|IEEE|RFC|ANSI|VDE|EN \d)")
_PERSON = re.compile(r"^[^\W\d_]+(?:['’.-][^\W\d_]+)*\.?(?: [^\W\d_]+\.?(?:['’-][^\W\d_]+)*){1,3}$")
_PLACE_BEFORE = re.compile(
    r"\b(?:born in|located in|situated in|based in|city of|town of|capital of|county of|village of|nach|geboren in)\s$",
    re.IGNORECASE,
)
_FIRST_OF_PLACE = ("Lake", "Mount", "Cape", "Fort", "Port", "Isle", "Schloss", "Burg", "Insel", "Republik")
_QUOTES = tuple('"“„»')
_PRODUCT = re.compile(r"^[A-ZÄÖÜ]\w*[- ](?:[A-Z]{0,3}\d+\w*|Pro|Max|Mini)$")
_WORD_BEFORE = re.compile(r"([\w.]+)[ ,]*$")


@cache
def _words(kind: str) -> frozenset[str]:
    return lang.all_words(f"graph.{kind}")


def kinds_of(passages: Sequence[tuple[str, str]], names: Sequence[Sequence[Found]]) -> Mapping[int, EntityType]:
    """The type of each name in a document, by most of the cues; `other` without any."""
    votes: dict[int, Counter[EntityType]] = {}
    for (text, language), found in zip(passages, names, strict=True):
        for one in found:
            votes.setdefault(name_hash(one.text), Counter()).update(_cues(one, text, language))
    return {name: counted.most_common(1)[0][0] if counted else "other" for name, counted in votes.items()}


def _cues(one: Found, text: str, language: str) -> Iterable[EntityType]:
    """The types that the name itself or the words around it speak for."""
    words = one.text.replace("\n", " ").split()
    if text[one.start - 1 : one.start] in _QUOTES and len(words) > 1 and one.start:  # a book, a film, a song
        return []
    if one.text in places():
        return ["place"] * 5
    if _STANDARD.match(one.text):
        return ["law"] * 5
    for kind, key in _BY_WORD:
        first = kind == "place" and words[0] in _FIRST_OF_PLACE
        if len(words) > 1 and (words[-1].strip(".,") in _words(key) or first or _inside(words, key)):
            return [kind] * 5
    before = _WORD_BEFORE.search(text, max(0, one.start - 40), one.start)
    if before and before[1].lower().strip(".") in lang.recognised_words("graph.person_before", language):
        return ["person"] * 3
    if 1 < len(words) < 4 and is_given_name(words[0]) and _PERSON.match(one.text):
        return ["person"] * 2
    after = lang.regex("graph.person_after", language, r"[ ,]*(?:%s)\b").match(text, one.end)
    if after and _PERSON.match(one.text):
        return ["person"] * 2
    if _PLACE_BEFORE.search(text, max(0, one.start - 20), one.start) and len(words) < 3 and words[0].isalpha():
        return ["place"]
    return ["product"] if _PRODUCT.match(one.text) else []


def _inside(words: Sequence[str], key: str) -> bool:
    """Whether a word before "of" tells the type: `University of Vienna`, `Battle of Hastings`."""
    return any(
        word in _words(key) and words[place + 1] in ("of", "for", "für", "von", "am")
        for place, word in enumerate(words[:-1])
    )
