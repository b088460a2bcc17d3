"""Who may read what: documents and folders shared with people, groups or everyone."""

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
from pincite.store.database import LONG_WORK, Connection, Database, one, rows
from pincite.store.search.corpus_stats import bump_revision
from pincite.store.search.packed_postings import remove_editions
from pincite.store.search.vocabulary import remove_words, store_words
from pincite.text.terms import forms

Readers = tuple[str, ...]
"""Who may read besides the owner, in order: `user:ID`, `group:ID`, `everyone`."""
EVERYONE = "everyone"
_LOCK = 0x72756C65  # "rule": who may read what one person owns
AT_A_TIME = 2_000
"""Passages that follow their documents in one transaction, unless one document has more."""


class Permissions:
    """Shares what one person owns, and sees to it that its rows lie where its readers find them.

    A change counts from its first transaction on: a document's text is read through its own row and its version's, and
    these say at once who may. What it is found by follows, some documents at a time, at once and, should that be cut
    off, whenever a worker tidies.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def readers(self, scope: Scope, wish: ShareRequest) -> Readers:
        """The ids behind the names; `Invalid` where one is nobody's."""
        query = "select given, principal from known_readers(%(users)s, %(groups)s)"
        values = {"users": list(wish.users), "groups": list(wish.groups)}
        [found] = await self._database.run_batch(scope.person, query, values=values)
        known = {(principal.partition(":")[0], given) for given, principal in found}
        for kind, names in (("user", wish.users), ("group", wish.groups)):
            if missing := [name for name in names if (kind, name) not in known]:
                raise Invalid(f"there is no {kind} '{missing[0]}'", code=f"no_{kind}")
        own = f"user:{scope.person}"
        named = {principal for _, principal in found if principal != own}
        return tuple(sorted(named | ({EVERYONE} if wish.everyone else set())))

    async def share(self, scope: Scope, document_id: str, readers: Readers | None) -> None:
        """Let these read a document, and no others; with None, those who may read what lies in its folder."""
        async with self._database.transaction(scope.person, local=LONG_WORK) as connection:
            await hold_folders(connection, scope.person, changing=True)
            done = await connection.execute(  # its realm may be newer than the scope
                "update document set readers = %s, updated_at = now() where id = %s and owner = %s",
                (None if readers is None else list(readers), document_id, scope.person),
            )
            if not done.rowcount:
                raise NotFound(f"there is no document '{document_id}'")
            moved = await refile(connection, scope.person, [document_id])
            await record(
                connection, AuditEntry("document.share", f"document:{document_id}", details={"readers": readers})
            )
        await self._settle(scope.person, moved)

    async def share_folder(self, scope: Scope, path: str, readers: Readers | None) -> None:
        """Let these read what lies in a folder and below it, where nothing nearer says otherwise."""
        async with self._database.transaction(scope.person, local=LONG_WORK) as connection:
            await hold_folders(connection, scope.person, changing=True)
            await connection.execute(
                "insert into folder (owner, path, readers) values (%s, %s, %s)"
                " on conflict (owner, path) do update set readers = excluded.readers, updated_at = now()",
                (scope.person, path, None if readers is None else list(readers)),
            )
            moved = await refile(connection, scope.person, await inside(connection, scope.person, path))
            await record(connection, AuditEntry("folder.share", f"folder:{path}", details={"readers": readers}))
        await self._settle(scope.person, moved)

    async def hand_over(self, by: str, whose: Person, heir: Person) -> int:
        """Give all documents of one person to another, in a folder named after the one; their readers stay."""
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
            [_, [(handed,)]] = await self._database.run_batch(by, _HOLD_BOTH, query, values=values, local=LONG_WORK)
        except pg_errors.CheckViolation:
            raise Conflict(f"documents of '{whose.name}' are being processed; wait, or cancel that") from None
        except pg_errors.DuplicateObject:
            raise Conflict(f"'{heir.name}' has a folder '{below}' already; rename it first") from None
        async with self._database.transaction(heir.id, local=LONG_WORK) as connection:
            await hold_folders(connection, heir.id, changing=True)
            theirs = await rows(connection, "select id from document where owner = %s order by id", (heir.id,))
            moved = await refile(connection, heir.id, [document_id for (document_id,) in theirs])
        await self._settle(heir.id, moved)
        return int(handed)

    async def settle(self) -> int:
        """Finish what was cut off, whoever it belongs to."""
        async with self._database.transaction("", local=LONG_WORK) as connection:
            left = await rows(connection, "select owner, document_id from unsettled()")
        for owner in sorted({owner for owner, _ in left}):
            await self._settle(owner, [document_id for whose, document_id in left if whose == owner])
        return len(left)

    async def _settle(self, owner: str, documents: Sequence[str]) -> None:
        """Let what documents are found by follow them, many at a time, though none that others wait long for."""
        sizes = "select id, chunks from document where id = any(%(ids)s) order by id"
        [found] = await self._database.run_batch(owner, sizes, values={"ids": list(documents)})
        for some in _batches(found):
            async with self._database.transaction(owner, local=LONG_WORK) as connection:
                await move_realms(connection, some)


