"""Data of every earlier schema is migrated, listed, found and intact."""

import asyncio
import hashlib
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pincite.core.documents.document import Progress
from pincite.errors import DataFolderError
from pincite.providers.scripted import Options, ScriptedEmbedder
from pincite.store import migrate as schema
from pincite.store.connect import administrator_of
from pincite.store.database import Database
from pincite.store.migrate import index_vectors, migrate, migration_files
from pincite.store.operations.integrity import inspect
from pincite.text.sentences import fingerprint
from pincite.text.terms import terms
from tests.conftest import _database

TEXT = "The cat is fed at half past six."
DOCUMENT, VERSION = "Zg3nTfCkQx0aB1de", "20250101T120000000000Z"
NUMBERS = [number for number, _, _ in migration_files()]

ROWS: dict[int, str] = {
    1: """
        insert into embedding_model (name, dimensions) values (%(model)s, %(dimensions)s);
        insert into document (id, owner, realm, folder, name, title, status, progress, languages, chunks, words,
                              vectors)
            values (%(document)s, 'local', 1, 'hut', 'cat.md', 'The cat', 'completed', 1, '{en}', 1, 5, 1);
        insert into version (id, document_id, realm, checksum, bytes, mime, state, text)
            values (%(version)s, %(document)s, 1, %(checksum)s, 32, 'text/markdown', 'indexed', %(text)s);
        insert into edition (version, document_id, realm, state, signature)
            values (1, %(document)s, 1, 'served', 'of long ago');
        update document set latest = 1, served = 1;
        insert into chunk (edition, realm, ordinal, level, text, start_char, end_char, start_line, end_line,
                           heading_path, content_type, language, tokens, checksum)
            values (1, 1, 0, 2, %(text)s, 0, 32, 1, 1, '{}', 'text', 'en', 9, %(fingerprint)s);
        insert into vector values (1, 1, 1, 0, 1, '\\x00', %(vector)s);
        insert into posting select term, 1, 1, 1, 1, 5 from unnest(%(terms)s::text[]) term;
        insert into trace (id, owner, kind, started_at, duration_ms) values ('t1', 'local', 'query', now(), 1);
        insert into api_key (id, person, name, role, hash) values ('k1', 'local', 'a key', 'reader', '\\x01');
    """,
    2: """
        insert into setting values ('rag.top_k', '7');
        insert into setting_change (batch, kind, key, after, person) values (1, 'set', 'rag.top_k', '7', 'local');
    """,
    3: """
        insert into trace (id, owner, kind, started_at, duration_ms, content, documents)
            values ('t2', 'local', 'query', now(), 1, '{"question": "When?", "answer": "At six."}',
                    array[%(document)s]);
        insert into span (trace_id, number, owner, name, started_ms, duration_ms)
            values ('t2', 0, 'local', 'answer', 0, 1);
    """,
    4: """
        insert into session (id, owner, title) values ('s1', 'local', 'Cats');
        insert into turn (session_id, owner, question, standalone, words, complete, trace_id)
            values ('s1', 'local', 'When is the cat fed?', 'When is the cat fed?', 'At six.', false, 't2');
        insert into turn_document values (%(document)s, 1, 'local');
    """,
    5: """
        insert into evaluation_set (id, owner, version, made_by, seed) values ('es1', 'local', 1, 'words', 1);
        insert into evaluation_question (set_id, owner, document_id, version, chunk, kind, language, text,
                                         start_char, end_char)
            values ('es1', 'local', %(document)s, %(version)s, 1, 'phrase', 'en', 'cat fed', 0, 32);
    """,
    7: "insert into vocabulary select 1, term, term from unnest(%(terms)s::text[]) term;",
    8: "insert into corpus values (1, 5);",
}
"""Rows for the tables of each schema, which later migrations must handle."""


