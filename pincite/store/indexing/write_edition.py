"""Writing an edition: a version's chunks, batch by batch, until the edition is published."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

from psycopg.errors import ForeignKeyViolation

from pincite.concurrency import Batcher
from pincite.errors import Conflict, StoreDown
from pincite.store.database import LONG_TIMEOUTS, Connection, Database, fetch_all, fetch_one
from pincite.store.documents.versions import archive_edition, remove_edition
from pincite.store.indexing import chunk_rows
from pincite.store.indexing import publish as publishing
from pincite.store.indexing.chunk_rows import ChunkRow
from pincite.store.indexing.jobs import PAUSE_S, Job
from pincite.store.indexing.publish import Edition, IndexTarget, ParsedVersion, digest_of

MIN_INDEXED, MAX_UNINDEXED = 4_000, 20_000
"""Vectors from which a library gets a vector index, and from which it gets one while documents are still added.

Below the first number every search compares all vectors (`rag.exact_rows`).
"""
T = TypeVar("T")
K = TypeVar("K", str, tuple[str, int])


@dataclass(frozen=True, slots=True)
class Target:
    """The version of a job; `outdated` if a newer one replaced it, `generation` is the index that is being built."""

    job: Job
    realm: int
    version_id: str
    mime: str
    outdated: bool
    generation: int | None


class EditionWriter:
    """Writes an edition that is not searched yet, batch by batch, then publishes it in one short transaction.

    Small documents that are ready at the same time are written and published in one transaction. With `building`, the
    editions are for an index that is being built, and are marked ready instead of being searched. `serving` is the
    signature of the searched index, if it is another than that of new editions.
    """

    def __init__(
        self, database: Database, model: int, signature: str, *, building: bool = False, serving: str = ""
    ) -> None:
        self._database = database
        self._index = IndexTarget(model, signature, building, serving or signature)
        self._targets = Batcher(self._find)
        self._known = Batcher(self._look_up, pause_s=PAUSE_S)
        self._publishing = Batcher(self._publish_all)
        self._clearing = Batcher(self._clear)

    async def target(self, job: Job) -> Target:
        """Return the version of a job; `Conflict` if its document was removed."""
        return await self._targets(job)

    async def _find(self, jobs: Sequence[Job]) -> list[Target | Exception]:
        found: dict[int, Target] = {}
        for owner, some in _group_by(jobs, lambda job: job.owner):
            values = {"jobs": [job.id for job in some], "versions": [job.version for job in some]}
            [known] = await self._database.run_batch(owner, _TARGETS, values=values)
            about = {row[0]: row[1:] for row in known}
            found |= {job.id: Target(job, *about[job.id]) for job in some if job.id in about}
        return [found.get(job.id) or Conflict(_REMOVED) for job in jobs]

    async def known_vectors(self, owner: str, hashes: Sequence[bytes]) -> dict[bytes, list[list[float]]]:
        """Return the stored vectors, window by window, of texts that this owner embedded with this model before."""
        return await self._known((owner, hashes))

    async def _look_up(
        self, asked: Sequence[tuple[str, Sequence[bytes]]]
    ) -> list[dict[bytes, list[list[float]]] | Exception]:
        known: dict[tuple[str, bytes], list[list[float]]] = {}
        for owner, some in _group_by(asked, lambda one: one[0]):
            wanted = list({digest for _, hashes in some for digest in hashes})
            [found] = await self._database.run_batch(
                owner, _KNOWN_VECTORS, values={"hashes": wanted, "model": self._index.model}
            )
            for digest, vector in found:
                known.setdefault((owner, digest), []).append(vector)
        return [
            {digest: known[owner, digest] for digest in hashes if (owner, digest) in known} for owner, hashes in asked
        ]

    async def has_text(self, job: Job, text: str) -> bool:
        """Whether this is the stored text of the job's version."""
        digest = await asyncio.to_thread(digest_of, text)
        query = "select md5(text) = %(digest)s from version where key = %(version)s"
        [found] = await self._database.run_batch(job.owner, query, values={"digest": digest, "version": job.version})
        return found == [(True,)]

    async def requeue_for_parsing(self, job: Job) -> None:
        """Queue the version for the searched index, which stores its new text, before the index that is being built."""
        async with self._database.transaction(job.owner, durable=False) as connection:
            await _lock_job(connection, job)
            await connection.execute(_REQUEUE, (job.id,))

    async def begin(self, target: Target) -> Edition:
        """Start a new edition; that of an earlier attempt stays until this one is published, to reuse its vectors."""
        async with self._database.transaction(target.job.owner, durable=False) as connection:
            await _lock_job(connection, target.job)
            [edition] = await self._begin(connection, [target])
            return edition

    async def _begin(self, connection: Connection, targets: Sequence[Target]) -> list[Edition]:
        values = {
            "versions": [target.job.version for target in targets],
            "documents": [target.job.document_id for target in targets],
            "realm": targets[0].realm,
            "signature": self._index.signature,
        }
        keys: dict[int, int] = dict(await fetch_all(connection, _BEGIN, values))
        return [Edition(target.job, keys[target.job.version], target.realm) for target in targets]

    async def write(self, edition: Edition, entries: Sequence[ChunkRow]) -> None:
        """Write a batch of chunks with their postings and vectors in one transaction."""
        try:
            async with self._database.transaction(edition.job.owner, durable=False, local=LONG_TIMEOUTS) as connection:
                await _lock_job(connection, edition.job)
                rows = [(edition.key, entry) for entry in entries]
                stored = await fetch_one(connection, "select realm from edition where key = %s", (edition.key,))
                if stored is None:
                    raise StoreDown(_LOST)
                await chunk_rows.write(connection, stored[0], rows, self._index.model)
        except ForeignKeyViolation as error:  # the edition was begun without waiting for the disk; a crash can undo it
            raise StoreDown(_LOST) from error

    async def serve(self, edition: Edition, found: ParsedVersion) -> None:
        """Publish this edition in one transaction; an edition with notes is incomplete and counts as stale."""
        async with self._database.transaction(edition.job.owner, local=LONG_TIMEOUTS) as connection:
            await connection.execute(_NO_SWITCH)
            await _lock_job(connection, edition.job)
            if edition.job.id not in await self._current(connection, [edition.job]):
                raise Conflict(_OVERTAKEN)
            await publishing.publish(connection, {edition: found}, self._index)
        await self._switch()

    async def publish(self, target: Target, found: ParsedVersion) -> None:
        """Begin, write and publish the edition of a small document, of one batch, in one transaction."""
        try:
            await self._publishing((target, found))
        except _Busy:  # another transaction has locked the document: this one waits for it alone
            [failed] = await self._publish_all([(target, found)], wait=True)
            if failed:
                raise failed from None

    async def _publish_all(
        self, ready: Sequence[tuple[Target, ParsedVersion]], *, wait: bool = False
    ) -> list[Exception | None]:
        ended: dict[int, Exception | None] = {}
        for (owner, _), some in _group_by(ready, lambda one: (one[0].job.owner, one[0].realm)):
            async with self._database.transaction(owner, local=LONG_TIMEOUTS) as connection:
                ended |= await self._publish_some(connection, some, wait)
        await self._switch()
        return [ended[target.job.id] for target, _ in ready]

    async def _publish_some(
        self, connection: Connection, ready: Sequence[tuple[Target, ParsedVersion]], wait: bool
    ) -> dict[int, Exception | None]:
        """Publish editions of one owner; return the error of each job, None for success."""
        jobs = [target.job for target, _ in ready]
        await connection.execute(_NO_SWITCH)
        free = jobs if wait else await _lock_free_documents(connection, jobs)
        locked = await _lock_jobs(connection, free)
        current = await self._current(connection, [job for job in free if job.id in locked])
        left = [(target, found) for target, found in ready if target.job.id in current]
        if left:
            editions = await self._begin(connection, [target for target, _ in left])
            served = {edition: found for edition, (_, found) in zip(editions, left, strict=True)}
            written = [(edition.key, entry) for edition, found in served.items() for entry in found.entries]
            await chunk_rows.write(connection, editions[0].realm, written, self._index.model)
            await publishing.publish(connection, served, self._index)
        ended: dict[int, Exception | None] = {job.id: _Busy() for job in jobs}
        for job in free:
            ended[job.id] = None if job.id in current else Conflict(_OVERTAKEN if job.id in locked else _REMOVED)
        return ended

    async def _current(self, connection: Connection, jobs: Sequence[Job]) -> set[int]:
        """Return the jobs whose version is still the latest; all for an index being built, whose switch checks it."""
        if self._index.building:
            return {job.id for job in jobs}
        values = ([job.id for job in jobs], [job.document_id for job in jobs], [job.version for job in jobs])
        return {job for (job,) in await fetch_all(connection, _CURRENT, values)}

    async def _switch(self) -> None:
        """Switch to the index that is being built, if this edition completed it."""
        if self._index.building:
            async with self._database.transaction("", local=LONG_TIMEOUTS) as connection:
                await connection.execute("select switch_generation(false)")

    async def fail(self, job: Job, code: str, message: str) -> None:
        """End a job that cannot succeed; the edition that was searched before stays searched."""
        text = message.replace("\0", " ")
        async with self._database.transaction(job.owner) as connection:
            generation = await _end(connection, job, "failed")
            if generation is not None:  # the searched edition is unaffected: only the index being built lacks it
                missing = (
                    "update generation set failures = failures || jsonb_build_object(%s::text, %s::text) where id = %s"
                )
                await connection.execute(missing, (job.document_id, text, generation))
                return
            await connection.execute(
                "update document set status = 'error', stage = null, error_code = %s, error_message = %s,"
                " updated_at = now() where id = %s and latest = %s",
                (code, text, job.document_id, job.version),
            )

    async def drop(self, job: Job) -> None:
        """End a job whose version was replaced by a newer one."""
        async with self._database.transaction(job.owner, durable=False) as connection:
            await _end(connection, job, "overtaken")

    async def index_vectors(self, *, loading: bool) -> None:
        """Create the vector index that a grown library needs; with `loading` only where search cannot wait for it."""
        await self._database.index_vectors(MAX_UNINDEXED if loading else MIN_INDEXED)

    async def clear_abandoned(self) -> int:
        """Archive the editions of earlier versions, and remove editions that are neither searched nor written."""
        return await self._clearing(None)

    async def _clear(self, asked: Sequence[None]) -> list[int | Exception]:
        async with self._database.transaction("", local=LONG_TIMEOUTS) as connection:
            abandoned = await fetch_all(connection, "select * from abandoned_editions()")
        for owner, key, keep in abandoned:
            async with self._database.transaction(owner, durable=False, local=LONG_TIMEOUTS) as connection:
                await (archive_edition if keep else remove_edition)(connection, key)
        return [len(abandoned)] * len(asked)


