"""Reading the library: documents, versions, chunks and texts, listed or by id."""

import base64
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from psycopg import sql

from pincite.core.accounts.access import Scope
from pincite.core.documents.document import Chunk, ChunkLevel, Document, Listing, Status, Version, VersionText
from pincite.core.request_context import read_only
from pincite.errors import Invalid, NotAllowed, NotFound, Unauthorized
from pincite.store.cursors import INVALID_CURSOR
from pincite.store.database import Columns, Database, by_name, fetch_all, fetch_one, select_list
from pincite.store.documents.blobs import Blobs
from pincite.store.documents.row import SELECT_DOCUMENT, VERSION_TEXT_COLUMNS, to_document
from pincite.store.documents.sorting import in_usual_order, offset_of, order_of
from pincite.store.search import scope_sql


class Library:
    """Reads the documents of the library, within the scope of one person."""

    def __init__(self, database: Database, originals: Blobs, signature: str) -> None:
        self._database = database
        self._originals = originals
        self._signature = signature

    async def scope(self, person: str) -> Scope:
        """Return the scope of a person: the realms that the person may read."""
        return (await self.scope_now(person))[0]

    async def scope_now(self, person: str) -> tuple[Scope, int]:
        """Return the scope of a person, and the id of the index that is searched now; 0 before the first."""
        # A suspended person reads nothing; an administrator who views that person's library does.
        [[row]] = await self._database.run_batch(
            person, scope_sql.SCOPE, values={"looks": read_only.get()}, by_key=True
        )
        return scope_sql.scope_of(person, row)

    async def unreadable(self, person: str, document_ids: Collection[str]) -> frozenset[str]:
        """Return the documents that a person may not read or that are gone; `Unauthorized` for a suspended person."""
        query = "select id from document where id = any(%(ids)s)"
        values = {"ids": list(document_ids)}
        [[(out,)], found] = await self._database.run_batch(person, "select shut_out()", query, values=values)
        if out:
            raise Unauthorized("your account is suspended or removed; ask an administrator")
        return frozenset(document_ids) - {document_id for (document_id,) in found}

    async def get(self, scope: Scope, document_id: str) -> Document:
        """Return one document, or raise `NotFound`."""
        query = SELECT_DOCUMENT + " where d.id = %(id)s and d.realm = any(%(realms)s)"
        values = {"id": document_id, "realms": list(scope.realms)}
        [found] = await self._database.run_batch(scope.person, query, values=values)
        if not found:
            raise NotFound(f"there is no document '{document_id}'")
        return to_document(found[0], self._signature)

    async def require_owned(self, scope: Scope, document_ids: Sequence[str]) -> None:
        """Raise `NotFound` for the first document that this person cannot read, `NotAllowed` for another owner's."""
        # An own document may have moved to another realm since the scope was read.
        query = (
            "select id, owner from document where id = any(%(ids)s) and (realm = any(%(realms)s) or owner = %(person)s)"
        )
        values = {"ids": list(document_ids), "realms": list(scope.realms), "person": scope.person}
        [found] = await self._database.run_batch(scope.person, query, values=values)
        owners: dict[str, str] = dict(found)
        for document_id in document_ids:
            if document_id not in owners:
                raise NotFound(f"there is no document '{document_id}'")
            if owners[document_id] != scope.person:
                raise NotAllowed(
                    "this document belongs to another person: you may read it, only its owner may change it"
                )

    async def get_many(self, scope: Scope, document_ids: Sequence[str]) -> list[Document]:
        """Return those of the documents that exist within the scope."""
        async with self._database.transaction(scope.person) as connection:
            found = await fetch_all(
                connection,
                SELECT_DOCUMENT + " where d.id = any(%s) and d.realm = any(%s)",
                (list(document_ids), list(scope.realms)),
            )
        return [to_document(row, self._signature) for row in found]

    async def duplicates(self, scope: Scope, document: Document) -> list[Document]:
        """Return up to 10 other documents of this person whose newest version has the same bytes."""
        query = (
            SELECT_DOCUMENT + " where v.checksum = %(checksum)s and d.id <> %(id)s and d.owner = %(person)s limit 10"
        )
        values = {"checksum": document.checksum, "id": document.id, "person": scope.person}
        [found] = await self._database.run_batch(scope.person, query, values=values)
        return [to_document(row, self._signature) for row in found]

    async def find_source(self, scope: Scope, source_uri: str) -> str:
        """Return the id of the document with this source URI, or with this one among its URLs; of several, the oldest.

        A document without a source URI is found by its file name, if no other has the same.
        """
        async with self._database.transaction(scope.person) as connection:
            rows = await fetch_all(
                connection,
                "select id, source_uri = %(uri)s or %(uri)s = any(source_urls) from document where realm = any(%(realms)s)"
                " and (source_uri = %(uri)s or %(uri)s = any(source_urls) or (source_uri is null and name = %(uri)s))"
                " order by source_uri is distinct from %(uri)s, not %(uri)s = any(source_urls), created_at limit 2",
                {"realms": list(scope.realms), "uri": source_uri},
            )
        if not rows:
            raise NotFound(f"there is no document with the source '{source_uri}'")
        if len(rows) > 1 and not rows[0][1]:
            raise Invalid(f"several documents are called '{source_uri}'; read one by its doc_id")
        return str(rows[0][0])

    async def documents(self, scope: Scope, listing: Listing) -> tuple[list[Document], str | None]:
        """Return one page of documents in the order of the listing, and the cursor of the next page, if any."""
        conditions, values = ["d.realm = any(%s)"], list[Any]([list(scope.realms)])
        for condition, value in _conditions(listing):
            conditions.append(condition)
            values.extend(value)
        if listing.stale is not None:
            conditions.append("coalesce(s.signature <> %s, false) = %s")
            values.extend((self._signature, listing.stale))
        start = offset_of(listing)
        query = sql.SQL(SELECT_DOCUMENT + " where {} order by {} limit %s offset %s").format(
            sql.SQL(" and ").join(sql.SQL(condition) for condition in conditions), sql.SQL(order_of(listing))
        )
        async with self._database.transaction(scope.person) as connection:
            found = await fetch_all(connection, query, [*values, listing.limit + 1, start])
        documents = [to_document(row, self._signature) for row in found[: listing.limit]]
        if len(found) <= listing.limit:
            return documents, None
        return documents, _to_cursor(documents[-1]) if in_usual_order(listing) else str(start + listing.limit)

    async def stale(self, scope: Scope) -> int:
        """Return the number of documents that were indexed under other settings than the current ones."""
        async with self._database.transaction(scope.person) as connection:
            row = await fetch_one(
                connection,
                "select count(*) from document d join edition s on s.key = d.served"
                " where d.realm = any(%s) and s.signature <> %s",
                (list(scope.realms), self._signature),
            )
        return int(row[0]) if row else 0

    async def versions(self, scope: Scope, document_id: str) -> list[Version]:
        """Return every version of a document, newest first."""
        await self.get(scope, document_id)
        async with self._database.transaction(scope.person) as connection:
            found = await fetch_all(
                connection,
                "select v.id, v.document_id, v.checksum, v.bytes, v.mime, v.state, coalesce(e.version = v.key, false),"
                " v.created_at from version v join document d on d.id = v.document_id"
                " left join edition e on e.key = d.served"
                " where v.document_id = %s and v.realm = any(%s) order by v.key desc",
                (document_id, list(scope.realms)),
            )
        states = {"waiting": Status.PENDING, "failed": Status.ERROR, "overtaken": Status.ERROR}
        return [Version(r[0], r[1], r[2], r[3], r[4], states.get(r[5], Status.COMPLETED), r[6], r[7]) for r in found]

    async def chunks(
        self,
        scope: Scope,
        document_id: str,
        level: int | None,
        *,
        version_id: str | None = None,
        after: int = -1,
        limit: int | None = None,
    ) -> tuple[Version | None, Sequence[Chunk]]:
        """Return a version, by default the served one, and its chunks in order, after ordinal `after`."""
        await self.get(scope, document_id)
        async with self._database.transaction(scope.person) as connection:
            version = await fetch_one(
                connection,
                "select v.id, v.checksum, v.bytes, v.mime, e.key = d.served, v.created_at, v.text, e.key"
                " from document d join edition e on e.document_id = d.id"
                " join version v on v.key = e.version where d.id = %(id)s and d.realm = any(%(realms)s)"
                " and (e.key = d.served or (%(version)s::text is not null and e.state in ('retired', 'kept')"
                " and e.model is not null)) and (%(version)s::text is null or v.id = %(version)s)"
                " order by e.state = 'served' desc, e.key desc limit 1",
                {"id": document_id, "realms": list(scope.realms), "version": version_id},
            )
            if version is None:
                return None, []
            version_key, checksum, size, mime, served, created_at, text, edition = version
            found = await fetch_all(
                connection,
                _CHUNKS,
                {"edition": edition, "realms": list(scope.realms), "level": level, "after": after, "limit": limit},
            )
        made = Version(version_key, document_id, checksum, size, mime, Status.COMPLETED, served, created_at)
        return made, [_to_chunk(by_name(_CHUNK_COLUMNS, row), text) for row in found]

    async def embedded(self, scope: Scope, document_id: str) -> tuple[str, Mapping[int, bytes]]:
        """Return the embedding model of a document's served chunks, and the digest of each embedded text by ordinal."""
        query = (
            "select m.name, c.ordinal, v.hash from document d join vector v on v.edition = d.served and v.part = 0"
            " join chunk c on c.key = v.chunk join embedding_model m on m.id = v.model"
            " where d.id = %(id)s and d.realm = any(%(realms)s)"
        )
        values = {"id": document_id, "realms": list(scope.realms)}
        [found] = await self._database.run_batch(scope.person, query, values=values)
        return found[0][0] if found else "", {ordinal: bytes(digest) for _, ordinal, digest in found}

    async def text(self, scope: Scope, document_id: str, version_id: str | None = None) -> VersionText:
        """Return the normalised text of a version, by default the served one."""
        async with self._database.transaction(scope.person) as connection:
            row = await fetch_one(
                connection,
                _TEXT,
                {"id": document_id, "version": version_id, "realms": list(scope.realms)},
            )
        text = by_name(VERSION_TEXT_COLUMNS, row or ())
        if text.get("text") is None:
            document = await self.get(scope, document_id)
            if version_id is not None:
                raise NotFound(f"'{document.name}' has no readable version '{version_id}'")
            raise NotFound(f"'{document.name}' has no text yet: its status is {document.status}")
        text["page_starts"] = tuple(text["page_starts"])
        return VersionText(**text)

    async def raw(self, scope: Scope, document_id: str, version_id: str | None = None) -> tuple[Version, bytes]:
        """Return a version, by default the latest, and its original bytes."""
        for version in await self.versions(scope, document_id):
            if version_id in (None, version.id):
                return version, await self._originals.read(scope.person, document_id, version.id)
        raise NotFound(f"the document has no version '{version_id or 'any more'}'")


