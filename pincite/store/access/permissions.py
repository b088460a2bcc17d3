"""Permissions: documents and folders shared with people, groups, roles or everyone.

A realm is the set of an owner's documents with the same readers; every row of a document carries its realm.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import errors as pg_errors
from psycopg import sql

from pincite.core.accounts.access import Scope, ShareRequest
from pincite.core.accounts.audit import AuditEntry
from pincite.core.accounts.users import Person
from pincite.errors import Conflict, Invalid, NotFound
from pincite.store.access.audit_log import record
from pincite.store.database import LONG_TIMEOUTS, Connection, Database, fetch_all, fetch_one
from pincite.store.engines.tables import ALL_TABLES
from pincite.store.search.corpus_stats import NEXT_REVISION, bump_revision
from pincite.store.search.packed_postings import remove_editions
from pincite.store.search.vocabulary import remove_words, store_words
from pincite.text.terms import forms

Readers = tuple[str, ...]
"""The readers besides the owner, sorted: `user:ID`, `group:ID`, `role:ROLE`, `everyone`."""
EVERYONE = "everyone"
_LOCK = 0x72756C65  # "rule": advisory lock on the readers of one owner's folders
CHUNKS_PER_TRANSACTION = 2_000
"""Chunks that are moved to another realm in one transaction, unless one document has more."""


class Permissions:
    """Shares documents and folders of one person, and moves their rows to the realm of the new readers.

    A change takes effect with its first transaction, which moves the rows of the document and its versions. The rows of
    the index follow in batches, immediately or, after an interruption, when a worker calls `finish_moves`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def readers(self, scope: Scope, request: ShareRequest) -> Readers:
        """Return the readers with these names of users and groups and these roles; `Invalid` for an unknown name."""
        query = "select given, principal from known_readers(%(users)s, %(groups)s)"
        values = {"users": list(request.users), "groups": list(request.groups)}
        [found] = await self._database.run_batch(scope.person, query, values=values)
        known = {(principal.partition(":")[0], given) for given, principal in found}
        for kind, names in (("user", request.users), ("group", request.groups)):
            if missing := [name for name in names if (kind, name) not in known]:
                raise Invalid(f"there is no {kind} '{missing[0]}'", code=f"no_{kind}")
        own = f"user:{scope.person}"
        named = {principal for _, principal in found if principal != own} | {f"role:{role}" for role in request.roles}
        return tuple(sorted(named | ({EVERYONE} if request.everyone else set())))

    async def share(self, scope: Scope, document_id: str, readers: Readers | None) -> None:
        """Set the readers of a document; None means the readers of its folder."""
        async with self._database.transaction(scope.person, local=LONG_TIMEOUTS) as connection:
            await lock_folder_readers(connection, scope.person, changing=True)
            done = await connection.execute(  # by owner, not by realm: the realm may be newer than the scope
                "update document set readers = %s, updated_at = now() where id = %s and owner = %s",
                (None if readers is None else list(readers), document_id, scope.person),
            )
            if not done.rowcount:
                raise NotFound(f"there is no document '{document_id}'")
            moved = await assign_realms(connection, scope.person, [document_id])
            await record(
                connection, AuditEntry("document.share", f"document:{document_id}", details={"readers": readers})
            )
        await self._move_index_rows(scope.person, moved)

    async def share_folder(self, scope: Scope, path: str, readers: Readers | None) -> None:
        """Set the readers of a folder and its subfolders, except where a subfolder or a document has its own."""
        async with self._database.transaction(scope.person, local=LONG_TIMEOUTS) as connection:
            await lock_folder_readers(connection, scope.person, changing=True)
            await connection.execute(
                "insert into folder (owner, path, readers) values (%s, %s, %s)"
                " on conflict (owner, path) do update set readers = excluded.readers, updated_at = now()",
                (scope.person, path, None if readers is None else list(readers)),
            )
            moved = await assign_realms(
                connection, scope.person, await documents_in_folder(connection, scope.person, path)
            )
            await record(connection, AuditEntry("folder.share", f"folder:{path}", details={"readers": readers}))
        await self._move_index_rows(scope.person, moved)

    async def hand_over(self, by: str, whose: Person, heir: Person) -> int:
        """Transfer all documents of one person to another, into a folder named after the first; the readers stay."""
        below = whose.name.replace("/", "-")
        query = "select hand_over(%(whose)s, %(heir)s, %(below)s)"
        values = {
            "whose": whose.id,
            "heir": heir.id,
            "below": below,
            "lock": _LOCK,
            "both": sorted((whose.id, heir.id)),
        }
        try:
            [_, [(count,)], *_] = await self._database.run_batch(
                by, _LOCK_BOTH, query, _BECOME_HEIR, _BUMP_REVISIONS, values=values, local=LONG_TIMEOUTS
            )
        except pg_errors.CheckViolation:
            raise Conflict(f"documents of '{whose.name}' are being processed; wait, or cancel their jobs") from None
        except pg_errors.DuplicateObject:
            raise Conflict(f"'{heir.name}' has a folder '{below}' already; rename it first") from None
        async with self._database.transaction(heir.id, local=LONG_TIMEOUTS) as connection:
            await lock_folder_readers(connection, heir.id, changing=True)
            theirs = await fetch_all(connection, "select id from document where owner = %s order by id", (heir.id,))
            moved = await assign_realms(connection, heir.id, [document_id for (document_id,) in theirs])
        await self._move_index_rows(heir.id, moved)
        return int(count)

    async def finish_moves(self) -> int:
        """Finish interrupted moves of every owner; return the number of documents."""
        async with self._database.transaction("", local=LONG_TIMEOUTS) as connection:
            left = await fetch_all(connection, "select owner, document_id from unsettled()")
        for owner in sorted({owner for owner, _ in left}):
            await self._move_index_rows(owner, [document_id for whose, document_id in left if whose == owner])
        return len(left)

    async def _move_index_rows(self, owner: str, documents: Sequence[str]) -> None:
        """Move the index rows of documents to their realm, in batches, so that no transaction takes long."""
        sizes = "select id, chunks from document where id = any(%(ids)s) order by id"
        [found] = await self._database.run_batch(owner, sizes, values={"ids": list(documents)})
        for some in _batches(found):
            async with self._database.transaction(owner, local=LONG_TIMEOUTS) as connection:
                await move_realms(connection, some)


