"""Pages of documents and places in them as JSON."""

from dataclasses import asdict, replace

from pincite.core.documents.positions import Place
from pincite.engine.reader.page_locator import Location, PageView, Word
from pincite.serialize.primitives import Json


def page_view_json(value: PageView) -> Json:
    """A page, slide, sheet or mail part with its words."""
    return asdict(replace(value, words=())) | {"words": [_word_json(word) for word in value.words]}


def location_json(value: Location) -> Json:
    """A span of a version's text and its places on the pages."""
    return asdict(value) | {"places": [_place_json(one) for one in value.places]}


def _word_json(value: Word) -> Json:
    fields: Json = {"text": value.text, "start": value.start, "end": value.end}
    return fields | ({"ref": value.ref} if value.rect is None else {"rect": value.rect})


def _place_json(value: Place) -> Json:
    return {
        "page": value.number,
        "kind": value.kind,
        "name": value.name,
        "start": value.start,
        "end": value.end,
        "rects": value.boxes,
        "ref": value.ref or None,
    }
