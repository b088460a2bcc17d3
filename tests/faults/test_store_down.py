"""The embedded database dies while a process runs: callers get an error, and the database restarts by itself."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from pincite.engine.app import AsyncPincite
from pincite.errors import StoreDown


@pytest.mark.slow
def test_a_killed_database_is_reported_and_restarted(tmp_path: Path) -> None:
    async def go() -> None:
        (tmp_path / "cats.md").write_text("# Cats\n\nCats purr when they are content.\n", encoding="utf-8")
        async with AsyncPincite(tmp_path / "data", settings={"embedding.provider": "scripted"}) as pincite:
            await pincite.add(tmp_path / "cats.md")
            pid = int((tmp_path / "data" / "postgres" / "postmaster.pid").read_text().splitlines()[0])
            os.kill(pid, signal.SIGKILL)
            with pytest.raises(StoreDown):
                await pincite.search("cats")
            for _ in range(200):
                try:
                    assert len((await pincite.search("cats purr")).hits) == 1
                    break
                except StoreDown:
                    await asyncio.sleep(0.1)
            else:
                pytest.fail("the database did not come back")

    asyncio.run(go())
