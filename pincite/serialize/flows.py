"""Stored flows as JSON."""

from pincite.core.operations import StoredFlow
from pincite.serialize.primitives import Json, iso_time


def stored_flow_json(value: StoredFlow, *, whole: bool = True) -> Json:
    """A stored flow; its definition only if it is wanted `whole`."""
    listed: Json = {
        "name": value.name,
        "version": value.version,
        "versions": value.versions,
        "created_at": iso_time(value.created_at),
        "nodes": len(value.definition.get("nodes", ())),
    }
    return listed | ({"definition": dict(value.definition)} if whole else {})
