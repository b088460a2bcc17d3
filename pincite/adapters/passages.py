"""The passages of a search with their metadata as plain values, as every framework takes them."""

from collections.abc import Mapping
from typing import Any

from pincite.core.query.hits import Hit
from pincite.engine.sync import Pincite
from pincite.serialize.primitives import Json
from pincite.serialize.search import hit_json

METADATA_SCORES = ("score", "similarity_score", "relevance")


def find_passages(library: Pincite, query: str, options: Mapping[str, Any]) -> list[Hit]:
    """Return the hits of a search; `options` are keywords of `Pincite.search`."""
    return list(library.search(query, **options).hits)


def passage_metadata(hit: Hit) -> Json:
    """Return where a passage stands, and its scores, as values that JSON has."""
    fields = hit_json(hit)
    place: Json = fields["metadata"] | {name: fields[name] for name in METADATA_SCORES}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in place.items()}
