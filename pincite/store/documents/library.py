"""Documents and their versions: taken in, listed, read, removed."""

import base64
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from psycopg import sql

from pincite.config.messages import closest
from pincite.core.accounts.access import Scope
from pincite.core.documents.document import Chunk, ChunkLevel, Document, Listing, Status, Version, VersionText
from pincite.core.query.question import Filters
from pincite.core.request_context import read_only
from pincite.errors import Invalid, NotAllowed, NotFound, Unauthorized
from pincite.store.database import Database, one, rows
from pincite.store.documents.blobs import Blobs
from pincite.store.documents.row import DOCUMENT, document_of

MOST_NAMED, MOST_FOLDERS = 3, 1000
"""Documents named one by one where a filter names some that are not there; folders looked through for a near one."""


class Library:
    """What the library holds, always for one person."""

    def __init__(self, database: Database, originals: Blobs, signature: str) -> None:
        self._database = database
        self._originals = originals
        self._signature = signature

    async def scope(self, person: str) -> Scope:
        """What a person may read."""
        return (await self.scope_now(person))[0]

    async def scope_now(self, person: str) -> tuple[Scope, int]:
        """What a person may read, and which index is searched at this moment; 0 before the first."""
        # Who is suspended reads nothing; an administrator who looks at what is theirs does.
        query = "select r from unnest(readable()) r where %(looks)s or not (select shut_out()) order by r"
        searched = "select id from generation where state = 'serving'"
        realms, index = await self._database.at_once(person, query, searched, values={"looks": read_only.get()})
        return Scope(person, tuple(realm for (realm,) in realms)), index[0][0] if index else 0

    async def unreadable(self, person: str, document_ids: Collection[str]) -> frozenset[str]:
        """Those of the documents a person may not read, or that are gone; `Unauthorized` where the person is shut out."""
        query = "select id from document where id = any(%(ids)s)"
        values = {"ids": list(document_ids)}
        [[(out,)], found] = await self._database.at_once(person, "select shut_out()", query, values=values)
        if out:
            raise Unauthorized("you may not come in any more; ask an administrator")
        return frozenset(document_ids) - {document_id for (document_id,) in found}

    async def get(self, scope: Scope, document_id: str) -> Document:
        """One document."""
        query = DOCUMENT + " where d.id = %(id)s and d.realm = any(%(realms)s)"
        values = {"id": document_id, "realms": list(scope.realms)}
        [found] = await self._database.at_once(scope.person, query, values=values)
        if not found:
            raise NotFound(f"there is no document '{document_id}'")
        return document_of(found[0], self._signature)

    async def owned(self, scope: Scope, document_ids: Sequence[str]) -> None:
        """Raise `NotFound` for the first of the documents that is not there for this person, `NotAllowed` for one of others."""
        # What is one's own may have come to lie in a realm since the scope was taken.
        query = (
            "select id, owner from document where id = any(%(ids)s) and (realm = any(%(realms)s) or owner = %(person)s)"
        )
        values = {"ids": list(document_ids), "realms": list(scope.realms), "person": scope.person}
        [found] = await self._database.at_once(scope.person, query, values=values)
        owners: dict[str, str] = dict(found)
        for document_id in document_ids:
            if document_id not in owners:
                raise NotFound(f"there is no document '{document_id}'")
            if owners[document_id] != scope.person:
                raise NotAllowed("this document belongs to somebody else: you may read it, its owner may change it")

    async def several(self, scope: Scope, document_ids: Sequence[str]) -> list[Document]:
        """Those of the named documents that are there."""
        async with self._database.transaction(scope.person) as connection:
            found = await rows(
                connection,
                DOCUMENT + " where d.id = any(%s) and d.realm = any(%s)",
                (list(document_ids), list(scope.realms)),
            )
        return [document_of(row, self._signature) for row in found]

    async def unknown(self, scope: Scope, filters: Filters) -> list[str]:
        """What a filter names that is not there for this person, in words, with the folder that may be meant."""
        if filters == Filters():
            return []
        folder, ids, realms = filters.folder, list(filters.document_ids or ()), list(scope.realms)
        async with self._database.transaction(scope.person) as connection:
            there = await rows(
                connection, "select id from document where id = any(%s) and realm = any(%s)", (ids, realms)
            )
            lies_in = "select from document where realm = any(%s) and (folder = %s or starts_with(folder, %s)) limit 1"
            unknown = folder is not None and await one(connection, lies_in, (realms, folder, f"{folder}/")) is None
            others = "select distinct folder from document where realm = any(%s) and folder <> '' limit %s"
            folders = await rows(connection, others, (realms, MOST_FOLDERS)) if unknown else []
            wearing = "select from document where realm = any(%s) and %s = any(tags) limit 1"
            strange = [tag for tag in filters.tags if await one(connection, wearing, (realms, tag)) is None]
        missing = [f"'{one}'" for one in dict.fromkeys(ids) if (one,) not in there]
        told = [_no_folder(folder, [path for (path,) in folders])] if unknown and folder is not None else []
        if missing:
            more = f" and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
            told.append(f"there is no document {', '.join(missing[:MOST_NAMED])}{more}")
        told.extend(f"no document has the tag '{tag}'" for tag in strange)
        return told

    async def alike(self, scope: Scope, document: Document) -> list[Document]:
        """Other documents of this person whose newest version has the very same bytes."""
        query = DOCUMENT + " where v.checksum = %(checksum)s and d.id <> %(id)s and d.owner = %(person)s limit 10"
        values = {"checksum": document.checksum, "id": document.id, "person": scope.person}
        [found] = await self._database.at_once(scope.person, query, values=values)
        return [document_of(row, self._signature) for row in found]

    async def find_source(self, scope: Scope, source_uri: str) -> str:
        """The id of the document that came from an address."""
        async with self._database.transaction(scope.person) as connection:
            row = await one(
                connection,
                "select id from document where source_uri = %s and realm = any(%s) order by created_at limit 1",
                (source_uri, list(scope.realms)),
            )
        if row is None:
            raise NotFound(f"there is no document with the source '{source_uri}'")
        return str(row[0])

    async def documents(self, scope: Scope, listing: Listing) -> tuple[list[Document], str | None]:
        """Documents by folder and name, and the cursor of the next page where there is one."""
        conditions, values = ["d.realm = any(%s)"], list[Any]([list(scope.realms)])
        for condition, value in _conditions(listing):
            conditions.append(condition)
            values.extend(value)
        if listing.stale is not None:
            conditions.append("coalesce(s.signature <> %s, false) = %s")
            values.extend((self._signature, listing.stale))
        query = sql.SQL(DOCUMENT + " where {} order by d.folder, d.name, d.id limit %s").format(
            sql.SQL(" and ").join(sql.SQL(condition) for condition in conditions)
        )
        async with self._database.transaction(scope.person) as connection:
            found = await rows(connection, query, [*values, listing.limit + 1])
        documents = [document_of(row, self._signature) for row in found[: listing.limit]]
        more = len(found) > listing.limit
        return documents, _cursor(documents[-1]) if more else None

    async def stale(self, scope: Scope) -> int:
        """How many documents were indexed in another way than they would be now."""
        async with self._database.transaction(scope.person) as connection:
            row = await one(
                connection,
                "select count(*) from document d join edition s on s.key = d.served"
                " where d.realm = any(%s) and s.signature <> %s",
                (list(scope.realms), self._signature),
            )
        return int(row[0]) if row else 0

    async def versions(self, scope: Scope, document_id: str) -> list[Version]:
        """Every version of a document, newest first."""
        await self.get(scope, document_id)
        async with self._database.transaction(scope.person) as connection:
            found = await rows(
                connection,
                "select v.id, v.document_id, v.checksum, v.bytes, v.mime, v.state, coalesce(e.version = v.key, false),"
                " v.created_at from version v join document d on d.id = v.document_id left join edition e on e.key = d.served"
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
    ) -> tuple[str, Sequence[Chunk]]:
        """Passages of a version in order, the served one unless told otherwise, and its id; after ordinal `after`."""
        await self.get(scope, document_id)
        async with self._database.transaction(scope.person) as connection:
            version = await one(
                connection,
                "select v.id, v.text, e.key from document d join edition e on e.document_id = d.id"
                " join version v on v.key = e.version where d.id = %(id)s and d.realm = any(%(realms)s)"
                " and (e.key = d.served or (%(version)s::text is not null and e.state in ('retired', 'kept')"
                " and e.model is not null)) and (%(version)s::text is null or v.id = %(version)s)"
                " order by e.state = 'served' desc, e.key desc limit 1",
                {"id": document_id, "realms": list(scope.realms), "version": version_id},
            )
            if version is None:
                return "", []
            found = await rows(
                connection,
                "select ordinal, level, parent, start_char, end_char, start_line, end_line, page, heading_path,"
                " content_type, language, tokens, header, vectorized_text, place from chunk where edition = %(edition)s"
                " and realm = any(%(realms)s) and (%(level)s::int is null or level = %(level)s)"
                " and ordinal > %(after)s order by ordinal limit %(limit)s",
                {"edition": version[2], "realms": list(scope.realms), "level": level, "after": after, "limit": limit},
            )
        return version[0], [_chunk(row, version[1]) for row in found]

    async def embedded(self, scope: Scope, document_id: str) -> tuple[str, Mapping[int, bytes]]:
        """The model that the served passages of a document were embedded by, and the digest of what was, by ordinal."""
        query = (
            "select m.name, c.ordinal, v.hash from document d join vector v on v.edition = d.served and v.part = 0"
            " join chunk c on c.key = v.chunk join embedding_model m on m.id = v.model"
            " where d.id = %(id)s and d.realm = any(%(realms)s)"
        )
        values = {"id": document_id, "realms": list(scope.realms)}
        [found] = await self._database.at_once(scope.person, query, values=values)
        return found[0][0] if found else "", {ordinal: bytes(digest) for _, ordinal, digest in found}

    async def text(self, scope: Scope, document_id: str, version_id: str | None = None) -> VersionText:
        """The normalised text of a version; of the served one unless told otherwise."""
        async with self._database.transaction(scope.person) as connection:
            row = await one(
                connection,
                "select d.id, v.id, d.title, v.mime, v.text, v.page_starts, v.body_start, v.about"
                " from document d left join edition e on e.key = d.served"
                " join version v on v.document_id = d.id"
                " and (v.id = %(version)s or (%(version)s::text is null and v.key = e.version))"
                " where d.id = %(id)s and d.realm = any(%(realms)s)",
                {"id": document_id, "version": version_id, "realms": list(scope.realms)},
            )
        if row is None or row[4] is None:
            document = await self.get(scope, document_id)
            if version_id is not None:
                raise NotFound(f"'{document.name}' has no readable version '{version_id}'")
            raise NotFound(f"'{document.name}' has no text yet: its status is {document.status}")
        return VersionText(row[0], row[1], row[2], row[3], row[4], tuple(row[5]), row[6], row[7])

    async def raw(self, scope: Scope, document_id: str, version_id: str | None = None) -> tuple[Version, bytes]:
        """The raw bytes of a version; of the latest unless told otherwise."""
        for version in await self.versions(scope, document_id):
            if version_id in (None, version.id):
                return version, await self._originals.read(scope.person, document_id, version.id)
        raise NotFound(f"the document has no version '{version_id or 'any more'}'")


