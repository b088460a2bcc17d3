"""The SQL columns of a `Document` and of a `VersionText`, and the conversion of rows."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from pincite.core.documents.document import Access, Document, Failure, Status
from pincite.store.database import Columns, by_name, select_list

_READERS = """
    case when cardinality(r.readers) = 0 then r.readers when d.owner = me() then shown(r.readers)
         else array(select p from unnest(r.readers) p where p = 'everyone') end"""
_COLUMNS: Columns = MappingProxyType(
    {
        "id": "d.id",
        "name": "d.name",
        "title": "d.title",
        "author": "d.author",
        "description": "d.description",
        "status": "status_now(d)",
        "progress": "d.progress",
        "stage": "d.stage",
        "error_code": "d.error_code",
        "error_message": "d.error_message",
        "version": "v.id",
        "versions": "(select count(*) from version o where o.document_id = d.id)",
        "mime": "v.mime",
        "bytes": "v.bytes",
        "checksum": "v.checksum",
        "folder": "d.folder",
        "tags": "d.tags",
        "source_uri": "d.source_uri",
        "source_urls": "d.source_urls",
        "chunks": "d.chunks",
        "signature": "s.signature",
        "owner": "d.owner",
        "created_at": "d.created_at",
        "updated_at": "d.updated_at",
        "notes": "d.notes || array(select b.note from engine_edition b where b.edition = d.served and b.note <> '')",
        "readers": _READERS,
    }
)
SELECT_DOCUMENT = f"""
    select {select_list(_COLUMNS)}
    from document d join realm r on r.id = d.realm join version v on v.key = d.latest
         left join edition s on s.key = d.served
"""  # noqa: S608 - constant columns
"""The statement whose rows `to_document` converts; callers append the conditions."""
VERSION_TEXT_COLUMNS: Columns = MappingProxyType(
    {
        "document_id": "d.id",
        "version": "v.id",
        "title": "d.title",
        "mime": "v.mime",
        "text": "v.text",
        "page_starts": "v.page_starts",
        "body_start": "v.body_start",
        "about": "v.about",
    }
)
"""Field of `VersionText` → its SQL, for version `v` of document `d`."""


def to_document(row: Sequence[Any], signature: str) -> Document:
    """Return the document of a row of `SELECT_DOCUMENT`; it is stale if it was indexed under another signature."""
    values = by_name(_COLUMNS, row)
    code, message, indexed = values.pop("error_code"), values.pop("error_message"), values.pop("signature")
    access = to_access(values.pop("owner"), values.pop("readers"))
    converted = {
        "status": Status(values["status"]),
        "progress": round(values["progress"], 4),
        "error": Failure(code, message) if code else None,
        "tags": tuple(values["tags"]),
        "source_urls": tuple(values["source_urls"]),
        "notes": tuple(values["notes"]),
        "stale": indexed is not None and indexed != signature,
        "access": access,
    }
    return Document(**{**values, **converted})


def to_access(owner: str, readers: Sequence[str]) -> Access:
    """Return the permissions of an owner and the readers as the database stores them."""
    named = {
        kind: tuple(r.partition(":")[2] for r in readers if r.startswith(kind)) for kind in ("user:", "group:", "role:")
    }
    return Access(owner, named["user:"], named["group:"], "everyone" in readers, named["role:"])
