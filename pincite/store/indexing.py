"""Writing a version's passages, words and vectors, and the one step that serves it."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from psycopg.errors import ForeignKeyViolation

from pincite.core.documents import Chunk, Level, Parsed
from pincite.errors import Conflict, StoreDown
from pincite.store.database import LONG_WORK, Connection, Database, one, rows
from pincite.store.history import clear, lay_apart
from pincite.store.jobs import Job
from pincite.store.survey import changed
from pincite.store.vocabulary import keep_words


@dataclass(frozen=True, slots=True)
class Entry:
    """A chunk with everything it is found by; `forms` are its plain words, each with its term."""

    chunk: Chunk
    checksum: str
    terms: Mapping[str, int]
    hash: bytes
    windows: Sequence[Sequence[float]]
    vectorized_text: str | None = None
    forms: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Target:
    """The version a job is about."""

    job: Job
    realm: int
    version_id: str
    mime: str
    outdated: bool
    generation: int | None


@dataclass(frozen=True, slots=True)
class Edition:
    """A new indexing of a version, being written away from readers."""

    job: Job
    key: int
    realm: int


class Indexing:
    """Fills an edition nobody sees yet, batch by batch, then serves it in one short transaction.

    Where it works for an index that is built beside the one searched, `beside`, the edition is laid ready instead.
    """

    def __init__(self, database: Database, model: int, signature: str, *, beside: bool = False) -> None:
        self._database = database
        self._model = model
        self._signature = signature
        self._beside = beside

    async def target(self, job: Job) -> Target:
        """What a job is about; `Conflict` when its document is gone."""
        query = (
            "select v.realm, v.id, v.mime, v.key is distinct from case when j.generation is null then d.latest else s.version end,"
            " j.generation from version v join document d on d.id = v.document_id left join edition s on s.key = d.served"
            " join job j on j.id = %(job)s where v.key = %(version)s"
        )
        [found] = await self._database.at_once(job.owner, query, values={"version": job.version, "job": job.id})
        if not found:
            raise Conflict(_GONE)
        return Target(job, *found[0])

    async def begin(self, target: Target) -> Edition:
        """Start a new edition; an earlier try's stays until this one is served, for the vectors it has."""
        async with self._database.transaction(target.job.owner, durable=False) as connection:
            await _hold(connection, target.job)
            return await self._begin(connection, target)

    async def publish(
        self, target: Target, entries: Sequence[Entry], parsed: Parsed, notes: Sequence[str] = ()
    ) -> None:
        """Begin, write and serve the edition of a document so small that it is one batch, all in one transaction."""
        async with self._database.transaction(target.job.owner, local=LONG_WORK) as connection:
            await _hold(connection, target.job)
            edition = await self._begin(connection, target)
            await self._write(connection, edition, entries)
            await self._serve(connection, edition, parsed, notes)
        await self._switch()

    async def _begin(self, connection: Connection, target: Target) -> Edition:
        row = await one(
            connection,
            "insert into edition (version, document_id, realm, signature) values (%s, %s, %s, %s) returning key",
            (target.job.version, target.job.document_id, target.realm, self._signature),
        )
        assert row is not None
        return Edition(target.job, row[0], target.realm)

    async def known_vectors(self, owner: str, hashes: Sequence[bytes]) -> dict[bytes, list[list[float]]]:
        """Vectors, window by window, of texts this owner has embedded with this model before."""
        query = (
            "select distinct on (hash, part) hash, embedding::real[] from vector"
            " where hash = any(%(hashes)s) and model = %(model)s order by hash, part"
        )
        [found] = await self._database.at_once(owner, query, values={"hashes": list(hashes), "model": self._model})
        known: dict[bytes, list[list[float]]] = {}
        for digest, vector in found:
            known.setdefault(digest, []).append(vector)
        return known

    async def write(self, edition: Edition, entries: Sequence[Entry]) -> None:
        """Write a batch of passages with their words and vectors; all of it or nothing."""
        try:
            async with self._database.transaction(edition.job.owner, durable=False, local=LONG_WORK) as connection:
                await _hold(connection, edition.job)
                await self._write(connection, edition, entries)
        except ForeignKeyViolation as error:  # what was begun did not wait for the disk, and a crash may undo it
            raise StoreDown("the database was restarted and has lost what was begun; it begins again") from error

    async def _write(self, connection: Connection, edition: Edition, entries: Sequence[Entry]) -> None:
        chunks = await asyncio.to_thread(_chunk_columns, edition, entries)
        keys: dict[int, int] = dict(await rows(connection, _INSERT_CHUNKS, chunks))
        postings = await asyncio.to_thread(_posting_columns, edition, entries, keys)
        await connection.execute(_INSERT_POSTINGS, postings)
        await keep_words(connection, edition.realm, {form for entry in entries for form in entry.forms.items()})
        vectors = await asyncio.to_thread(_vector_columns, edition, entries, keys, self._model)
        await connection.execute(_INSERT_VECTORS, vectors)

    async def serve(self, edition: Edition, parsed: Parsed, notes: Sequence[str] = ()) -> None:
        """Switch readers to this edition, in one step; one with notes lacks something and counts as stale."""
        async with self._database.transaction(edition.job.owner, local=LONG_WORK) as connection:
            await _hold(connection, edition.job)
            await self._serve(connection, edition, parsed, notes)
        await self._switch()

    async def _switch(self) -> None:
        """Have the index that is built searched, where this was the last of it."""
        if self._beside:
            async with self._database.transaction("", local=LONG_WORK) as connection:
                await connection.execute("select switch_generation(false)")

    async def _serve(self, connection: Connection, edition: Edition, parsed: Parsed, notes: Sequence[str] = ()) -> None:
        job = edition.job
        if self._beside:
            await self._lay_ready(connection, edition, notes)
            return
        row = await one(
            connection, "select served from document where id = %s and latest = %s", (job.document_id, job.version)
        )
        if row is None:
            raise Conflict("a newer version of the document came in while this one was being processed")
        await connection.execute("update edition set state = 'retired' where key = %s", (row[0],))
        await connection.execute(
            "update edition set state = case when key = %s then 'served' else 'retired' end"
            " where version = %s and state = 'writing' and signature = %s",
            (edition.key, job.version, self._signature),
        )
        await connection.execute(_MEASURE, {"edition": edition.key, "model": self._model})
        if notes:
            await connection.execute(_WANTING, (edition.key,))
        await connection.execute(_SERVE, _document_columns(edition, parsed) | {"notes": list(notes)})
        await connection.execute(_SAY, (parsed.text, list(parsed.page_starts), parsed.body_start, job.version))
        await connection.execute(_DONE, {"job": job.id, "signature": self._signature})
        await changed(connection, edition.realm)

    async def _lay_ready(self, connection: Connection, edition: Edition, notes: Sequence[str]) -> None:
        """Complete an edition of an index that is not searched yet; the document is served as it was."""
        await connection.execute(
            "update edition set state = case when key = %s then 'ready' else 'retired' end"
            " where version = %s and state = 'writing' and signature = %s",
            (edition.key, edition.job.version, self._signature),
        )
        await connection.execute(_MEASURE, {"edition": edition.key, "model": self._model})
        if notes:
            await connection.execute(_WANTING, (edition.key,))
        await connection.execute("delete from job where id = %s", (edition.job.id,))

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
        async with self._database.transaction("", local=LONG_WORK) as connection:
            abandoned = await rows(connection, "select * from abandoned_editions()")
        for owner, key, keep in abandoned:
            async with self._database.transaction(owner, durable=False, local=LONG_WORK) as connection:
                await (lay_apart if keep else clear)(connection, key)
        return len(abandoned)


