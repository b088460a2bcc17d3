"""Purge, verified by searching every file of the data folder before and after."""

import asyncio
import random
import re
from pathlib import Path

import psycopg
import pytest

from pincite.core.documents.document import Progress
from pincite.engine.app import AsyncPincite
from pincite.errors import Conflict, StoreDown
from pincite.store.database import Database
from pincite.store.documents.blob_files import BlobFiles
from pincite.store.operations import purge as purge_module
from pincite.store.operations.purge import LOCK, purge

SYLLABLES = ("ka", "lo", "mi", "ru", "te", "vo", "zi", "pa", "ne", "du")
ONE = "|".join(SYLLABLES)
WORD = re.compile(f"(?:{ONE})(?:{ONE}){{5}}".encode())  # a first one by itself is looked for seven times as fast


def invented(words: int) -> list[str]:
    """Made-up words of six syllables that occur nowhere else, always the same."""
    numbers = random.Random(1).sample(range(10**6), words)
    return ["".join(SYLLABLES[int(digit)] for digit in f"{number:06}") for number in numbers]


def where(folder: Path, words: list[str]) -> dict[str, int]:
    """Return for each file how many of the words it contains literally."""
    wanted = {word.encode() for word in words}
    held = {
        path: len(wanted.intersection(WORD.findall(path.read_bytes()))) for path in folder.rglob("*") if path.is_file()
    }
    return {path.relative_to(folder).as_posix(): number for path, number in held.items() if number}


UNCOMPRESSED = """
    do $$ declare one record; begin
        for one in select attrelid::regclass as held, attname from pg_attribute join pg_class c on c.oid = attrelid
                   where relnamespace = 'pincite'::regnamespace and relkind = 'r' and attstorage = 'x' and attnum > 0
                     and not attisdropped loop
            execute format('alter table %s alter column %I set storage external', one.held, one.attname);
        end loop;
    end $$
"""
"""Long values are stored uncompressed, because words are not found literally in compressed ones."""


def silent(_progress: Progress) -> None:
    pass


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, object]:
    return {
        "data": tmp_path / "data",
        "embedding.provider": "scripted",
        "ingest.workers": 1,
        "traces.content": True,
        "database.shared_buffers_mb": 16,
    }


@pytest.mark.slow
def test_after_a_purge_no_file_contains_the_removed_words(settings: dict[str, object], tmp_path: Path) -> None:
    data, words = tmp_path / "data", invented(800)
    secret, kept = words[:400], words[400:]
    theirs = secret[:20] + secret[23:]  # the question is the asker's own text
    for name, words in (("secret.md", secret), ("kept.md", kept)):
        lines = [" ".join(words[n : n + 10]) + "." for n in range(0, len(words), 10)]
        (tmp_path / name).write_text(f"# {words[0]}\n\n" + "\n\n".join(lines))
    steps: list[str] = []

    async def use() -> None:
        async with AsyncPincite(settings=settings) as pincite:
            async with pincite.services.database.administrator() as admin:
                await admin.execute(UNCOMPRESSED)
            document = await pincite.add(tmp_path / "secret.md")
            await pincite.add(tmp_path / "kept.md")
            await pincite.ask(" ".join(secret[20:23]))
            async with pincite.services.database.administrator() as admin:
                await admin.execute("analyze")
            assert (await pincite.remove(document.id)).verified
            async with pincite.services.database.administrator() as admin:
                await admin.execute("checkpoint")
            before = where(data, theirs)
            assert {Path(name).parts[1] for name in before} >= {"base", "pg_wal"}, before
            done = await purge(
                pincite.services.database,
                pincite.services.blobs.files,
                embedded=True,
                report=lambda step: steps.append(step.stage),
            )
            assert done.log
            assert (await pincite.search(" ".join(kept[20:23]))).hits
            assert where(data, theirs) == {}  # while it runs

    asyncio.run(use())
    assert where(data, theirs) == {}  # and with what it writes when it stops
    assert where(data, kept) != {}
    assert set(steps) == {"rewriting", "renewing the log"}


def test_only_one_purge_runs_at_a_time(database_url: str, tmp_path: Path) -> None:
    async def both() -> None:
        database = await Database.open(database_url, pool_size=2)
        with psycopg.connect(database_url) as other:
            other.execute("select pg_advisory_lock(%s)", (LOCK,))
            with pytest.raises(Conflict, match="another purge of this library is running"):
                await purge(database, BlobFiles(tmp_path, "lib"), embedded=False, report=silent)
        await database.close()

    asyncio.run(both())


def test_a_purge_waits_for_old_transactions_and_reports_them(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purge_module, "MAX_WAIT_S", 0.3)

    async def look() -> None:
        database = await Database.open(database_url, pool_size=2)
        with psycopg.connect(database_url) as other:
            other.execute("set transaction isolation level repeatable read")
            other.execute("select count(*) from pincite.document")
            with pytest.raises(StoreDown, match="still sees removed rows"):
                await purge(database, BlobFiles(tmp_path, "lib"), embedded=False, report=silent)
        done = await purge(database, BlobFiles(tmp_path, "lib"), embedded=False, report=silent)
        assert not done.log
        await database.close()

    asyncio.run(look())


def test_statistics_of_an_empty_table_are_cleared(database_url: str, tmp_path: Path) -> None:
    async def look() -> None:
        database = await Database.open(database_url, pool_size=2)
        with psycopg.connect(database_url, autocommit=True) as other:
            other.execute(
                "insert into pincite.vocabulary (realm, word, term)"
                " select 1, 'canary' || n, 'canary' from generate_series(1, 50) n"
            )
            other.execute("analyze pincite.vocabulary")
            other.execute("delete from pincite.vocabulary")
            sampled = "select count(*) from pg_stats where histogram_bounds::text like '%%canary%%'"
            assert other.execute(sampled).fetchone() != (0,)
            await purge(database, BlobFiles(tmp_path, "lib"), embedded=False, report=silent)
            assert other.execute(sampled).fetchone() == (0,)
        await database.close()

    asyncio.run(look())