def _no_folder(wanted: str, folders: Sequence[str]) -> str:
    """A folder is one that documents lie in or below; it may be meant by the last part of its path."""
    paths = [folder.split("/") for folder in folders]
    known = sorted({"/".join(path[:depth]) for path in paths for depth in range(1, len(path) + 1)})
    by_name = {name.rpartition("/")[2]: name for name in reversed(known)}
    close = closest(wanted, known) or by_name.get(closest(wanted.rpartition("/")[2], by_name) or "")
    return f"there is no folder '{wanted}'" + (f"; did you mean '{close}'?" if close else "")


def _chunk(row: tuple[Any, ...], text: str) -> Chunk:
    return Chunk(
        row[0], ChunkLevel(row[1]), row[2], text=text[row[3] : row[4]], start=row[3], end=row[4], start_line=row[5],
        end_line=row[6], page=row[7], heading_path=tuple(row[8]), content_type=row[9], language=row[10],
        tokens=row[11], header=row[12], vectorized_text=row[13], place=row[14],
    )  # fmt: skip


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
    if listing.cursor is not None:
        found.append(("(d.folder, d.name, d.id) > (%s, %s, %s)", _uncursor(listing.cursor)))
    return found


def _cursor(document: Document) -> str:
    parts = "\0".join((document.folder, document.name, document.id))
    return base64.urlsafe_b64encode(parts.encode()).decode()


def _uncursor(cursor: str) -> tuple[str, ...]:
    try:
        parts = tuple(base64.urlsafe_b64decode(cursor.encode()).decode().split("\0"))
    except ValueError:
        parts = ()
    if len(parts) != 3:
        raise Invalid("cursor: this is not one that a list gave out; start again without it")
    return parts