async def _hold(connection: Connection, job: Job) -> None:
    """Lock the document, then the job; `Conflict` where either is gone or the job was given to somebody else.

    Everybody who changes a document locks in this order: document, job, version, edition, packs, rows, and last the
    revision of the documents.
    """
    await connection.execute("select from document where id = %s for update", (job.document_id,))
    held = await one(connection, "select 1 from job where id = %s and holder = %s for update", (job.id, job.holder))
    if held is None:
        raise Conflict(_GONE)


async def _end(connection: Connection, job: Job, state: str) -> int | None:
    """Take a job and what it wrote away, and say how its version ended; which index it was for, if not the one searched."""
    await _hold(connection, job)
    await connection.execute("update version set state = %s where key = %s and state = 'waiting'", (state, job.version))
    writing = await rows(connection, _WRITING, {"version": job.version, "job": job.id})
    for (key,) in writing:
        await clear(connection, key)
    gone = await one(connection, "delete from job where id = %s returning generation", (job.id,))
    return None if gone is None else gone[0]


_GONE = "the document was removed, or given to another worker, while it was being processed"

_INSERT_CHUNKS = """
    insert into chunk (edition, realm, ordinal, level, parent, text, header, start_char, end_char, start_line, end_line,
                       page, heading_path, content_type, language, tokens, checksum, vectorized_text)
    select %(edition)s, %(realm)s, c.ordinal, c.level, c.parent, c.text, c.header, c.start_char, c.end_char,
           c.start_line, c.end_line, c.page, coalesce(string_to_array(nullif(c.path, ''), e'\\x1f'), '{}'), c.content_type, c.language,
           c.tokens, c.checksum, c.vectorized_text
    from unnest(%(ordinal)s::int[], %(level)s::int[], %(parent)s::int[], %(text)s::text[], %(header)s::text[],
                %(start_char)s::int[], %(end_char)s::int[], %(start_line)s::int[], %(end_line)s::int[], %(page)s::int[],
                %(path)s::text[], %(content_type)s::text[], %(language)s::text[], %(tokens)s::int[],
                %(checksum)s::text[], %(vectorized_text)s::text[])
         as c (ordinal, level, parent, text, header, start_char, end_char, start_line, end_line, page, path, content_type,
               language, tokens, checksum, vectorized_text)
    returning ordinal, key
"""
_INSERT_POSTINGS = """
    insert into posting (term, chunk, edition, realm, frequency, words)
    select p.term, p.chunk, %(edition)s, %(realm)s, p.frequency, p.words
    from unnest(%(term)s::text[], %(chunk)s::int[], %(frequency)s::int[], %(words)s::int[])
         as p (term, chunk, frequency, words)
"""
_INSERT_VECTORS = """
    insert into vector (chunk, edition, realm, part, model, hash, embedding)
    select v.chunk, %(edition)s, %(realm)s, v.part, %(model)s, v.hash, v.embedding::halfvec
    from unnest(%(chunk)s::int[], %(part)s::int[], %(hash)s::bytea[], %(embedding)s::text[])
         as v (chunk, part, hash, embedding)
"""
_MEASURE = """
    update edition set model = %(model)s,
           languages = array(select distinct language from chunk where edition = %(edition)s and level = 2),
           chunks = (select count(*) from chunk where edition = %(edition)s and level = 2),
           vectors = (select count(*) from vector where edition = %(edition)s),
           words = (select coalesce(sum(frequency), 0) from posting where edition = %(edition)s)
    where key = %(edition)s
"""
# Where the version has another job, what is being written may be that one's.
_WRITING = """
    select key from edition where version = %(version)s and state = 'writing'
       and not exists (select from job where version = %(version)s and id <> %(job)s)
"""
_WANTING = "update edition set signature = signature || ':wanting' where key = %s"
# What came while an index is being built becomes part of it; what was begun before a switch is made anew after it.
_DONE = """
    with done as (delete from job where id = %(job)s returning owner, document_id, version, place)
    insert into job (owner, document_id, version, place, priority, generation)
    select d.owner, d.document_id, d.version, d.place, 2, case g.state when 'building' then g.id end
    from done d join generation g on g.state in ('building', 'serving') and g.signature <> %(signature)s
    on conflict do nothing
"""
_SERVE = """
    update document set served = e.key, model = e.model, status = 'completed', stage = null, progress = 1, error_code = null,
           error_message = null, updated_at = now(), languages = e.languages, chunks = e.chunks, vectors = e.vectors,
           words = e.words,
           title = coalesce(given ->> 'title', %(title)s, name), author = coalesce(given ->> 'author', %(author)s),
           description = coalesce(given ->> 'description', %(description)s), category = %(category)s,
           tags = case when given ? 'tags' then array(select jsonb_array_elements_text(given -> 'tags'))
                       else %(tags)s::text[] end,
           source_urls = %(urls)s::text[], notes = %(notes)s::text[]
    from edition e where e.key = %(edition)s and id = %(id)s
"""
# What the document says of itself now is what this version said, should another come.
_SAY = """
    update version v set state = 'indexed', text = %s, page_starts = %s, body_start = %s, about = jsonb_build_object(
        'title', d.title, 'author', d.author, 'description', d.description, 'category', d.category,
        'tags', to_jsonb(d.tags), 'source_urls', to_jsonb(d.source_urls))
    from document d where d.id = v.document_id and v.key = %s
"""


