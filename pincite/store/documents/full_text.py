"""The full text of a document and its chunks in order, within the scope and the filters of a request."""

from dataclasses import dataclass

from psycopg import sql

from pincite.core.accounts.access import Scope
from pincite.core.documents.document import ReadRequest, VersionText
from pincite.core.query.hits import RetrievedChunk
from pincite.core.query.question import Filters
from pincite.errors import NotFound
from pincite.store.database import Database, by_name, select_list
from pincite.store.documents.row import VERSION_TEXT_COLUMNS
from pincite.store.search import scope_sql
from pincite.store.search.chunk_columns import CHUNK_COLUMNS, TITLE, retrieved_chunk


@dataclass(frozen=True, slots=True)
class FullText:
    """One version of a document: its text, and its chunks in order."""

    text: VersionText
    passages: tuple[RetrievedChunk, ...]


class FullTextReader:
    """Reads documents by id or by source URI; a document outside the scope or the filters does not exist for it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open(self, reading: ReadRequest, *, scope: Scope, filters: Filters) -> FullText:
        """Return the text and the passages of a document: of the version in the index, or of the version asked for.

        `NotFound` is raised both for a missing document and for one that the caller may not read.
        """
        edition = sql.SQL(_EDITION).format(library=scope_sql.library(filters), documents=scope_sql.documents(filters))
        values = {
            **scope_sql.values(scope, filters),
            "id": reading.document_id,
            "uri": reading.source_uri,
            "version": reading.version,
        }
        texts, passages = await self._database.read_batch(
            scope,
            sql.SQL(_TEXT).format(edition=edition, columns=sql.SQL(select_list(_COLUMNS))),
            sql.SQL(_PASSAGES).format(edition=edition, columns=sql.SQL(select_list(CHUNK_COLUMNS))),
            values=values,
        )
        text = by_name(_COLUMNS, texts[0]) if texts else {}
        if text.get("text") is None:
            named = f"'{reading.document_id}'" if reading.document_id else f"with the source '{reading.source_uri}'"
            which = f" with a version '{reading.version}'" if reading.version else ""
            raise NotFound(f"there is no document {named}{which}; use a doc_id from a search result")
        text["page_starts"] = tuple(text["page_starts"])
        return FullText(VersionText(**text), tuple(retrieved_chunk(row) for row in passages))


_COLUMNS = {**VERSION_TEXT_COLUMNS, "title": TITLE}
# An earlier version is found as long as it is indexed; a version newer than `as_of` is not found.
_EDITION = """
    wanted as materialized (
        select d.id, d.source_uri, d.created_at, a.served
        from (select id, served from {library} as document where {documents}) a join document d on d.id = a.id
        where (%(id)s::text is not null and d.id = %(id)s)
           or (%(id)s::text is null and %(uri)s::text is not null and d.source_uri = %(uri)s)
        order by d.created_at, d.id limit 1
    ), opened as materialized (
        select e.key from wanted w join edition s on s.key = w.served join edition e on e.document_id = w.id
               join version v on v.key = e.version
        where case when %(version)s::text is null then e.key = s.key
                   else v.id = %(version)s and e.state in ('served', 'retired', 'kept') and e.model is not null
                        and (%(as_of)s::timestamptz is null or v.created_at <= %(as_of)s) end
        order by e.state = 'served' desc, e.key desc limit 1
    )
"""
_TEXT = """
    with {edition}
    select {columns} from opened o join edition e on e.key = o.key join document d on d.id = e.document_id
           join version v on v.key = e.version
"""
_PASSAGES = """
    with {edition}
    select {columns} from opened o join chunk c on c.edition = o.key and c.level = 2 and c.realm = any(%(realms)s)
           join edition e on e.key = c.edition join document d on d.id = e.document_id
           join version v on v.key = e.version
    order by c.ordinal
"""
