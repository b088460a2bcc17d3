"""Making a version's passages searchable, batch by batch, until it is served."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

from psycopg.errors import ForeignKeyViolation

from pincite.concurrency import Batcher
from pincite.errors import Conflict, StoreDown
from pincite.store.database import LONG_WORK, Connection, Database, one, rows
from pincite.store.documents.versions import archive_edition, remove_edition
from pincite.store.indexing import chunk_rows
from pincite.store.indexing import publish as serving
from pincite.store.indexing.chunk_rows import ChunkRow
from pincite.store.indexing.jobs import Job
from pincite.store.indexing.publish import Edition, IndexTarget, ParsedVersion, digest_of

T = TypeVar("T")
K = TypeVar("K", str, tuple[str, int])


@dataclass(frozen=True, slots=True)
class Target:
    """The version a job is about."""

    job: Job
    realm: int
    version_id: str
    mime: str
    outdated: bool
    generation: int | None


class EditionWriter:
    """Fills an edition nobody sees yet, batch by batch, then serves it in one short transaction.

    Small documents that are ready at the same time are written and served in one go. Where it works for an index that
    is built beside the one searched, `beside`, the edition is laid ready instead.
    """

    def __init__(self, database: Database, model: int, signature: str, *, beside: bool = False) -> None:
        self._database = database
        self._index = IndexTarget(model, signature, beside)
        self._targets = Batcher(self._find)
        self._known = Batcher(self._look_up)
        self._publishing = Batcher(self._publish_all)
        self._clearing = Batcher(self._clear)

    async def target(self, job: Job) -> Target:
        """What a job is about; `Conflict` when its document is gone."""
        return await self._targets(job)

    async def _find(self, jobs: Sequence[Job]) -> list[Target | Exception]:
        found: dict[int, Target] = {}
        for owner, some in _grouped(jobs, lambda job: job.owner):
            values = {"jobs": [job.id for job in some], "versions": [job.version for job in some]}
            [known] = await self._database.run_batch(owner, _TARGETS, values=values)
            about = {row[0]: row[1:] for row in known}
            found |= {job.id: Target(job, *about[job.id]) for job in some if job.id in about}
        return [found.get(job.id) or Conflict(_GONE) for job in jobs]

    async def known_vectors(self, owner: str, hashes: Sequence[bytes]) -> dict[bytes, list[list[float]]]:
        """Vectors, window by window, of texts this owner has embedded with this model before."""
        return await self._known((owner, hashes))

    async def _look_up(
        self, asked: Sequence[tuple[str, Sequence[bytes]]]
    ) -> list[dict[bytes, list[list[float]]] | Exception]:
        known: dict[tuple[str, bytes], list[list[float]]] = {}
        for owner, some in _grouped(asked, lambda one: one[0]):
            wanted = list({digest for _, hashes in some for digest in hashes})
            [found] = await self._database.run_batch(
                owner, _KNOWN, values={"hashes": wanted, "model": self._index.model}
            )
            for digest, vector in found:
                known.setdefault((owner, digest), []).append(vector)
        return [
            {digest: known[owner, digest] for digest in hashes if (owner, digest) in known} for owner, hashes in asked
        ]

    async def says(self, job: Job, text: str) -> bool:
        """Whether this is the text that is kept of the job's version."""
        digest = await asyncio.to_thread(digest_of, text)
        query = "select md5(text) = %(digest)s from version where key = %(version)s"
        [found] = await self._database.run_batch(job.owner, query, values={"digest": digest, "version": job.version})
        return found == [(True,)]

    async def read_anew(self, job: Job) -> None:
        """Have the version made part of the index that is searched first, with its text; then of the one that is built."""
        async with self._database.transaction(job.owner, durable=False) as connection:
            await _hold(connection, job)
            await connection.execute(_READ_ANEW, (job.id,))

    async def begin(self, target: Target) -> Edition:
        """Start a new edition; an earlier try's stays until this one is served, for the vectors it has."""
        async with self._database.transaction(target.job.owner, durable=False) as connection:
            await _hold(connection, target.job)
            [edition] = await self._begin(connection, [target])
            return edition

    async def _begin(self, connection: Connection, targets: Sequence[Target]) -> list[Edition]:
        values = {
            "versions": [target.job.version for target in targets],
            "documents": [target.job.document_id for target in targets],
            "realm": targets[0].realm,
            "signature": self._index.signature,
        }
        keys: dict[int, int] = dict(await rows(connection, _BEGIN, values))
        return [Edition(target.job, keys[target.job.version], target.realm) for target in targets]

    async def write(self, edition: Edition, entries: Sequence[ChunkRow]) -> None:
        """Write a batch of passages with their words and vectors; all of it or nothing."""
        try:
            async with self._database.transaction(edition.job.owner, durable=False, local=LONG_WORK) as connection:
                await _hold(connection, edition.job)
                rows = [(edition.key, entry) for entry in entries]
                where = await one(connection, "select realm from edition where key = %s", (edition.key,))
                if where is None:
                    raise StoreDown(_LOST)
                await chunk_rows.write(connection, where[0], rows, self._index.model)
        except ForeignKeyViolation as error:  # what was begun did not wait for the disk, and a crash may undo it
            raise StoreDown(_LOST) from error

    async def serve(self, edition: Edition, found: ParsedVersion) -> None:
        """Switch readers to this edition, in one step; one with notes lacks something and counts as stale."""
        async with self._database.transaction(edition.job.owner, local=LONG_WORK) as connection:
            await connection.execute(_NO_SWITCH)
            await _hold(connection, edition.job)
            if edition.job.id not in await self._current(connection, [edition.job]):
                raise Conflict(_OVERTAKEN)
            await serving.publish(connection, {edition: found}, self._index)
        await self._switch()

    async def publish(self, target: Target, found: ParsedVersion) -> None:
        """Begin, write and serve the edition of a document so small that it is one batch, all in one transaction."""
        try:
            await self._publishing((target, found))
        except _Busy:  # somebody else has the document: this one waits for it, and no other does
            [failed] = await self._publish_all([(target, found)], wait=True)
            if failed:
                raise failed from None

    async def _publish_all(
        self, ready: Sequence[tuple[Target, ParsedVersion]], *, wait: bool = False
    ) -> list[Exception | None]:
        ended: dict[int, Exception | None] = {}
        for (owner, _), some in _grouped(ready, lambda one: (one[0].job.owner, one[0].realm)):
            async with self._database.transaction(owner, local=LONG_WORK) as connection:
                ended |= await self._publish_some(connection, some, wait)
        await self._switch()
        return [ended[target.job.id] for target, _ in ready]

    async def _publish_some(
        self, connection: Connection, ready: Sequence[tuple[Target, ParsedVersion]], wait: bool
    ) -> dict[int, Exception | None]:
        """Publish these of one owner; how each ended."""
        jobs = [target.job for target, _ in ready]
        await connection.execute(_NO_SWITCH)
        free = jobs if wait else await _free(connection, jobs)
        held = await _held(connection, free)
        current = await self._current(connection, [job for job in free if job.id in held])
        left = [(target, found) for target, found in ready if target.job.id in current]
        if left:
            editions = await self._begin(connection, [target for target, _ in left])
            served = {edition: found for edition, (_, found) in zip(editions, left, strict=True)}
            written = [(edition.key, entry) for edition, found in served.items() for entry in found.entries]
            await chunk_rows.write(connection, editions[0].realm, written, self._index.model)
            await serving.publish(connection, served, self._index)
        ended: dict[int, Exception | None] = {job.id: _Busy() for job in jobs}
        for job in free:
            ended[job.id] = None if job.id in current else Conflict(_OVERTAKEN if job.id in held else _GONE)
        return ended

    async def _current(self, connection: Connection, jobs: Sequence[Job]) -> set[int]:
        """Those whose version is still the latest; which of an index that is built beside, its switch will tell."""
        if self._index.beside:
            return {job.id for job in jobs}
        values = ([job.id for job in jobs], [job.document_id for job in jobs], [job.version for job in jobs])
        return {job for (job,) in await rows(connection, _CURRENT, values)}

    async def _switch(self) -> None:
        """Have the index that is built searched, where this was the last of it."""
        if self._index.beside:
            async with self._database.transaction("", local=LONG_WORK) as connection:
                await connection.execute("select switch_generation(false)")

    async def fail(self, job: Job, code: str, message: str) -> None:
        """End a job that cannot succeed; what was served before stays served."""
        told = message.replace("\0", " ")
        async with self._database.transaction(job.owner) as connection:
            generation = await _end(connection, job, "failed")
            if generation is not None:  # the document is served as it was: only its part of another index is missing
                missing = (
                    "update generation set failures = failures || jsonb_build_object(%s::text, %s::text) where id = %s"
                )
                await connection.execute(missing, (job.document_id, told, generation))
                return
            await connection.execute(
                "update document set status = 'error', stage = null, error_code = %s, error_message = %s,"
                " updated_at = now() where id = %s and latest = %s",
                (code, told, job.document_id, job.version),
            )

    async def drop(self, job: Job) -> None:
        """End a job whose version was overtaken by a newer one."""
        async with self._database.transaction(job.owner, durable=False) as connection:
            await _end(connection, job, "overtaken")

    async def clear_abandoned(self) -> int:
        """Lay apart what was served of earlier versions, and remove what nobody is served or writing any more."""
        return await self._clearing(None)

    async def _clear(self, asked: Sequence[None]) -> list[int | Exception]:
        async with self._database.transaction("", local=LONG_WORK) as connection:
            abandoned = await rows(connection, "select * from abandoned_editions()")
        for owner, key, keep in abandoned:
            async with self._database.transaction(owner, durable=False, local=LONG_WORK) as connection:
                await (archive_edition if keep else remove_edition)(connection, key)
        return [len(abandoned)] * len(asked)