def _group_by(items: Iterable[T], key: Callable[[T], K]) -> Iterator[tuple[K, list[T]]]:
    """Group items by a key such as the owner, because each transaction is for one person."""
    for value, some in groupby(sorted(items, key=key), key):
        yield value, list(some)


async def _lock_job(connection: Connection, job: Job) -> None:
    """Lock the document, then the job; `Conflict` if either was removed or another worker has the job."""
    if not await _lock_jobs(connection, [job]):
        raise Conflict(_REMOVED)


class _Busy(Exception):
    """Another transaction has locked the document."""


async def _lock_free_documents(connection: Connection, jobs: Sequence[Job]) -> list[Job]:
    """Lock the documents that are not locked, and return their jobs."""
    query = "select id from document where id = any(%s) order by id for update skip locked"
    free = {document_id for (document_id,) in await fetch_all(connection, query, ([job.document_id for job in jobs],))}
    return [job for job in jobs if job.document_id in free]


async def _lock_jobs(connection: Connection, jobs: Sequence[Job]) -> set[int]:
    """Lock the documents, then the jobs; return the jobs that still exist and still belong to their worker.

    Every change of a document locks in this order: document, job, version, edition, packs, rows, and last the revision
    of the corpus; several rows of a table are locked in ascending order.
    """
    documents = ([job.document_id for job in jobs],)
    await connection.execute("select from document where id = any(%s) order by id for update", documents)
    holders = ([job.id for job in jobs], [job.holder for job in jobs])
    return {job for (job,) in await fetch_all(connection, _LOCK_JOBS, holders)}