def _batches(sizes: Iterable[Sequence[Any]]) -> list[list[str]]:
    """Documents in parts, of some passages each; a document is never divided."""
    parts: list[list[str]] = []
    room = 0
    for document_id, chunks in sizes:
        if room < chunks or not parts:
            parts.append([])
            room = AT_A_TIME
        parts[-1].append(document_id)
        room -= max(1, chunks)
    return parts


async def hold_folders(connection: Connection, owner: str, *, changing: bool = False) -> None:
    """Let what an owner's folders say about readers stay as it is until the transaction ends, or change rights alone.

    Whoever puts a new document somewhere reads it, and whoever changes rights looks which documents lie there: at the same
    moment neither would see the other. Before any document is locked, and in a statement of its own, after which the next one
    sees what was done meanwhile.
    """
    lock = "select pg_advisory_xact_lock(%s, hashtext(%s))"
    shared = "select pg_advisory_xact_lock_shared(%s, hashtext(%s))"
    await connection.execute(lock if changing else shared, (_LOCK, owner))


async def inside(connection: Connection, owner: str, path: str) -> list[str]:
    """The documents of one owner in a folder and below it."""
    query = "select id from document where owner = %s and (folder = %s or starts_with(folder, %s)) order by id"
    return [document_id for (document_id,) in await rows(connection, query, (owner, path, f"{path}/"))]


async def refile(connection: Connection, owner: str, documents: Sequence[str]) -> list[str]:
    """Put documents into the realm of whoever may read them now; those whose rows have yet to follow.

    Where all that lies in a realm goes the same way, the realm's readers change instead, in one step.
    """
    # Locked first: a row that waited for its lock would be joined with the realm it had before, and be left out.
    lock = "select from document where id = any(%s) and owner = %s order by id for update"
    await connection.execute(lock, (list(documents), owner))
    found = await rows(connection, _WANTED, (list(documents), owner))
    moved: list[str] = []
    others: set[int] = set()
    for before, readers in sorted({(before, tuple(readers)) for _, before, readers, is_now in found if not is_now}):
        some = [one_id for one_id, realm, wanted, _ in found if (realm, tuple(wanted)) == (before, readers)]
        renamed = await one(connection, "select rename_realm(%s, %s, %s)", (before, list(readers), some))
        if renamed == (True,):
            continue
        row = await one(connection, "select realm_of(%s)", (list(readers),))
        assert row is not None
        await connection.execute("update document set realm = %s where id = any(%s)", (row[0], some))
        await connection.execute("update version set realm = %s where document_id = any(%s)", (row[0], some))
        await connection.execute("update edition set astray = realm <> %s where document_id = any(%s)", (row[0], some))
        others |= {before, row[0]}
        moved += some
    for realm in sorted(others):
        await bump_revision(connection, realm)
    return moved