@pytest.fixture(scope="module")
def schemas(postgres: str) -> Iterator[Callable[[int], str]]:
    """Return a database with the data of a schema; it is made out of that of the schema before."""
    made: dict[int, str] = {}

    def of(number: int) -> str:
        if number not in made:
            place = NUMBERS.index(number)
            before = of(NUMBERS[place - 1]) if place else "template0"
            name = f"schema_{secrets.token_hex(6)}"
            with psycopg.connect(postgres, autocommit=True) as connection:
                connection.execute(f"create database {name} template {before} strategy file_copy")
            asyncio.run(advance(psycopg.conninfo.make_conninfo(postgres, dbname=name), number))
            made[number] = name
        return made[number]

    yield of
    with psycopg.connect(postgres, autocommit=True) as connection:
        for name in made.values():
            connection.execute(f"drop database {name} with (force)")


@pytest.fixture
def database_url(
    request: pytest.FixtureRequest, postgres: str, schemas: Callable[[int], str], empty_database_url: str
) -> Iterator[str]:
    """These tests begin with an earlier schema or with none, others with the current one."""
    if "number" not in request.fixturenames:
        yield empty_database_url
        return
    with _database(postgres, schemas(request.getfixturevalue("number"))) as url:
        yield url


async def values() -> dict[str, Any]:
    embedder = ScriptedEmbedder(Options())
    [vector] = await embedder.embed([TEXT], as_query=False)
    return {
        "document": DOCUMENT,
        "version": VERSION,
        "text": TEXT,
        "terms": sorted(set(terms(TEXT, "en"))),
        "checksum": hashlib.sha256(TEXT.encode()).hexdigest(),
        "fingerprint": fingerprint(TEXT),
        "vector": str(vector),
        "model": embedder.name,
        "dimensions": embedder.dimensions,
    }


async def advance(url: str, number: int) -> None:
    """Apply the next migration, and write what a version with this many migrations wrote."""
    async with administrator_of(url) as admin:
        await migrate(admin, upto=number)
        await admin.execute("set search_path = pincite, public")
        if number in ROWS:
            await psycopg.AsyncClientCursor(admin).execute(ROWS[number].encode(), await values())
        if number == NUMBERS[0]:
            await index_vectors(admin)


def store_file(url: str, data: Path) -> None:
    """Write the file of the document."""
    with psycopg.connect(url) as connection:
        [(library,)] = connection.execute("select id from pincite.library").fetchall()
    path = data / "files" / library / DOCUMENT / VERSION
    path.parent.mkdir(parents=True)
    path.write_text(TEXT)


def silent(_progress: Progress) -> None:
    pass


@pytest.mark.parametrize("number", NUMBERS)
def test_data_of_every_schema_opens_and_is_found(
    number: int, database_url: str, open_pincite: Any, tmp_path: Path
) -> None:
    async def use() -> None:
        async with open_pincite() as pincite:
            [document] = await pincite.documents.all()
            assert (document.id, document.name, document.folder, document.status) == (
                DOCUMENT,
                "cat.md",
                "hut",
                "completed",
            )
            found = await pincite.search("When is the cat fed?")
            assert [hit.chunk.document_id for hit in found.hits] == [DOCUMENT]
            assert {placing.via for placing in found.hits[0].placings} >= {"dense", "lexical"}
            assert "half past six" in (await pincite.ask("When is the cat fed?")).text
            assert (await inspect(pincite.services.database, pincite.services.blobs.files, silent)).wrong == ()
            assert pincite.settings.rag.top_k == (7 if number >= 2 else 10)
            assert (await pincite.remove(DOCUMENT)).verified

    store_file(database_url, tmp_path / "data")
    asyncio.run(use())


def test_a_failed_migration_is_rolled_back(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def opened() -> None:
        await (await Database.open(database_url, pool_size=2)).close()

    asyncio.run(opened())
    real = migration_files()
    broken = (
        9999,
        "9999_broken.sql",
        "create table half (x int); alter table document drop column name; select 1 / 0;",
    )
    with monkeypatch.context() as patch:
        patch.setattr(schema, "migration_files", lambda: [*real, broken])
        with pytest.raises(
            DataFolderError, match=r"9999_broken.sql: division by zero\); the migration was rolled back"
        ):
            asyncio.run(opened())
    with psycopg.connect(database_url) as connection:
        assert connection.execute("select to_regclass('pincite.half')").fetchone() == (None,)
        connection.execute("select name from pincite.document")
    asyncio.run(opened())
