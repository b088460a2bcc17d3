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

        A document without a source URI is found by its file name, if no other has the same. `NotFound` is raised both for
        a missing document and for one that the caller may not read.
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
            named = f"there is no document '{reading.document_id}'"
            if not reading.document_id:
                named = f"there is no document, or more than one, with the source or file name '{reading.source_uri}'"
            which = f" with a version '{reading.version}'" if reading.version else ""
            raise NotFound(f"{named}{which}; use a doc_id from a search result")
        text["page_starts"] = tuple(text["page_starts"])
        return FullText(VersionText(**text), tuple(retrieved_chunk(row) for row in passages))


_COLUMNS = {**VERSION_TEXT_COLUMNS, "title": TITLE}
# An earlier version is found as long as it is indexed; a version newer than `as_of` is not found.
_EDITION = """
    named as materialized (
        select d.id, d.created_at, a.served,
               case when d.id = %(id)s or d.source_uri = %(uri)s then 0 when %(uri)s = any(d.source_urls) then 1 else 2 end
                   as rank
        from (select id, served from {library} as document where {documents}) a join document d on d.id = a.id
        where case when %(id)s::text is not null then d.id = %(id)s
                   else d.source_uri = %(uri)s or %(uri)s = any(d.source_urls)
                        or d.source_uri is null and d.name = %(uri)s end
    ), wanted as materialized (
        select id, served from named where rank < 2 or (select count(*) from named) = 1
        order by rank, created_at, id limit 1
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
