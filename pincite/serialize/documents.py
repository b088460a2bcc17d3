"""Documents, folders, versions, chunks and passages as JSON."""

from dataclasses import asdict

from pincite.core.documents.document import Chunk, Document, Folder, Passage, Receipt, Version
from pincite.serialize.primitives import Json, iso_time
from pincite.text.injection import notices


def document_json(value: Document) -> Json:
    """A document; the key `notes` is left out when there are none."""
    fields = asdict(value) | {"created_at": iso_time(value.created_at), "updated_at": iso_time(value.updated_at)}
    return fields if value.notes else {name: fields[name] for name in fields if name != "notes"}


def folder_json(value: Folder) -> Json:
    """A folder."""
    return asdict(value)


def version_json(value: Version) -> Json:
    """One version of a document."""
    return asdict(value) | {"created_at": iso_time(value.created_at)}


def chunk_json(version: Version, value: Chunk) -> Json:
    """A chunk of a version as stored; searches and sources refer to it by this id."""
    fields = {
        "id": f"{version.document_id}.{version.id}.{value.ordinal}",
        "ordinal": value.ordinal,
        "level": value.level,
        "parent": value.parent,
        "text": value.text,
        "start_char": value.start,
        "end_char": value.end,
        "start_line": value.start_line,
        "end_line": value.end_line,
        "page": value.page,
        "place": value.place,
        "heading_path": value.heading_path,
        "content_type": value.content_type,
        "language": value.language,
        "tokens": value.tokens,
        "header": value.header,
        "checksum": version.checksum,
        "mime": version.mime,
        "created_at": iso_time(version.created_at),
        "chunk_variant": "original" if value.vectorized_text is None else "augmented",
    }
    if value.vectorized_text is not None:
        fields["vectorized_text"] = value.vectorized_text
    warnings = [f"this passage {what}" for what in notices(value.text)]
    return fields | ({"warnings": warnings} if warnings else {})


def passage_json(value: Passage) -> Json:
    """A passage: part of a document's text."""
    return asdict(value)


def receipt_json(value: Receipt) -> Json:
    """The receipt of a deletion: how much was removed."""
    return asdict(value)