def _batches(sizes: Iterable[Sequence[Any]]) -> list[list[str]]:
    """Return the documents in batches of about `CHUNKS_PER_TRANSACTION`; a document is never split."""
    batches: list[list[str]] = []
    left = 0
    for document_id, chunks in sizes:
        if left < chunks or not batches:
            batches.append([])
            left = CHUNKS_PER_TRANSACTION
        batches[-1].append(document_id)
        left -= max(1, chunks)
    return batches


async def lock_folder_readers(connection: Connection, owner: str, *, changing: bool = False) -> None:
    """Lock the readers of an owner's folders until the transaction ends: shared, or exclusively with `changing`.

    An upload reads the readers of its folder, and a change of permissions reads the documents of a folder: without the
    lock, concurrent transactions would not see each other. Lock before any document, and in a separate statement, so
    that the next statement sees the changes that were committed meanwhile.
    """
    lock = "select pg_advisory_xact_lock(%s, hashtext(%s))"
    shared = "select pg_advisory_xact_lock_shared(%s, hashtext(%s))"
    await connection.execute(lock if changing else shared, (_LOCK, owner))


async def documents_in_folder(connection: Connection, owner: str, path: str) -> list[str]:
    """Return the ids of an owner's documents in a folder and its subfolders."""
    query = "select id from document where owner = %s and (folder = %s or starts_with(folder, %s)) order by id"
    return [document_id for (document_id,) in await fetch_all(connection, query, (owner, path, f"{path}/"))]


async def assign_realms(connection: Connection, owner: str, documents: Sequence[str]) -> list[str]:
    """Move documents to the realm of their current readers; return those whose index rows must still be moved.

    If all documents of a realm get the same new readers, the realm's readers are changed instead, in one step.
    """
    # Locked first: a row that waited for its lock would be joined with its previous realm, and be left out.
    lock = "select from document where id = any(%s) and owner = %s order by id for update"
    await connection.execute(lock, (list(documents), owner))
    found = await fetch_all(connection, _WANTED, (list(documents), owner))
    moved: list[str] = []
    changed: set[int] = set()
    for before, readers in sorted({(before, tuple(readers)) for _, before, readers, correct in found if not correct}):
        some = [document_id for document_id, realm, wanted, _ in found if (realm, tuple(wanted)) == (before, readers)]
        renamed = await fetch_one(connection, "select rename_realm(%s, %s, %s)", (before, list(readers), some))
        if renamed == (True,):
            continue
        row = await fetch_one(connection, "select realm_of(%s)", (list(readers),))
        assert row is not None
        await connection.execute("update document set realm = %s where id = any(%s)", (row[0], some))
        await connection.execute("update version set realm = %s where document_id = any(%s)", (row[0], some))
        await connection.execute("update edition set astray = realm <> %s where document_id = any(%s)", (row[0], some))
        changed |= {before, row[0]}
        moved += some
    for realm in sorted(changed):
        await bump_revision(connection, realm)
    return moved