def _document_columns(edition: Edition, parsed: Parsed) -> dict[str, object]:
    return {
        "id": edition.job.document_id,
        "edition": edition.key,
        "title": parsed.title,
        "author": parsed.author,
        "description": parsed.description,
        "category": parsed.category,
        "tags": list(parsed.tags),
        "urls": list(parsed.source_urls),
    }


def _chunk_columns(edition: Edition, entries: Sequence[Entry]) -> dict[str, object]:
    chunks = [entry.chunk for entry in entries]
    return {
        "edition": edition.key,
        "realm": edition.realm,
        "ordinal": [c.ordinal for c in chunks],
        "level": [int(c.level) for c in chunks],
        "parent": [c.parent for c in chunks],
        "text": [c.text if c.level == Level.CHUNK else None for c in chunks],
        "header": [c.header for c in chunks],
        "start_char": [c.start for c in chunks],
        "end_char": [c.end for c in chunks],
        "start_line": [c.start_line for c in chunks],
        "end_line": [c.end_line for c in chunks],
        "page": [c.page for c in chunks],
        "path": ["\x1f".join(c.heading_path) for c in chunks],
        "content_type": [c.content_type for c in chunks],
        "language": [c.language for c in chunks],
        "tokens": [c.tokens for c in chunks],
        "checksum": [entry.checksum for entry in entries],
        "vectorized_text": [entry.vectorized_text for entry in entries],
    }


