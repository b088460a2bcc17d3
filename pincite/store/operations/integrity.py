"""Integrity check of a library: rows, files and search results."""

import asyncio
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

from pincite.config.branches.retrieval import Rag
from pincite.core.accounts.access import Scope
from pincite.core.documents.document import Progress
from pincite.core.operations import IntegrityReport
from pincite.core.query.question import Filters
from pincite.store.database import LONG_TIMEOUTS, Database, fetch_all
from pincite.store.documents.blob_files import BlobFiles
from pincite.store.search.postgres_index import PostgresIndex

BLOCK_BYTES = 2**20
"""Bytes of a file that are read at a time."""
DOCUMENTS_PER_PERSON = 20
"""Documents of each person that are searched for by one of their own chunks."""
MAX_RANK = 50
"""Rank that this chunk must reach: other chunks of the document may have the same text."""
Report = Callable[[Progress], None]


async def inspect(database: Database, files: BlobFiles, report: Report) -> IntegrityReport:
    """Check the documents of every owner, with the owner's permissions; nothing is changed."""
    wrong: list[str] = []
    documents = searched = checked = 0
    for scope in await _people(database):
        report(Progress("comparing rows", 0, len(_CHECKS), 0.0, of="check"))
        for number, check in enumerate(_CHECKS, start=1):
            [found] = await database.run_batch(scope.person, check, values={}, local=LONG_TIMEOUTS)
            wrong += [str(line) for (line,) in found if str(line) not in wrong]
            report(Progress("comparing rows", number, len(_CHECKS), 0.0, of="check"))
        checked += await _check_files(database, files, scope, wrong, report)
        searched += await _search(database, scope, wrong)
        [[(count,)]] = await database.run_batch(
            scope.person, "select count(*) from document where owner = me()", values={}
        )
        documents += count
    return IntegrityReport(documents, checked, searched, await stray_files(database, files), tuple(wrong))


async def stray_files(database: Database, files: BlobFiles) -> int:
    """Return the number of files without a version; they are removed automatically after an hour."""
    async with database.transaction("") as connection:
        known = {(str(d), str(v)) for d, v in await fetch_all(connection, "select * from known_versions()")}
    return len(await asyncio.to_thread(files.stray, known, older_than=float("inf")))


async def _people(database: Database) -> list[Scope]:
    async with database.transaction("") as connection:
        people = [str(person) for (person,) in await fetch_all(connection, "select id from everybody()")]
    found = []
    for person in people:
        [realms] = await database.run_batch(person, "select unnest(own_realms())", values={})
        found.append(Scope(person, tuple(realm for (realm,) in realms)))
    return found


async def _check_files(database: Database, files: BlobFiles, scope: Scope, wrong: list[str], report: Report) -> int:
    """Check that every version's file exists, on disk or in the database, and has the uploaded content."""
    [versions] = await database.run_batch(scope.person, _VERSIONS, values={}, local=LONG_TIMEOUTS)
    for number, (document_id, version_id, name, checksum, in_database) in enumerate(versions, start=1):
        path, title = files.path(document_id, version_id), f"{name} ({document_id}), version {version_id}"
        found = in_database or await asyncio.to_thread(_digest, path)
        if found != checksum and await _exists(database, scope, document_id, version_id):
            wrong.append(f"{title}: its file {'is missing' if not found else 'differs from the uploaded one'}")
        report(Progress("checking files", number, len(versions), 0.0))
    return len(versions)


def _digest(path: Path) -> str:
    """Return the SHA-256 digest of a file; empty if there is none."""
    try:
        with open(path, "rb") as file:
            digest = hashlib.sha256()
            for block in _blocks(file.read):
                digest.update(block)
    except FileNotFoundError:
        return ""
    return digest.hexdigest()


def _blocks(read: Callable[[int], bytes]) -> Iterator[bytes]:
    while block := read(BLOCK_BYTES):
        yield block


async def _exists(database: Database, scope: Scope, document_id: str, version_id: str) -> bool:
    """Whether a version still exists; it may have been removed during the check."""
    query = "select 1 from version where document_id = %(document)s and id = %(version)s"
    values = {"document": document_id, "version": version_id}
    [found] = await database.run_batch(scope.person, query, values=values)
    return bool(found)


