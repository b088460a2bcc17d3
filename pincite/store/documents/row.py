"""A document as the database has it, and the value it becomes."""

from collections.abc import Sequence
from typing import Any

from pincite.core.documents.document import Access, Document, Failure, Status

DOCUMENT = """
    select d.id, d.name, d.title, d.author, d.description, status_now(d), d.progress, d.stage, d.error_code, d.error_message,
           v.id, (select count(*) from version o where o.document_id = d.id), v.mime, v.bytes, v.checksum, d.folder,
           d.tags, d.source_uri, d.source_urls, d.chunks, s.signature, d.owner, d.created_at, d.updated_at, d.notes,
           case when cardinality(r.readers) = 0 then r.readers when d.owner = me() then shown(r.readers) else array(select p from unnest(r.readers) p where p = 'everyone') end
    from document d join realm r on r.id = d.realm join version v on v.key = d.latest left join edition s on s.key = d.served
"""


def document_of(row: tuple[Any, ...], signature: str) -> Document:
    """A row of `DOCUMENT`; it is stale when it was indexed under other settings than `signature` says."""
    failure = Failure(row[8], row[9]) if row[8] else None
    stale = row[20] is not None and row[20] != signature
    return Document(
        id=row[0], name=row[1], title=row[2], author=row[3], description=row[4], status=Status(row[5]),
        progress=round(row[6], 4), stage=row[7], error=failure, version=row[10], versions=row[11], mime=row[12],
        bytes=row[13], checksum=row[14], folder=row[15], tags=tuple(row[16]), source_uri=row[17],
        source_urls=tuple(row[18]), chunks=row[19], stale=stale, access=access_of(row[21], row[25]),
        created_at=row[22], updated_at=row[23], notes=tuple(row[24]),
    )  # fmt: skip


def access_of(owner: str, readers: Sequence[str]) -> Access:
    """Who may read something, from its owner and its readers as the database has them."""
    named = {kind: tuple(r.partition(":")[2] for r in readers if r.startswith(kind)) for kind in ("user:", "group:")}
    return Access(owner, named["user:"], named["group:"], "everyone" in readers)