def _posting_columns(edition: Edition, entries: Sequence[Entry], keys: Mapping[int, int]) -> dict[str, object]:
    term: list[str] = []
    chunk: list[int] = []
    frequency: list[int] = []
    words: list[int] = []
    for entry in entries:
        count = len(entry.terms)
        term += entry.terms
        frequency += entry.terms.values()
        chunk += [keys[entry.chunk.ordinal]] * count
        words += [sum(entry.terms.values())] * count
    return {
        "edition": edition.key,
        "realm": edition.realm,
        "term": term,
        "chunk": chunk,
        "frequency": frequency,
        "words": words,
    }


def _vector_columns(
    edition: Edition, entries: Sequence[Entry], keys: Mapping[int, int], model: int
) -> dict[str, object]:
    flat = [
        (keys[entry.chunk.ordinal], part, entry.hash, "[" + ",".join(f"{x:.5g}" for x in vector) + "]")
        for entry in entries
        for part, vector in enumerate(entry.windows)
    ]
    chunk, part, digest, embedding = zip(*flat, strict=True) if flat else ((), (), (), ())
    return {
        "edition": edition.key,
        "realm": edition.realm,
        "model": model,
        "chunk": list(chunk),
        "part": list(part),
        "hash": list(digest),
        "embedding": list(embedding),
    }