async def move_realms(connection: Connection, documents: Sequence[str]) -> None:
    """Move the index rows of documents (chunks, postings, vectors, words) to the realm of the documents."""
    await fetch_all(connection, "select from document where id = any(%s) order by id for update", (list(documents),))
    misplaced = [_MisplacedEdition(*row) for row in await fetch_all(connection, _MISPLACED, (list(documents),))]
    if not misplaced:
        return
    editions = [moved.edition for moved in misplaced]
    await remove_editions(connection, editions)
    await remove_words(connection, editions)
    texts = await fetch_all(connection, _CHUNK_TEXTS, (editions,))
    for realm in sorted({moved.realm for moved in misplaced}):
        await _move_rows(connection, realm, [moved for moved in misplaced if moved.realm == realm], texts)
    await connection.execute("update edition set astray = false where key = any(%s)", (editions,))
    for realm in sorted({moved.realm for moved in misplaced} | {moved.before for moved in misplaced}):
        await bump_revision(connection, realm)


async def _move_rows(
    connection: Connection, realm: int, misplaced: Sequence["_MisplacedEdition"], texts: Sequence[Any]
) -> None:
    """Move the rows of editions to a realm, with the words of their chunks."""
    editions = {moved.edition for moved in misplaced}
    values = {"realm": realm, "editions": list(editions), "documents": [moved.document for moved in misplaced]}
    for table, where in _REALM_TABLES.items():
        statement = sql.SQL("update {} set realm = %(realm)s where {} and realm <> %(realm)s")
        await connection.execute(statement.format(sql.Identifier(table), sql.SQL(where)), values)
    theirs = [(text, language) for edition, text, language in texts if edition in editions]
    await store_words(connection, realm, await asyncio.to_thread(_words, theirs))


@dataclass(frozen=True, slots=True)
class _MisplacedEdition:
    """An edition in another realm (`before`) than its document (`realm`)."""

    edition: int
    document: str
    before: int
    realm: int


def _words(texts: Iterable[Sequence[str]]) -> set[tuple[str, str]]:
    """Return the plain words of chunk texts with their terms, as indexing stores them."""
    return {form for text, language in texts for form in forms(text, language).items()}


_LOCK_BOTH = "select pg_advisory_xact_lock(%(lock)s, hashtext(p)) from unnest(%(both)s::text[]) p"
# The folders of all documents changed: so have the revisions of the realms, which only their owner may change.
_BECOME_HEIR = "select set_config('pincite.person', %(heir)s, true)"
_BUMP_REVISIONS = sql.SQL("""
    update corpus set revision = {} where realm in (select id from realm where owner = %(heir)s)
""").format(NEXT_REVISION)
# The last column says whether the document is in the right realm.
_WANTED = """
    select d.id, d.realm, w.readers, r.readers = w.readers
    from document d join realm r on r.id = d.realm cross join lateral (
        select array(select distinct p from unnest(coalesce(d.readers, readers_of(d.owner, d.folder))) p
                     where p <> 'user:' || d.owner order by p) as readers) w
    where d.id = any(%s) and d.owner = %s order by d.id
"""
_MISPLACED = """
    select e.key, d.id, e.realm, d.realm from edition e join document d on d.id = e.document_id
    where d.id = any(%s) and e.realm <> d.realm order by e.key for update of e
"""
_CHUNK_TEXTS = """
    select c.edition,
           concat_ws(e'\\n', v.about ->> 'title', array_to_string(c.heading_path, ' > '), c.header, c.text), c.language
    from chunk c join edition e on e.key = c.edition join version v on v.key = e.version
    where c.edition = any(%s) and c.level = 2
"""
_OF_VERSION = "version in (select key from version where document_id = any(%(documents)s))"
_REALM_TABLES: Mapping[str, str] = {
    "version": "document_id = any(%(documents)s)",
    "edition": "key = any(%(editions)s)",
    "chunk": "edition = any(%(editions)s)",
    "vector": "edition = any(%(editions)s)",
    "past_vector": "edition = any(%(editions)s)",
    "posting": "edition = any(%(editions)s)",
    "past_posting": "edition = any(%(editions)s)",
    **dict.fromkeys(ALL_TABLES, "edition = any(%(editions)s)"),
    "page": _OF_VERSION,
    "piece": _OF_VERSION,
    "enrichment": "document_id = any(%(documents)s)",
    "origin": "document_id = any(%(documents)s)",
    "fetched": "document_id = any(%(documents)s)",
}
"""Table with a realm → the condition on the rows of a document, in the order in which the tables are locked."""
