"""Documents opened as a whole: their text and their passages in order, inside what a request may look into."""

from dataclasses import dataclass

from psycopg import sql

from pincite.core.accounts.access import Scope
from pincite.core.documents.document import ReadRequest, VersionText
from pincite.core.query.hits import RetrievedChunk
from pincite.core.query.question import Filters
from pincite.errors import NotFound
from pincite.store.database import Database
from pincite.store.search import scope_sql
from pincite.store.search.postgres_index import FOUND, found_of


@dataclass(frozen=True, slots=True)
class FullText:
    """One version of a document: its text, and its passages in order."""

    text: VersionText
    passages: tuple[RetrievedChunk, ...]


class FullTextReader:
    """Opens documents by id or by where they came from; one that the scope or the filters leave out is not there."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open(self, reading: ReadRequest, *, scope: Scope, filters: Filters) -> FullText:
        """The version that is searched, or an earlier one by its id; `NotFound` alike for what is not there and not for one."""
        edition = sql.SQL(_EDITION).format(library=scope_sql.library(filters), documents=scope_sql.documents(filters))
        values = {
            **scope_sql.values(scope, filters),
            "id": reading.document_id,
            "uri": reading.source_uri,
            "version": reading.version,
        }
        texts, passages = await self._database.at_once(
            scope.person,
            sql.SQL(_TEXT).format(edition=edition),
            sql.SQL(_PASSAGES).format(edition=edition, found=sql.SQL(FOUND)),
            values=values,
        )
        if not texts or texts[0][4] is None:
            named = f"'{reading.document_id}'" if reading.document_id else f"with the source '{reading.source_uri}'"
            which = f" with a version '{reading.version}'" if reading.version else ""
            raise NotFound(f"there is no document {named}{which}; use a doc_id that a search gave")
        [row] = texts
        text = VersionText(row[0], row[1], row[2], row[3], row[4], tuple(row[5]), row[6], row[7])
        return FullText(text, tuple(found_of(one) for one in passages))


# An earlier version is there as long as it is indexed; one later than the time that is asked about is not.
_EDITION = """
    wanted as materialized (
        select d.id, d.source_uri, d.created_at, a.served from (select id, served from {library} as document where {documents}) a
               join document d on d.id = a.id
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
    select d.id, v.id, case when d.served = e.key then d.title else coalesce(v.about ->> 'title', d.title) end, v.mime, v.text,
           v.page_starts, v.body_start, v.about
    from opened o join edition e on e.key = o.key join document d on d.id = e.document_id join version v on v.key = e.version
"""
_PASSAGES = """
    with {edition}
    select {found} from opened o join chunk c on c.edition = o.key and c.level = 2 and c.realm = any(%(realms)s)
           join edition e on e.key = c.edition join document d on d.id = e.document_id join version v on v.key = e.version
    order by c.ordinal
"""
