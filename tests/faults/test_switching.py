"""SIGKILL during an index switch under load: one complete index is searched, and the switch is finished later."""

import asyncio
import signal
from pathlib import Path

import psycopg
import pytest

from pincite.core.accounts.access import LOCAL
from pincite.core.documents.document import Upload
from pincite.engine.app import AsyncPincite
from tests.faults.dying import Mortal
from tests.faults.switcher import POINTS, change, library
from tests.faults.wholeness import check_whole

FILES = 6
MAY_BE_SWITCHED = ("after:ready:3", "before:last:1", "after:last:1", "after:switch:1")
"""Steps after which the index may be built and not on hold: the next process switches. Small files are published in
batches, so the third batch may be the last one."""
SEARCHED = """
    select distinct e.signature, g.signature from pincite.document d join pincite.edition e on e.key = d.served,
           pincite.generation g where g.state = 'serving'
"""


def text(n: int) -> bytes:
    return "\n\n".join(f"## Part {k}\n\nmarker{n:03} is in part {k} of this file.\n" for k in range(8)).encode()


def searched(url: str) -> str:
    """The signature of the searched index, which must serve every document."""
    with psycopg.connect(url) as connection:
        [(of_documents, said)] = connection.execute(SEARCHED).fetchall()
    assert of_documents == said
    return str(said)


class Load:
    """A client that searches all the time: every search finds the document, and the index changes once per switch."""

    def __init__(self, pincite: AsyncPincite) -> None:
        self._pincite = pincite
        self.seen: list[str] = []
        self.searches = 0
        self.done = False

    async def run(self) -> None:
        while not self.done:
            n = self.searches % FILES
            found = await self._pincite.search(f"marker{n:03}")
            assert {hit.chunk.document_name for hit in found.hits[:2]} == {f"{n}.md"}
            self.searches += 1
            await asyncio.sleep(0.01)
            if not self.seen or self.seen[-1] != self._pincite.services.prepared.signature:
                self.seen.append(self._pincite.services.prepared.signature)


def killed(data: Path, url: str, point: str) -> None:
    """Run a process that dies at this step, and end its leases at once."""
    assert Mortal(change, str(data), url, point).end() == (-signal.SIGKILL, [])
    with psycopg.connect(url) as connection:
        connection.execute("update pincite.job set lease_until = now() where lease_until is not null")


async def finish(pincite: AsyncPincite) -> None:
    """Let another process finish the work."""
    await pincite.admin.reindex()
    pincite.services.workers.start()
    await settled(pincite)
    await pincite.services.workers.stop()


async def settled(pincite: AsyncPincite) -> None:
    async with asyncio.timeout(60):
        while (await pincite.services.index_switch.status()).building:
            await asyncio.sleep(0.02)
        await pincite.search("marker001")


@pytest.mark.slow
def test_killed_while_an_index_is_built_and_switched_to(database_url: str, tmp_path: Path) -> None:
    async def go() -> None:
        async with library(tmp_path / "a", database_url) as pincite:
            pincite.services.workers.start()
            await pincite.services.live_settings.set({"chunking.size": 100}, LOCAL)
            added = [await pincite.documents.upload(Upload(f"{n}.md", text(n))) for n in range(FILES)]
            await pincite.documents.wait([one.document.id for one in added])
            await pincite.services.workers.stop()
            load, before = Load(pincite), searched(database_url)
            asking, switches = asyncio.create_task(load.run()), 0
            for number, point in enumerate(POINTS):
                wanted = {"chunking.size": 41 + number, "embedding.provider": None if number % 2 else "scripted"}
                await pincite.services.live_settings.set(wanted, LOCAL)
                await asyncio.to_thread(killed, tmp_path / "b", database_url, point)
                check_whole(database_url, tmp_path / "a", {f"{n}.md" for n in range(FILES)})
                if point not in MAY_BE_SWITCHED:
                    assert searched(database_url) == before
                await finish(pincite)
                assert searched(database_url) != before
                before, switches = searched(database_url), switches + 1
            await pincite.admin.roll_back_index()
            await settled(pincite)
            load.done = True
            await asking
            assert searched(database_url) == load.seen[-1] == load.seen[-3]
            assert len(load.seen) == 1 + switches + 1  # each index once, and the one before once more
            assert load.searches > 10 * switches

    asyncio.run(go())
