"""Backup and purge under load, and SIGKILL during a restore: the result is complete or empty."""

import asyncio
import random
import signal
from contextlib import suppress
from pathlib import Path

import psycopg
import psycopg.conninfo
import pytest

from pincite.core.documents.document import Upload
from pincite.engine.app import AsyncPincite
from pincite.errors import Conflict, NotFound
from pincite.store.database import Database
from pincite.store.documents.blob_files import BlobFiles
from pincite.store.operations.backup import back_up
from pincite.store.operations.integrity import inspect
from pincite.store.operations.purge import purge
from pincite.store.operations.restore import read_backup, restore
from tests.faults.dying import Mortal
from tests.faults.restorer import POINTS, RENAMED, bring_back
from tests.faults.wholeness import INCOMPLETE, check_whole

SETTINGS = {"embedding.provider": "scripted", "ingest.workers": 2, "chunking.size": 40, "chunking.overlap": 5}
NAMES = [f"{n:02}.md" for n in range(16)]


def silent(_progress: object) -> None:
    """Ignore progress."""


def text(name: str, number: int) -> bytes:
    parts = [f"## Part {k}\n\n{name} in state {number}: " + "word " * 30 for k in range(3)]
    return "\n\n".join(["# Kept", "The anchor lies in the blue harbour.", *parts]).encode()


class AtWork:
    """Clients that upload, change, remove and search until they are stopped."""

    def __init__(self, pincite: AsyncPincite) -> None:
        self._pincite = pincite
        self._chosen = random.Random(3)
        self.going, self.uploads, self.removals, self.searches = True, 0, 0, 0

    async def run(self) -> None:
        await asyncio.gather(self._change(), self._search())

    async def _change(self) -> None:
        ids: dict[str, str] = {}
        while self.going:
            name = self._chosen.choice(NAMES)
            if name in ids and self._chosen.random() < 0.4:
                with suppress(NotFound):
                    assert (await self._pincite.remove(ids.pop(name))).verified
                self.removals += 1
            else:
                self.uploads += 1
                ids[name] = (await self._pincite.documents.upload(Upload(name, text(name, self.uploads)))).document.id

    async def _search(self) -> None:
        while self.going:
            found = await self._pincite.search("blue harbour anchor")
            assert found.hits
            assert found.degraded == ()
            self.searches += 1


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make two backups and a purge under load; return the last backup."""
    base = tmp_path_factory.mktemp("upkeep")

    async def go() -> None:
        async with AsyncPincite(base / "data", settings=SETTINGS | {"database.shared_buffers_mb": 16}) as pincite:
            files = pincite.services.blobs.files
            pincite.services.workers.start()
            first = await pincite.documents.upload(Upload("always.md", text("always", 0)))
            await pincite.documents.wait([first.document.id])
            people = AtWork(pincite)
            at_work = asyncio.create_task(people.run())
            for number, step in enumerate(("backup", "purge", "backup")):
                before = people.uploads
                async with asyncio.timeout(60):
                    while people.uploads < before + 8 and not at_work.done():
                        await asyncio.sleep(0.02)
                if step == "purge":
                    assert (await purge(pincite.services.database, files, embedded=True, report=silent)).log
                else:
                    done = await back_up(
                        pincite.services.database, files, base / f"{number}", traces=True, report=silent
                    )
                    assert done.missing == ()
            people.going = False
            await at_work
            assert min(people.uploads, people.removals, people.searches) >= 5
            await pincite.documents.wait([document.id for document in await pincite.documents.all()])
            assert (await inspect(pincite.services.database, files, silent)).wrong == ()
            async with pincite.services.database.administrator() as admin:
                assert await (await admin.execute(INCOMPLETE)).fetchall() == []

    asyncio.run(go())
    return base / "2"


async def restored(url: str, data: Path, backup: Path) -> None:
    """Restore a backup and check all of it."""
    await restore(url, data, backup, read_backup(backup, silent), silent)
    await whole(url, data)


async def whole(url: str, data: Path) -> None:
    database = await Database.open(url, pool_size=2)
    try:
        found = await inspect(database, BlobFiles(data, await database.library_id()), silent)
    finally:
        await database.close()
    assert found.wrong == ()
    assert found.documents >= 1
    check_whole(url, data, {"always.md"})


@pytest.mark.slow
def test_backups_and_a_purge_under_load_are_complete(
    kept: Path, database_url: str, another_database_url: str, tmp_path: Path
) -> None:
    asyncio.run(restored(database_url, tmp_path / "one", kept.with_name("0")))
    asyncio.run(restored(another_database_url, tmp_path / "two", kept))


@pytest.mark.slow
def test_a_killed_restore_leaves_an_empty_or_a_complete_library(kept: Path, postgres: str, tmp_path: Path) -> None:
    for number, point in enumerate(POINTS):
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute(f"create database killed_{number}")
        url, data = psycopg.conninfo.make_conninfo(postgres, dbname=f"killed_{number}"), tmp_path / f"{number}"
        assert Mortal(bring_back, url, str(data), str(kept), point).end() == (-signal.SIGKILL, [])
        if point == POINTS[-1]:
            asyncio.run(whole(url, data))
            continue
        if point == RENAMED:  # the owner of these files is unknown, so they are kept
            with pytest.raises(Conflict, match="contains files already; choose an empty folder"):
                asyncio.run(restored(url, data, kept))
            data = tmp_path / "elsewhere"
        asyncio.run(restored(url, data, kept))
