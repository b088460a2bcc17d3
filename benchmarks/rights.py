"""What rights cost: searches of somebody in some of many groups, beside those of whoever reads everything.

    .venv/bin/python -m benchmarks.rights [--groups 1000] [--documents 10] [--passages 5]

Every group has its own documents. Words are random, and vectors lie about 97 centres wherever they belong, so that nothing
but rights tells documents apart; questions lie near passages.
"""

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import psycopg

from pincite.core.answers import Filters
from pincite.core.callers import Scope
from pincite.settings import Rag
from pincite.store.database import Database, rows
from pincite.store.library import Library
from pincite.store.search import PostgresIndex
from pincite.store.server import EmbeddedServer

DIMENSIONS, TERMS, QUESTIONS, TOP = 96, 12, 60, 10
SHARES = (0.01, 0.05, 0.2, 1.0)

_FILL = """
    insert into people_group (id, name) select 'g' || n, 'g' || n from generate_series(1, {groups}) n;
    insert into person (id, name, role) select 'reads ' || s, 'reads ' || s, 'reader' from unnest(array{shares}::text[]) s;
    insert into membership select 'reads ' || s, 'g' || n from unnest(array{shares}::text[]) s, generate_series(1, {groups}) n
        where n % greatest(1, round(1 / s::float)::int) = 0;
    insert into realm (owner, readers) select 'local', array['group:g' || n] from generate_series(1, {groups}) n;
    insert into document (id, owner, realm, folder, name, title, status, chunks, words, vectors, languages, model)
        select 'd' || r.id || '.' || n, 'local', r.id, '', r.id || '.' || n, 't', 'completed', {passages},
               {passages} * {terms}, {passages}, array['en'], 1
        from realm r, generate_series(1, {documents}) n where r.readers <> '{{}}';
    insert into version (id, document_id, realm, checksum, bytes, mime, state, text)
        select '20260101T000000000000Z', id, realm, 'c', 1, 'text/markdown', 'indexed', '' from document;
    update document d set latest = v.key from version v where v.document_id = d.id;
    insert into edition (version, document_id, realm, state, signature, model)
        select key, document_id, realm, 'served', 's', 1 from version order by random();
    update document d set served = e.key from edition e where e.document_id = d.id;
    insert into chunk (edition, realm, ordinal, level, text, start_char, end_char, start_line, end_line, heading_path,
                       content_type, language, tokens, checksum)
        select e.key, e.realm, n, 2, 't', 0, 1, 1, 1, '{{}}', 'prose', 'en', 1, 'c'
        from edition e, generate_series(1, {passages}) n;
    insert into posting (term, chunk, edition, realm, frequency, words)
        select 'w' || floor(power(random(), 3) * 5000)::int, c.key, c.edition, c.realm, 1, {terms}
        from chunk c, generate_series(1, {terms}) n;
    insert into vector (chunk, edition, realm, part, model, hash, embedding)
        select c.key, c.edition, c.realm, 0, 1, 'h', v.e from chunk c cross join lateral (
            select l2_normalize(array_agg(random() - 0.5 + 0.8 * sin(c.key % 97 * d))::real[]::public.halfvec) as e
            from generate_series(1, {dimensions}) d where c.key > 0) v;
    insert into corpus (realm) select id from realm on conflict do nothing;
"""


async def measure(database: Database, arguments: argparse.Namespace) -> None:
    library = Library(database, None, "s")  # type: ignore[arg-type]
    index = PostgresIndex(database, 1, DIMENSIONS, Rag())
    everything = PostgresIndex(database, 1, DIMENSIONS, Rag(exact_rows=10_000_000))
    dice = random.Random(7)
    async with database.administrator() as admin:
        query = "select embedding::real[] from pincite.vector order by chunk limit 1000"
        stored = [vector for (vector,) in await rows(admin, query)]
    passages = arguments.groups * arguments.documents * arguments.passages
    print(f"{passages:,} passages, {arguments.groups:,} groups")
    print(
        f"{'admitted':>9} {'realms':>7} {'scope ms':>9} {'words ms':>9} {'meaning ms':>11} {'sum ms':>8} {'recall@10':>10}"
    )
    for share in SHARES:
        scope = await library.scope(f"reads {share}")
        spent: list[Sequence[float]] = []
        recalls: list[float] = []
        for _ in range(QUESTIONS):
            vector = [near + dice.uniform(-0.05, 0.05) for near in dice.choice(stored)]
            text = " ".join(f"w{int(dice.random() ** 3 * 5000)}" for _ in range(6))
            spent.append(await _one(index, library, scope, text, vector))
            exact = await everything.dense(vector, scope=scope, filters=Filters(), limit=TOP)
            found = await index.dense(vector, scope=scope, filters=Filters(), limit=50)
            near = {match.key for match in found[:TOP]}
            recalls.append(len(near & {match.key for match in exact}) / max(1, len(exact)))
        scoped, words, meaning = (1000 * statistics.median(part) for part in zip(*spent, strict=True))
        print(
            f"{share:>9.0%} {len(scope.realms):>7,} {scoped:>9.2f} {words:>9.2f} {meaning:>11.2f}"
            f" {scoped + words + meaning:>8.2f} {statistics.mean(recalls):>10.3f}"
        )


async def _one(index: PostgresIndex, library: Library, scope: Scope, text: str, vector: list[float]) -> Sequence[float]:
    began = time.perf_counter()
    await library.scope(scope.person)
    scoped = time.perf_counter()
    await index.lexical(text, scope=scope, filters=Filters(), limit=50)
    words = time.perf_counter()
    await index.dense(vector, scope=scope, filters=Filters(), limit=50)
    return scoped - began, words - scoped, time.perf_counter() - words


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("--groups", 1000), ("--documents", 10), ("--passages", 5)):
        parser.add_argument(name, type=int, default=default)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, EmbeddedServer.open(Path(folder) / "data") as server:
        database = await Database.open(server.url, pool_size=4)
        await database.register_model("random", DIMENSIONS)
        numbers = vars(arguments) | {"terms": TERMS, "dimensions": DIMENSIONS, "shares": [str(s) for s in SHARES]}
        with psycopg.connect(server.url, autocommit=True) as admin:
            admin.execute("set search_path = pincite, public")
            for statement in _FILL.format(**numbers).split(";\n"):
                if statement.strip():
                    admin.execute(statement)  # type: ignore[call-overload]
            admin.execute("vacuum analyze")
        await measure(database, arguments)
        await database.close()


if __name__ == "__main__":
    asyncio.run(main())
