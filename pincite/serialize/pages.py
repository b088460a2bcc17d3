"""Pages and places as JSON."""

from dataclasses import asdict, replace
from typing import Any

from pincite.core.documents.positions import Place
from pincite.engine.reader.page_locator import Location, PageView, Word

Json = dict[str, Any]


def shown(value: PageView) -> Json:
    """A page with its words."""
    return asdict(replace(value, words=())) | {"words": [_word(word) for word in value.words]}


def spot(value: Location) -> Json:
    """A span of a version's text and where it stands."""
    return asdict(value) | {"places": [_place(one) for one in value.places]}


def _word(value: Word) -> Json:
    told: Json = {"text": value.text, "start": value.start, "end": value.end}
    return told | ({"ref": value.ref} if value.rect is None else {"rect": value.rect})


def _place(value: Place) -> Json:
    return {
        "page": value.number,
        "kind": value.kind,
        "name": value.name,
        "start": value.start,
        "end": value.end,
        "rects": value.boxes,
        "ref": value.ref or None,
    }
