"""Building the data of an engine: claim an edition, read its passages, publish what was built in one transaction."""

import secrets
from collections.abc import Collection, Sequence
from typing import Protocol, cast

from pincite.core.accounts.access import Scope
from pincite.core.engines import BuildPassage, BuildProgress, BuildSource, BuildTarget, BuiltEngine
from pincite.errors import Conflict
from pincite.store.database import LONG_TIMEOUTS, Connection, Database, fetch_all, fetch_one
from pincite.store.engines.tables import remove_rows


class EngineRows(Protocol):
    """What an engine built for an edition; `write` inserts the rows of it."""

    async def write(self, connection: Connection, target: BuildTarget, realm: int) -> None: ...


class EngineBuilds:
    """Which editions have the data of an engine. A search sees what is built of an edition at once, or nothing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(
        self, engine: BuiltEngine, signature: str, *, lease_s: float, most: int
    ) -> list[tuple[BuildTarget, int]]:
        """Claim editions that lack the data of an engine; each with the number of attempts so far."""
        holder = secrets.token_hex(8)
        query = "select * from claim_builds(%s, %s, %s, %s, %s)"
        async with self._database.transaction("", durable=False, local=LONG_TIMEOUTS) as connection:
            found = await fetch_all(connection, query, (engine, signature, holder, lease_s, most))
        return [
            (BuildTarget(owner, document, edition, holder), attempts) for owner, document, edition, attempts in found
        ]

    async def renew(self, engine: BuiltEngine, target: BuildTarget, lease_s: float) -> bool:
        """Renew the lease of a claim; False where it was lost."""
        values = {"engine": engine, "edition": target.edition, "holder": target.holder, "lease": lease_s}
        [found] = await self._database.run_batch(target.owner, _RENEW, values=values, durable=False)
        return bool(found)

    async def release(self, engine: BuiltEngine, targets: Sequence[BuildTarget]) -> None:
        """Give claims back that were not begun; they count as no attempt."""
        for target in targets:
            values = {"engine": engine, "edition": target.edition, "holder": target.holder}
            await self._database.run_batch(target.owner, _RELEASE, values=values, durable=False)

    async def source(self, target: BuildTarget) -> BuildSource:
        """Read the passages of an edition; `Conflict` if it was removed."""
        async with self._database.transaction(target.owner, local=LONG_TIMEOUTS) as connection:
            about = await fetch_one(connection, _ABOUT, (target.edition,))
            if about is None:
                raise Conflict(_GONE)
            passages = await fetch_all(connection, _PASSAGES, (target.edition,))
        return BuildSource(
            about[0],
            about[1],
            tuple(
                BuildPassage(chunk, ordinal, start, text, tuple(path), content_type, language)
                for chunk, ordinal, start, text, path, content_type, language in passages
            ),
        )

    async def publish(
        self, engine: BuiltEngine, target: BuildTarget, signature: str, rows: EngineRows, note: str = ""
    ) -> None:
        """Write what was built in place of what there was, in one transaction; `note` says what is missing.

        The transaction does not wait for the disk: what a crash takes back is built again.
        """
        async with self._database.transaction(target.owner, durable=False, local=LONG_TIMEOUTS) as connection:
            realm = await _lock(connection, engine, target)
            await remove_rows(connection, [target.edition], [engine])
            await rows.write(connection, target, realm)
            await connection.execute(_DONE, (signature, note[:MAX_NOTE_CHARS], realm, target.edition, engine))

    async def fail(self, engine: BuiltEngine, target: BuildTarget, signature: str, reason: str) -> None:
        """Record why an edition could not be built; what was built of it before stays."""
        async with self._database.transaction(target.owner) as connection:
            realm = await _lock(connection, engine, target)
            note = reason.replace("\0", " ")[:MAX_NOTE_CHARS]
            await connection.execute(_DONE, (signature, note, realm, target.edition, engine))

    async def restart(self, engine: BuiltEngine, scope: Scope, document_ids: Sequence[str] | None) -> None:
        """Have editions built again: those of these documents of the caller, or all that are incomplete."""
        ids = None if document_ids is None else list(document_ids)
        async with self._database.transaction(scope.person) as connection:
            await connection.execute(_RESTART, {"engine": engine, "owner": scope.person, "ids": ids})

    async def progress(self, engine: BuiltEngine, scope: Scope, signature: str) -> BuildProgress:
        """Return how far an engine is with the documents that the caller owns."""
        values = {"engine": engine, "signature": signature, "owner": scope.person}
        [[row]] = await self._database.run_batch(scope.person, _PROGRESS, values=values)
        return BuildProgress(*row)

    async def built(self, scope: Scope) -> Collection[BuiltEngine]:
        """Return the engines with data for any document in the scope; a scope that was just read knows them."""
        if scope.built is not None:
            return cast("Collection[BuiltEngine]", scope.built)
        [found] = await self._database.run_batch(scope.person, _BUILT, values={"realms": list(scope.realms)})
        return frozenset(engine for (engine,) in found)


async def _lock(connection: Connection, engine: BuiltEngine, target: BuildTarget) -> int:
    """Lock the document, then the claim; return the realm, or raise `Conflict` where either is gone."""
    await connection.execute("select from document where id = %s for update", (target.document_id,))
    found = await fetch_one(connection, _LOCK, (target.edition, engine, target.holder))
    if found is None:
        raise Conflict(_GONE)
    return int(found[0])


MAX_NOTE_CHARS = 500
_GONE = "the document was removed or replaced, or another worker took it over, while it was being built"
_ABOUT = """
    select d.title, v.mime from edition e join document d on d.id = e.document_id join version v on v.key = e.version
    where e.key = %s
"""
_PASSAGES = """
    select key, ordinal, start_char, text, heading_path, content_type, language from chunk
    where edition = %s and level = 2 order by ordinal
"""
_RENEW = """
    update engine_edition set lease_until = now() + make_interval(secs => %(lease)s)
    where edition = %(edition)s and engine = %(engine)s and holder = %(holder)s returning 1
"""
_RELEASE = """
    update engine_edition set holder = null, lease_until = null, attempts = greatest(0, attempts - 1)
    where edition = %(edition)s and engine = %(engine)s and holder = %(holder)s
"""
# The rows of an edition that is moving to another realm are written afterwards, in the realm where it then is.
_LOCK = """
    select e.realm from engine_edition b join edition e on e.key = b.edition and not e.astray
    where b.edition = %s and b.engine = %s and b.holder = %s for update of b
"""
_DONE = """
    update engine_edition set signature = %s, note = %s, realm = %s, holder = null, lease_until = null, attempts = 0
    where edition = %s and engine = %s
"""
_RESTART = """
    update engine_edition b set signature = case when b.signature is null then null else '' end, attempts = 0, note = ''
    from edition e join document d on d.id = e.document_id
    where e.key = b.edition and d.owner = %(owner)s and b.engine = %(engine)s and b.holder is null
      and (d.id = any(%(ids)s::text[]) or (%(ids)s::text[] is null and b.note <> ''))
"""
_PROGRESS = """
    select count(*), count(*) filter (where b.signature = %(signature)s),
           count(*) filter (where b.signature = %(signature)s and b.note <> '')
    from document d left join engine_edition b on b.edition = d.served and b.engine = %(engine)s
    where d.owner = %(owner)s and d.served is not null
"""
_BUILT = """
    select wanted from unnest(array['graph', 'tree', 'late']) wanted where exists (
        select from engine_edition b
        where b.engine = wanted and b.signature is not null and b.realm = any(%(realms)s))
"""
