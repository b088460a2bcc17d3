"""The one step in which readers are switched to what was indexed."""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from psycopg.types.json import Jsonb

from pincite.core.documents.document import Parsed
from pincite.store.access.permissions import move_realms
from pincite.store.database import Connection, rows
from pincite.store.indexing.chunk_rows import ChunkRow
from pincite.store.indexing.jobs import Job
from pincite.store.search.corpus_stats import bump_revision
from pincite.store.search.pages import store_pages


@dataclass(frozen=True, slots=True)
class IndexTarget:
    """What an edition is made for: the index of one model and one way of cutting, searched or built `beside` it."""

    model: int
    signature: str
    beside: bool = False


@dataclass(frozen=True, slots=True)
class Edition:
    """A new indexing of a version, being written away from readers."""

    job: Job
    key: int
    realm: int


@dataclass(frozen=True, slots=True)
class ParsedVersion:
    """What a version says and is found by; `notes` are what is missing of it."""

    parsed: Parsed
    entries: Sequence[ChunkRow] = ()
    notes: Sequence[str] = ()


async def publish(connection: Connection, served: Mapping[Edition, ParsedVersion], index: IndexTarget) -> None:
    """Switch readers to these editions of one owner; or, for an index that is not searched yet, lay them ready."""
    values = {
        "editions": [edition.key for edition in served],
        "versions": [edition.job.version for edition in served],
        "documents": [edition.job.document_id for edition in served],
        "jobs": [edition.job.id for edition in served],
        "wanting": [edition.key for edition, found in served.items() if found.notes],
        "state": "ready" if index.beside else "served",
        "model": index.model,
        "signature": index.signature,
    }
    if not index.beside:
        await connection.execute(_RETIRE, values)
    await connection.execute(_STATE, values)
    await connection.execute(_MEASURE, values)
    if values["wanting"]:
        await connection.execute(_WANTING, values)
    for (document_id,) in await rows(connection, _SHARED, values):  # while it was being read
        await move_realms(connection, [document_id])
    if index.beside:
        await connection.execute("delete from job where id = any(%(jobs)s)", values)
        return
    await connection.execute(_SERVE, {"said": Jsonb([_document(*one) for one in served.items()])})
    said = await asyncio.to_thread(_texts, served)
    await connection.execute(_OUTDATE, said)
    await connection.execute(_SAY, said)
    for edition, found in served.items():
        await store_pages(connection, edition.job.version, found.parsed)
    await connection.execute(_DONE, values)
    for (realm,) in await rows(connection, _REALMS, values):
        await bump_revision(connection, realm)


_RETIRE = """
    update edition e set state = 'retired' from document d where d.id = any(%(documents)s) and e.key = d.served
"""
_STATE = """
    update edition set state = case when key = any(%(editions)s) then %(state)s else 'retired' end
    where version = any(%(versions)s) and state = 'writing' and signature = %(signature)s
"""
_MEASURE = """
    update edition e set model = %(model)s,
           languages = array(select distinct language from chunk where edition = e.key and level = 2),
           chunks = (select count(*) from chunk where edition = e.key and level = 2),
           vectors = (select count(*) from vector where edition = e.key),
           words = (select coalesce(sum(frequency), 0) from posting where edition = e.key)
    where e.key = any(%(editions)s)
"""
_WANTING = "update edition set signature = signature || ':wanting' where key = any(%(wanting)s)"
# What came while an index is being built becomes part of it; what was begun before a switch is made anew after it.
_DONE = """
    with done as (delete from job where id = any(%(jobs)s) returning owner, document_id, version, place)
    insert into job (owner, document_id, version, place, priority, generation)
    select d.owner, d.document_id, d.version, d.place, 2, case g.state when 'building' then g.id end
    from done d join generation g on g.state in ('building', 'serving') and g.signature <> %(signature)s
    on conflict do nothing
"""
_SERVE = """
    update document d set served = e.key, model = e.model, status = 'completed', stage = null, progress = 1,
           error_code = null, error_message = null, updated_at = now(), languages = e.languages, chunks = e.chunks,
           vectors = e.vectors, words = e.words,
           title = coalesce(given ->> 'title', s.title, d.name), author = coalesce(given ->> 'author', s.author),
           description = coalesce(given ->> 'description', s.description), category = s.category,
           tags = array(select jsonb_array_elements_text(coalesce(given -> 'tags', s.tags))),
           source_urls = array(select jsonb_array_elements_text(s.urls)),
           notes = array(select jsonb_array_elements_text(s.notes))
    from jsonb_to_recordset(%(said)s) as s (id text, edition int, title text, author text, description text,
                                            category text, tags jsonb, urls jsonb, notes jsonb)
    join edition e on e.key = s.edition where d.id = s.id
"""
_SHARED = """
    select d.id from edition e join document d on d.id = e.document_id
    where e.key = any(%(editions)s) and e.realm <> d.realm order by d.id
"""
_REALMS = "select distinct realm from document where id = any(%(documents)s) order by realm"
# Passages of another index stand in the same text: where that is another by now, they are made anew when they are needed.
_OUTDATE = """
    update edition e set state = 'retired'
    from unnest(%(versions)s::int[], %(digests)s::text[]) as s (version, digest) join version v on v.key = s.version
    where e.version = s.version and e.state = 'ready' and md5(v.text) <> s.digest
"""
# What the document says of itself now is what this version said, should another come.
_SAY = """
    update version v set state = 'indexed', text = s.text, page_starts = s.page_starts::int[], body_start = s.body_start,
        about = jsonb_build_object('title', d.title, 'author', d.author, 'description', d.description,
                                   'category', d.category, 'tags', to_jsonb(d.tags), 'source_urls', to_jsonb(d.source_urls))
    from unnest(%(versions)s::int[], %(texts)s::text[], %(page_starts)s::text[], %(body_starts)s::int[])
         as s (version, text, page_starts, body_start), document d
    where v.key = s.version and d.id = v.document_id
"""


def _document(edition: Edition, found: ParsedVersion) -> dict[str, object]:
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
    """What tells a text from another, as the database counts it."""
    return hashlib.md5(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def _texts(served: Mapping[Edition, ParsedVersion]) -> dict[str, object]:
    said = [found.parsed for found in served.values()]
    return {
        "versions": [edition.job.version for edition in served],
        "texts": [parsed.text for parsed in said],
        "page_starts": ["{" + ",".join(map(str, parsed.page_starts)) + "}" for parsed in said],
        "body_starts": [parsed.body_start for parsed in said],
        "digests": [digest_of(parsed.text) for parsed in said],
    }
