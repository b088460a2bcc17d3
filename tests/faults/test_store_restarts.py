"""Database restarts and full disks while files are added: reported, survived and finished."""

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from pincite.core.documents.document import Upload
from pincite.engine.app import AsyncPincite
from pincite.errors import DataFolderError, StoreDown
from tests.faults.crashes import write_files

SETTINGS = {
    "embedding.provider": "scripted",
    "ingest.workers": 2,
    "ingest.lease_s": 2,
    "ingest.attempts": 20,
    "chunking.size": 40,
    "chunking.overlap": 5,
}


async def insist(pincite: AsyncPincite, upload: Upload) -> str:
    """Upload a file until it is acknowledged; uploads are refused while the database is down."""
    async with asyncio.timeout(60):
        while True:
            try:
                return (await pincite.documents.upload(upload)).document.id
            except (StoreDown, DataFolderError):
                await asyncio.sleep(0.1)


async def finished(pincite: AsyncPincite, ids: list[str]) -> set[str]:
    """The status of these documents after all are processed."""
    async with asyncio.timeout(90):
        while True:
            try:
                await pincite.documents.wait(ids)
                return {document.status for document in await pincite.documents.all()}
            except (StoreDown, DataFolderError):
                await asyncio.sleep(0.1)


@pytest.mark.slow
def test_a_database_that_is_restarted_in_the_middle_loses_nothing(tmp_path: Path) -> None:
    async def go() -> None:
        folder = tmp_path / "docs"
        write_files(folder, 9)
        async with AsyncPincite(tmp_path / "data", settings=SETTINGS) as pincite:
            pincite.services.workers.start()
            ids = []
            for number, path in enumerate(sorted(folder.iterdir())):
                if number in (3, 6):
                    pid = int((tmp_path / "data" / "postgres" / "postmaster.pid").read_text().splitlines()[0])
                    os.kill(pid, signal.SIGINT if number == 3 else signal.SIGKILL)
                ids.append(await insist(pincite, Upload(path.name, path.read_bytes())))
            assert await finished(pincite, ids) == {"completed"}
            assert len(set(ids)) == 9

    asyncio.run(go())


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 400 MB; only root can mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=400m,mode=0755", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("a small disk can be made by root only")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.slow
def test_a_full_disk_is_reported_and_processing_finishes_when_there_is_space(small_disk: Path, tmp_path: Path) -> None:
    async def go() -> None:
        folder = tmp_path / "docs"
        write_files(folder, 12)
        uploads = [Upload(path.name, path.read_bytes()) for path in sorted(folder.iterdir())]
        async with AsyncPincite(small_disk / "data", settings=SETTINGS) as pincite:
            ids = [(await pincite.documents.upload(upload)).document.id for upload in uploads[:6]]
            ballast = small_disk / "ballast"
            fill(ballast)
            pincite.services.workers.start()
            with pytest.raises((DataFolderError, StoreDown), match=r"full|free some space|reached"):
                await keep_adding(pincite)
            ballast.unlink()
            ids += [await insist(pincite, upload) for upload in uploads[6:]]
            await finished(pincite, ids)
            assert {(await pincite.get(one)).status for one in ids} == {"completed"}

    asyncio.run(go())


async def keep_adding(pincite: AsyncPincite) -> None:
    """A file larger than the space that may be left."""
    for n in range(200):
        await pincite.documents.upload(Upload(f"more {n}.md", os.urandom(50_000).hex().encode()))


def fill(ballast: Path) -> None:
    """Fill the disk."""
    with suppress(OSError), open(ballast, "wb", buffering=0) as file:
        while file.write(bytes(1 << 20)):
            pass
    assert shutil.disk_usage(ballast.parent).free < 1 << 20
