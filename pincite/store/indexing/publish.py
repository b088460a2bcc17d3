"""Publishing: the transaction that makes a new edition the searched one."""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from psycopg.types.json import Jsonb

from pincite.core.documents.document import Parsed
from pincite.store.access.permissions import move_realms
from pincite.store.database import Connection, fetch_all
from pincite.store.indexing.chunk_rows import ChunkRow
from pincite.store.indexing.jobs import Job
from pincite.store.search.corpus_stats import bump_revision
from pincite.store.search.pages import store_pages


@dataclass(frozen=True, slots=True)
class IndexTarget:
    """The index that editions are written for: its model, and the signature of the settings they are made with.

    `building` if it is built, not yet searched. `serving` is the signature of the searched index, which differs from
    that of new editions after a change of index settings.
    """

    model: int
    signature: str
    building: bool = False
    serving: str = ""


@dataclass(frozen=True, slots=True)
class Edition:
    """A new edition of a version, which is being written and not yet searched."""

    job: Job
    key: int
    realm: int


@dataclass(frozen=True, slots=True)
class ParsedVersion:
    """The parsed text and the chunks of a version; `notes` say what could not be read or indexed."""

    parsed: Parsed
    entries: Sequence[ChunkRow] = ()
    notes: Sequence[str] = ()


async def publish(connection: Connection, served: Mapping[Edition, ParsedVersion], index: IndexTarget) -> None:
    """Make these editions of one owner the searched ones; in an index that is being built, mark them ready."""
    values = {
        "editions": [edition.key for edition in served],
        "versions": [edition.job.version for edition in served],
        "documents": [edition.job.document_id for edition in served],
        "jobs": [edition.job.id for edition in served],
        "wanting": [edition.key for edition, found in served.items() if found.notes],
        "state": "ready" if index.building else "served",
        "model": index.model,
        "signature": index.signature,
        "serving": index.serving,
    }
    if not index.building:
        await connection.execute(_RETIRE, values)
    await connection.execute(_STATE, values)
    await connection.execute(_COUNT, values)
    if values["wanting"]:
        await connection.execute(_MARK_INCOMPLETE, values)
    for (document_id,) in await fetch_all(connection, _MOVED, values):  # its realm changed while it was being indexed
        await move_realms(connection, [document_id])
    if index.building:
        await connection.execute("delete from job where id = any(%(jobs)s)", values)
        return
    documents = Jsonb([_document_values(edition, found) for edition, found in served.items()])
    await connection.execute(_UPDATE_DOCUMENTS, {"documents": documents})
    versions = await asyncio.to_thread(_version_values, served)
    await connection.execute(_RETIRE_OUTDATED, versions)
    await connection.execute(_UPDATE_VERSIONS, versions)
    for edition, found in served.items():
        await store_pages(connection, edition.job.version, found.parsed)
    await connection.execute(_END_JOBS, values)
    for (realm,) in await fetch_all(connection, _REALMS, values):
        await bump_revision(connection, realm)