_CHUNK_COLUMNS: Columns = {
    "ordinal": "ordinal",
    "level": "level",
    "parent": "parent",
    "start": "start_char",
    "end": "end_char",
    "start_line": "start_line",
    "end_line": "end_line",
    "page": "page",
    "heading_path": "heading_path",
    "content_type": "content_type",
    "language": "language",
    "tokens": "tokens",
    "header": "header",
    "vectorized_text": "vectorized_text",
    "place": "place",
}
"""Field of `Chunk` → its SQL; the text is a slice of the version's text."""
_CHUNKS = sql.SQL("""
    select {columns} from chunk
    where edition = %(edition)s and realm = any(%(realms)s) and (%(level)s::int is null or level = %(level)s)
      and ordinal > %(after)s order by ordinal limit %(limit)s
""").format(columns=sql.SQL(select_list(_CHUNK_COLUMNS)))
_TEXT = sql.SQL("""
    select {columns} from document d left join edition e on e.key = d.served
         join version v on v.document_id = d.id
              and (v.id = %(version)s or (%(version)s::text is null and v.key = e.version))
    where d.id = %(id)s and d.realm = any(%(realms)s)
""").format(columns=sql.SQL(select_list(VERSION_TEXT_COLUMNS)))


def _to_chunk(values: dict[str, Any], text: str) -> Chunk:
    values["level"] = ChunkLevel(values["level"])
    values["heading_path"] = tuple(values["heading_path"])
    return Chunk(text=text[values["start"] : values["end"]], **values)