async def _end(connection: Connection, job: Job, state: str) -> int | None:
    """Remove a job and its unpublished editions, and set the state of its version.

    Return the index that the job was for, or None for the searched one.
    """
    await _lock_job(connection, job)
    await connection.execute("update version set state = %s where key = %s and state = 'waiting'", (state, job.version))
    writing = await fetch_all(connection, _WRITING, {"version": job.version, "job": job.id})
    for (key,) in writing:
        await remove_edition(connection, key)
    removed = await fetch_one(connection, "delete from job where id = %s returning generation", (job.id,))
    return None if removed is None else removed[0]


_REMOVED = "the document was removed, or another worker took it over, while it was being processed"
_LOST = "the database restarted and lost the edition that was begun; indexing starts again"
# A shared lock: a switch to another index waits for the transactions that publish, or they see that it has happened.
_NO_SWITCH = "select pg_advisory_xact_lock_shared(1734701669)"
_OVERTAKEN = "a newer version of the document was uploaded while this one was being processed"

_TARGETS = """
    select j.id, v.realm, v.id, v.mime,
           v.key is distinct from case when g.id is null then d.latest else s.version end, g.id
    from unnest(%(jobs)s::bigint[], %(versions)s::int[]) as a (job, version)
    join version v on v.key = a.version join job j on j.id = a.job
    left join generation g on g.id = j.generation and g.state = 'building'
    join document d on d.id = v.document_id left join edition s on s.key = d.served
"""
_KNOWN_VECTORS = """
    select distinct on (hash, part) hash, embedding::real[] from vector
    where hash = any(%(hashes)s) and model = %(model)s and realm = any ((select own_realms())::int[])
    order by hash, part
"""
_LOCK_JOBS = """
    select j.id from job j
    join unnest(%s::bigint[], %s::text[]) as a (id, holder) on a.id = j.id and a.holder = j.holder
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
# If the version has another job, the edition that is being written may belong to that one.
_WRITING = """
    select key from edition where version = %(version)s and state = 'writing'
       and not exists (select from job where version = %(version)s and id <> %(job)s)
"""
_REQUEUE = """
    with gone as (delete from job where id = %s returning owner, document_id, version, place, priority)
    insert into job (owner, document_id, version, place, priority)
    select owner, document_id, version, place, priority from gone on conflict do nothing
"""
