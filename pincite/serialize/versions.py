"""Differences between versions, and indexes, as JSON."""

from pincite.core.operations import IndexBuild
from pincite.engine.index.switch import IndexStatus
from pincite.engine.reader.diff import Difference
from pincite.serialize.primitives import Json, iso_time


def difference_json(value: Difference) -> Json:
    """The difference between two versions: counts, metadata, and the hunks of a unified diff."""
    return {
        "document_id": value.document_id,
        "from": value.before,
        "to": value.after,
        "added": value.added,
        "removed": value.removed,
        "metadata": {key: {"from": before, "to": after} for key, (before, after) in value.about.items()},
        "hunks": [
            {
                "header": hunk.header,
                "from_line": hunk.before[0],
                "from_lines": hunk.before[1],
                "to_line": hunk.after[0],
                "to_lines": hunk.after[1],
                "lines": [
                    {"kind": line.kind, "from_line": line.before, "to_line": line.after, "text": line.text}
                    for line in hunk.lines
                ],
            }
            for hunk in value.hunks
        ],
    }


def indexes_json(value: IndexStatus) -> Json:
    """Every index, and the progress of the one being built."""
    built = value.building
    return {
        "items": [_index_json(one) for one in value.all],
        "building": built and {"documents": built.documents, "built": built.built, "waiting": built.waiting},
        "wanting": value.wanting,
    }


def _index_json(value: IndexBuild) -> Json:
    return {
        "id": value.id,
        "state": value.state,
        "held": value.held,
        "settings": dict(value.settings),
        "failures": dict(value.failures),
        "created_at": iso_time(value.created_at),
        "switched_at": value.switched_at and iso_time(value.switched_at),
    }