def _conditions(listing: Listing) -> list[tuple[str, tuple[Any, ...]]]:
    found: list[tuple[str, tuple[Any, ...]]] = []
    if listing.folder is not None:
        found.append(("(d.folder = %s or starts_with(d.folder, %s))", (listing.folder, listing.folder + "/")))
    if listing.status is not None:
        found.append(("status_now(d) = %s", (listing.status,)))
    if listing.tags:
        found.append(("d.tags @> %s::text[]", (list(listing.tags),)))
    if listing.q is not None:
        found.append(("position(lower(%s) in lower(d.name || ' ' || d.title)) > 0", (listing.q,)))
    if listing.cursor is not None and in_usual_order(listing):
        found.append(("(d.folder, d.name, d.id) > (%s, %s, %s)", _from_cursor(listing.cursor)))
    return found


def _to_cursor(document: Document) -> str:
    parts = "\0".join((document.folder, document.name, document.id))
    return base64.urlsafe_b64encode(parts.encode()).decode()


def _from_cursor(cursor: str) -> tuple[str, ...]:
    try:
        parts = tuple(base64.urlsafe_b64decode(cursor.encode()).decode().split("\0"))
    except ValueError:
        parts = ()
    if len(parts) != 3:
        raise Invalid(INVALID_CURSOR)
    return parts