_RETIRE = """
    update edition e set state = 'retired' from document d where d.id = any(%(documents)s) and e.key = d.served
"""
# What interrupted jobs left is retired; an edition that another job is writing for another index is not.
_STATE = """
    update edition e set state = case when key = any(%(editions)s) then %(state)s else 'retired' end
    where version = any(%(versions)s) and state = 'writing' and signature = %(signature)s
      and (key = any(%(editions)s)
           or not exists (select from job j where j.version = e.version and j.id <> all(%(jobs)s)))
"""
_COUNT = """
    update edition e set model = %(model)s,
           languages = array(select distinct language from chunk where edition = e.key and level = 2),
           chunks = (select count(*) from chunk where edition = e.key and level = 2),
           vectors = (select count(*) from vector where edition = e.key),
           words = (select coalesce(sum(frequency), 0) from posting where edition = e.key)
    where e.key = any(%(editions)s)
"""
_MARK_INCOMPLETE = "update edition set signature = signature || ':wanting' where key = any(%(wanting)s)"
# A document that was indexed while another index is being built is queued for that index, too; one that was begun
# before a switch is queued for the index that is searched now, unless it has the settings of that index already.
_END_JOBS = """
    with done as (delete from job where id = any(%(jobs)s) returning owner, document_id, version, place)
    insert into job (owner, document_id, version, place, priority, generation)
    select d.owner, d.document_id, d.version, d.place, 2, case g.state when 'building' then g.id end
    from done d join generation g on g.signature <> %(signature)s
         and (g.state = 'building' or (g.state = 'serving' and g.signature <> %(serving)s))
    on conflict do nothing
"""
_UPDATE_DOCUMENTS = """
    update document d set served = e.key, model = e.model, status = 'completed', stage = null, progress = 1,
           error_code = null, error_message = null, updated_at = now(), languages = e.languages, chunks = e.chunks,
           vectors = e.vectors, words = e.words,
           title = coalesce(given ->> 'title', s.title, d.name), author = coalesce(given ->> 'author', s.author),
           description = coalesce(given ->> 'description', s.description), category = s.category,
           tags = array(select jsonb_array_elements_text(coalesce(given -> 'tags', s.tags))),
           source_urls = array(select jsonb_array_elements_text(s.urls)),
           notes = array(select jsonb_array_elements_text(s.notes))
    from jsonb_to_recordset(%(documents)s) as s (id text, edition int, title text, author text, description text,
                                            category text, tags jsonb, urls jsonb, notes jsonb)
    join edition e on e.key = s.edition where d.id = s.id
"""
_MOVED = """
    select d.id from edition e join document d on d.id = e.document_id
    where e.key = any(%(editions)s) and e.realm <> d.realm order by d.id
"""
_REALMS = "select distinct realm from document where id = any(%(documents)s) order by realm"
# Chunks of another index refer to the same text: if it changed, that edition is retired, and built again if needed.
_RETIRE_OUTDATED = """
    update edition e set state = 'retired'
    from unnest(%(versions)s::int[], %(digests)s::text[]) as s (version, digest) join version v on v.key = s.version
    where e.version = s.version and e.state = 'ready' and md5(v.text) <> s.digest
"""
# The document's current metadata is stored with the version, for the time when a newer version replaces it.
_UPDATE_VERSIONS = """
    update version v set state = 'indexed', text = s.text, page_starts = s.page_starts::int[],
        body_start = s.body_start,
        about = jsonb_build_object('title', d.title, 'author', d.author, 'description', d.description,
                                   'category', d.category, 'tags', to_jsonb(d.tags),
                                   'source_urls', to_jsonb(d.source_urls))
    from unnest(%(versions)s::int[], %(texts)s::text[], %(page_starts)s::text[], %(body_starts)s::int[])
         as s (version, text, page_starts, body_start), document d
    where v.key = s.version and d.id = v.document_id
"""


def _document_values(edition: Edition, found: ParsedVersion) -> dict[str, object]:
    parsed = found.parsed
    return {
        "id": edition.job.document_id,
        "edition": edition.key,
        "title": parsed.title,
        "author": parsed.author,
        "description": parsed.description,
        "category": parsed.category,
        "tags": parsed.tags,
        "urls": parsed.source_urls,
        "notes": found.notes,
    }


def digest_of(text: str) -> str:
    """Return the MD5 digest of a text, equal to PostgreSQL's `md5(text)`."""
    return hashlib.md5(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def _version_values(served: Mapping[Edition, ParsedVersion]) -> dict[str, object]:
    texts = [found.parsed for found in served.values()]
    return {
        "versions": [edition.job.version for edition in served],
        "texts": [parsed.text for parsed in texts],
        "page_starts": ["{" + ",".join(map(str, parsed.page_starts)) + "}" for parsed in texts],
        "body_starts": [parsed.body_start for parsed in texts],
        "digests": [digest_of(parsed.text) for parsed in texts],
    }
