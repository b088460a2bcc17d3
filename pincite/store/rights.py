"""Who may read what: documents and folders shared with people, groups or everyone."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from psycopg import sql

from pincite.core.audit import Told
from pincite.core.callers import Scope
from pincite.errors import Invalid, NotFound
from pincite.store.audit import note
from pincite.store.database import LONG_WORK, Connection, Database, one, rows
from pincite.store.packs import take_out
from pincite.store.survey import changed
from pincite.store.vocabulary import forget_words, keep_words
from pincite.words import forms

Readers = tuple[str, ...]
"""Who may read besides the owner, in order: `user:ID`, `group:ID`, `everyone`."""
EVERYONE = "everyone"


@dataclass(frozen=True, slots=True)
class Wish:
    """Whom to share with, as somebody wrote it: ids or names of people and groups."""

    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    everyone: bool = False


class Rights:
    """Shares what one person owns, and sees to it that its rows lie where its readers find them.

    A change counts from its first transaction on: a document's text is read through its own row and its version's, and
    these say at once who may. What it is found by follows, document by document, at once and, should that be cut off,
    whenever a worker tidies.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def readers(self, scope: Scope, wish: Wish) -> Readers:
        """The ids behind the names; `Invalid` where one is nobody's."""
        query = "select given, principal from known_readers(%(users)s, %(groups)s)"
        values = {"users": list(wish.users), "groups": list(wish.groups)}
        [found] = await self._database.at_once(scope.person, query, values=values)
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
            done = await connection.execute(
                "update document set readers = %s, updated_at = now() where id = %s and realm = any(%s) and owner = %s",
                (None if readers is None else list(readers), document_id, list(scope.realms), scope.person),
            )
            if not done.rowcount:
                raise NotFound(f"there is no document '{document_id}'")
            moved = await refile(connection, scope.person, [document_id])
            await note(connection, Told("document.share", f"document:{document_id}", details={"readers": readers}))
        await self._settle(scope.person, moved)

    async def share_folder(self, scope: Scope, path: str, readers: Readers | None) -> None:
        """Let these read what lies in a folder and below it, where nothing nearer says otherwise."""
        async with self._database.transaction(scope.person, local=LONG_WORK) as connection:
            await connection.execute(
                "insert into folder (owner, path, readers) values (%s, %s, %s)"
                " on conflict (owner, path) do update set readers = excluded.readers, updated_at = now()",
                (scope.person, path, None if readers is None else list(readers)),
            )
            moved = await refile(connection, scope.person, await inside(connection, scope.person, path))
            await note(connection, Told("folder.share", f"folder:{path}", details={"readers": readers}))
        await self._settle(scope.person, moved)

    async def settle(self) -> int:
        """Finish what was cut off, whoever it belongs to."""
        async with self._database.transaction("", local=LONG_WORK) as connection:
            left = await rows(connection, "select owner, document_id from unsettled()")
        for owner, document_id in left:
            await self._settle(owner, [document_id])
        return len(left)

    async def _settle(self, owner: str, documents: Iterable[str]) -> None:
        for document_id in documents:
            async with self._database.transaction(owner, local=LONG_WORK) as connection:
                await follow(connection, document_id)


async def inside(connection: Connection, owner: str, path: str) -> list[str]:
    """The documents of one owner in a folder and below it."""
    query = "select id from document where owner = %s and (folder = %s or starts_with(folder, %s)) order by id"
    return [document_id for (document_id,) in await rows(connection, query, (owner, path, f"{path}/"))]


async def refile(connection: Connection, owner: str, documents: Sequence[str]) -> list[str]:
    """Put documents into the realm of whoever may read them now; those whose rows have yet to follow.

    Where all that lies in a realm goes the same way, the realm's readers change instead, in one step.
    """
    found = await rows(connection, _WANTED, (list(documents), owner))
    moved: list[str] = []
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
        for realm in sorted((before, row[0])):
            await changed(connection, realm)
        moved += some
    return moved


async def follow(connection: Connection, document_id: str) -> None:
    """Bring all that a document is found by to where the document lies."""
    found = await one(connection, "select realm from document where id = %s for update", (document_id,))
    if found is None:
        return
    realm = found[0]
    astray = await rows(connection, _ASTRAY, (document_id, realm))
    editions = [key for key, _ in astray]
    if not editions:
        return
    await take_out(connection, editions)
    await forget_words(connection, editions)
    words = await asyncio.to_thread(_words, await rows(connection, _PASSAGES, (editions,)))
    values = {"realm": realm, "editions": editions, "document": document_id}
    for table, where in _FOLLOWS.items():
        statement = sql.SQL("update {} set realm = %(realm)s where {} and realm <> %(realm)s")
        await connection.execute(statement.format(sql.Identifier(table), sql.SQL(where)), values)
    await keep_words(connection, realm, words)
    await connection.execute("update edition set astray = false where key = any(%s)", (editions,))
    for one_realm in sorted({realm, *(before for _, before in astray)}):
        await changed(connection, one_realm)


def _words(passages: Iterable[Sequence[str]]) -> set[tuple[str, str]]:
    """The plain words of passages, as they were kept when these were indexed."""
    return {form for text, language in passages for form in forms(text, language).items()}


# Documents are locked in one order, as everywhere. `is_now`: whether it lies where it should.
_WANTED = """
    select d.id, d.realm, w.readers, r.readers = w.readers
    from document d join realm r on r.id = d.realm cross join lateral (
        select array(select distinct p from unnest(coalesce(d.readers, readers_of(d.owner, d.folder))) p
                     where p <> 'user:' || d.owner order by p) as readers) w
    where d.id = any(%s) and d.owner = %s order by d.id for update of d
"""
_ASTRAY = "select key, realm from edition where document_id = %s and realm <> %s order by key for update"
_PASSAGES = """
    select concat_ws(e'\\n', v.about ->> 'title', array_to_string(c.heading_path, ' > '), c.header, c.text), c.language
    from chunk c join edition e on e.key = c.edition join version v on v.key = e.version
    where c.edition = any(%s) and c.level = 2
"""
_OF_VERSION = "version in (select key from version where document_id = %(document)s)"
_FOLLOWS: Mapping[str, str] = {
    "version": "document_id = %(document)s",
    "edition": "key = any(%(editions)s)",
    "chunk": "edition = any(%(editions)s)",
    "vector": "edition = any(%(editions)s)",
    "past_vector": "edition = any(%(editions)s)",
    "posting": "edition = any(%(editions)s)",
    "past_posting": "edition = any(%(editions)s)",
    "page": _OF_VERSION,
    "piece": _OF_VERSION,
    "enrichment": "document_id = %(document)s",
    "origin": "document_id = %(document)s",
    "fetched": "document_id = %(document)s",
}
"""What carries a document's realm, by which of its rows are the document's; in the order in which they are locked."""