async def move_realms(connection: Connection, documents: Sequence[str]) -> None:
    """Bring all that documents are found by to where the documents lie."""
    await rows(connection, "select from document where id = any(%s) order by id for update", (list(documents),))
    astray = [_Astray(*row) for row in await rows(connection, _ASTRAY, (list(documents),))]
    if not astray:
        return
    editions = [lost.edition for lost in astray]
    await remove_editions(connection, editions)
    await remove_words(connection, editions)
    passages = await rows(connection, _PASSAGES, (editions,))
    for realm in sorted({lost.realm for lost in astray}):
        await _move(connection, realm, [lost for lost in astray if lost.realm == realm], passages)
    await connection.execute("update edition set astray = false where key = any(%s)", (editions,))
    for realm in sorted({lost.realm for lost in astray} | {lost.before for lost in astray}):
        await bump_revision(connection, realm)


async def _move(connection: Connection, realm: int, moving: Sequence["_Astray"], passages: Sequence[Any]) -> None:
    """Put the rows of editions into a realm, with the words of these passages that are theirs."""
    editions = {lost.edition for lost in moving}
    values = {"realm": realm, "editions": list(editions), "documents": [lost.document for lost in moving]}
    for table, where in _FOLLOWS.items():
        statement = sql.SQL("update {} set realm = %(realm)s where {} and realm <> %(realm)s")
        await connection.execute(statement.format(sql.Identifier(table), sql.SQL(where)), values)
    theirs = [(text, language) for edition, text, language in passages if edition in editions]
    await store_words(connection, realm, await asyncio.to_thread(_words, theirs))


@dataclass(frozen=True, slots=True)
class _Astray:
    """An edition that lies elsewhere than its document: in which realm, and in which it should."""

    edition: int
    document: str
    before: int
    realm: int


def _words(passages: Iterable[Sequence[str]]) -> set[tuple[str, str]]:
    """The plain words of passages, as they were kept when these were indexed."""
    return {form for text, language in passages for form in forms(text, language).items()}


_HOLD_BOTH = "select pg_advisory_xact_lock(%(lock)s, hashtext(p)) from unnest(%(both)s::text[]) p"
# The last column says whether it lies where it should.
_WANTED = """
    select d.id, d.realm, w.readers, r.readers = w.readers
    from document d join realm r on r.id = d.realm cross join lateral (
        select array(select distinct p from unnest(coalesce(d.readers, readers_of(d.owner, d.folder))) p
                     where p <> 'user:' || d.owner order by p) as readers) w
    where d.id = any(%s) and d.owner = %s order by d.id
"""
_ASTRAY = """
    select e.key, d.id, e.realm, d.realm from edition e join document d on d.id = e.document_id
    where d.id = any(%s) and e.realm <> d.realm order by e.key for update of e
"""
_PASSAGES = """
    select c.edition, concat_ws(e'\\n', v.about ->> 'title', array_to_string(c.heading_path, ' > '), c.header, c.text), c.language
    from chunk c join edition e on e.key = c.edition join version v on v.key = e.version
    where c.edition = any(%s) and c.level = 2
"""
_OF_VERSION = "version in (select key from version where document_id = any(%(documents)s))"
_FOLLOWS: Mapping[str, str] = {
    "version": "document_id = any(%(documents)s)",
    "edition": "key = any(%(editions)s)",
    "chunk": "edition = any(%(editions)s)",
    "vector": "edition = any(%(editions)s)",
    "past_vector": "edition = any(%(editions)s)",
    "posting": "edition = any(%(editions)s)",
    "past_posting": "edition = any(%(editions)s)",
    "page": _OF_VERSION,
    "piece": _OF_VERSION,
    "enrichment": "document_id = any(%(documents)s)",
    "origin": "document_id = any(%(documents)s)",
    "fetched": "document_id = any(%(documents)s)",
}
"""What carries a document's realm, by which of its rows are the document's; in the order in which they are locked."""