async def _search(database: Database, scope: Scope, wrong: list[str]) -> int:
    """Search for some documents by one of their chunks, lexically and by its vector; return their number."""
    [sample] = await database.run_batch(
        scope.person, _SAMPLE, values={"sample": DOCUMENTS_PER_PERSON}, local=LONG_TIMEOUTS
    )
    for document_id, name, key, text, vector, model, dimensions in sample:
        index = PostgresIndex(database, model, dimensions, Rag())
        only = Filters(document_ids=(document_id,))
        by_words = await index.lexical(text, scope=scope, filters=only, limit=MAX_RANK)
        by_meaning = await index.dense(vector, scope=scope, filters=only, limit=MAX_RANK)
        for way, found in (("words", by_words), ("vector", by_meaning)):
            if key not in {match.key for match in found} and await _is_served(database, scope, key):
                wrong.append(f"{name} ({document_id}): a search for one of its passages by its {way} does not find it")
    return len(sample)


async def _is_served(database: Database, scope: Scope, key: int) -> bool:
    query = "select 1 from chunk c join document d on d.served = c.edition where c.key = %(key)s"
    [found] = await database.run_batch(scope.person, query, values={"key": key})
    return bool(found)


_CHECKS = (
    "select format('%%s (%%s): its status is completed, but it cannot be searched', name, id) from document"
    " where status = 'completed' and served is null",
    """
    select format('%%s (%%s): it should have %%s passages and %%s vectors, and has %%s and %%s',
                  d.name, d.id, d.chunks, d.vectors, c.count, v.count)
    from document d
    cross join lateral (select count(*) from chunk where edition = d.served and level = 2) c
    cross join lateral (select count(*) from vector where edition = d.served) v
    where d.served is not null and (d.chunks, d.vectors) <> (c.count, v.count)
    """,
    """
    select format('%%s (%%s), version %%s: %%s passages differ from its text', d.name, d.id, v.id, count(*))
    from chunk c join edition e on e.key = c.edition join version v on v.key = e.version
    join document d on d.id = e.document_id
    where c.level = 2 and e.state <> 'writing'
      and c.text is distinct from substr(v.text, c.start_char + 1, c.end_char - c.start_char)
    group by d.name, d.id, v.id
    """,
    """
    select format('%%s (%%s), version %%s: its pages do not match its text', d.name, d.id, v.id)
    from version v join document d on d.id = v.document_id cross join lateral (
        select max(end_char) as ends, bool_and(start_char = before) as whole from (
            select start_char, end_char, lag(end_char, 1, start_char) over (order by number, part) as before
            from page where version = v.key) kept
    ) p where p.ends is not null and (p.ends <> char_length(v.text) or not p.whole)
    """,
    """
    select format('%%s words, %%s vectors and %%s passages belong to no document', p.count, v.count, c.count)
    from (select count(*) from posting where not exists (select from edition e where e.key = edition)) p,
         (select count(*) from vector where not exists (select from edition e where e.key = edition)) v,
         (select count(*) from chunk where not exists (select from edition e where e.key = edition)) c
    where p.count + v.count + c.count > 0
    """,
)
_VERSIONS = """
    select v.document_id, v.id, d.name, v.checksum,
           (select encode(sha256(string_agg(p.bytes, '' order by p.number)), 'hex')
            from piece p where p.version = v.key)
    from version v join document d on d.id = v.document_id where d.owner = me() order by v.key
"""
_SAMPLE = """
    select d.id, d.name, c.key, c.text, v.embedding::real[], v.model, m.dimensions
    from (select * from document where owner = me() and served is not null and chunks > 0 and vectors > 0
          order by md5(id) limit %(sample)s) d
    cross join lateral (
        select c.key, c.text from chunk c where c.edition = d.served and c.level = 2
          and exists (select from posting p where p.edition = c.edition and p.chunk = c.key) order by c.ordinal limit 1
    ) c
    join lateral (select embedding, model from vector where edition = d.served and chunk = c.key limit 1) v on true
    join embedding_model m on m.id = v.model
"""