def _grouped(items: Iterable[T], key: Callable[[T], K]) -> Iterator[tuple[K, list[T]]]:
    """What belongs to one owner together, for each transaction is one person's."""
    for value, some in groupby(sorted(items, key=key), key):
        yield value, list(some)


async def _hold(connection: Connection, job: Job) -> None:
    """Lock the document, then the job; `Conflict` where either is gone or the job was given to somebody else."""
    if not await _held(connection, [job]):
        raise Conflict(_GONE)


class _Busy(Exception):
    """Somebody else has the document at this moment."""


async def _free(connection: Connection, jobs: Sequence[Job]) -> list[Job]:
    """Those whose documents nobody has locked; they are locked now."""
    query = "select id from document where id = any(%s) order by id for update skip locked"
    free = {one for (one,) in await rows(connection, query, ([job.document_id for job in jobs],))}
    return [job for job in jobs if job.document_id in free]


async def _held(connection: Connection, jobs: Sequence[Job]) -> set[int]:
    """Lock the documents, then the jobs; those that are still there and still with who claimed them.

    Everybody who changes a document locks in this order: document, job, version, edition, packs, rows, and last the
    revision of the documents; and of several of a kind the least first.
    """
    documents = ([job.document_id for job in jobs],)
    await connection.execute("select from document where id = any(%s) order by id for update", documents)
    holders = ([job.id for job in jobs], [job.holder for job in jobs])
    return {job for (job,) in await rows(connection, _HELD, holders)}


async def _end(connection: Connection, job: Job, state: str) -> int | None:
    """Take a job and what it wrote away, and say how its version ended; which index it was for, if not the one searched."""
    await _hold(connection, job)
    await connection.execute("update version set state = %s where key = %s and state = 'waiting'", (state, job.version))
    writing = await rows(connection, _WRITING, {"version": job.version, "job": job.id})
    for (key,) in writing:
        await remove_edition(connection, key)
    gone = await one(connection, "delete from job where id = %s returning generation", (job.id,))
    return None if gone is None else gone[0]


_GONE = "the document was removed, or given to another worker, while it was being processed"
_LOST = "the database was restarted and has lost what was begun; it begins again"
# Whoever serves is done before a switch looks what is missing, or sees that it was made.
_NO_SWITCH = "select pg_advisory_xact_lock_shared(1734701669)"
_OVERTAKEN = "a newer version of the document came in while this one was being processed"

_TARGETS = """
    select j.id, v.realm, v.id, v.mime,
           v.key is distinct from case when g.id is null then d.latest else s.version end, g.id
    from unnest(%(jobs)s::bigint[], %(versions)s::int[]) as a (job, version)
    join version v on v.key = a.version join job j on j.id = a.job
    left join generation g on g.id = j.generation and g.state = 'building'
    join document d on d.id = v.document_id left join edition s on s.key = d.served
"""
_KNOWN = """
    select distinct on (hash, part) hash, embedding::real[] from vector
    where hash = any(%(hashes)s) and model = %(model)s and realm = any ((select own_realms())::int[]) order by hash, part
"""
_HELD = """
    select j.id from job j join unnest(%s::bigint[], %s::text[]) as a (id, holder) on a.id = j.id and a.holder = j.holder
    order by j.id for update of j
"""
_CURRENT = """
    select a.job from unnest(%s::bigint[], %s::text[], %s::int[]) as a (job, document, version)
    join document d on d.id = a.document and d.latest = a.version
"""
_BEGIN = """
    insert into edition (version, document_id, realm, signature)
    select a.version, a.document, %(realm)s, %(signature)s
    from unnest(%(versions)s::int[], %(documents)s::text[]) as a (version, document)
    returning version, key
"""
# Where the version has another job, what is being written may be that one's.
_WRITING = """
    select key from edition where version = %(version)s and state = 'writing'
       and not exists (select from job where version = %(version)s and id <> %(job)s)
"""
_READ_ANEW = """
    with gone as (delete from job where id = %s returning owner, document_id, version, place, priority)
    insert into job (owner, document_id, version, place, priority)
    select owner, document_id, version, place, priority from gone on conflict do nothing
"""
