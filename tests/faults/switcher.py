"""Builds a new index and switches to it, in a process that is killed at a step."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from pincite.engine.admin import Admin
from pincite.engine.app import AsyncPincite
from pincite.store.indexing import generations
from pincite.store.indexing.generations import Generations
from pincite.store.indexing.write_edition import EditionWriter
from tests.faults.dying import Say, die_at
from tests.reading import read_in_this_process

SETTINGS = {
    "ingest.workers": 2,
    "ingest.lease_s": 2,
    "ingest.attempts": 20,
    "chunking.overlap": 0,
}
STEPS: dict[str, tuple[Any, str]] = {
    "build": (Generations, "build"),
    "ready": (EditionWriter, "publish"),
    "last": (EditionWriter, "_switch"),
    "switch": (Admin, "switch_index"),
    "flip": (generations, "_is_true"),  # inside the transaction of the switch, before its commit
}
POINTS = [
    *("before:build:1", "after:build:1", "before:ready:2", "after:ready:3", "before:last:1", "after:last:1"),
    *("before:switch:1", "after:flip:1", "after:switch:1"),
]


def library(data: Path, url: str) -> AsyncPincite:
    """A library with a second embedding model, which can be changed to the scripted one and back."""
    data.mkdir(exist_ok=True)
    (data / "settings.toml").write_text('[embedding]\nprovider = "tests.faults.another_model"\n', encoding="utf-8")
    return AsyncPincite(settings={**SETTINGS, "data": data, "database.url": url})


def change(say: Say, data: str, url: str, point: str) -> None:
    """Build the index and switch to it, up to the step."""
    asyncio.run(_change(say, data, url, point))


async def _change(say: Say, data: str, url: str, point: str) -> None:
    read_in_this_process(pytest.MonkeyPatch())  # the parser process is not under test
    die_at(point, STEPS)
    hold = point.split(":")[1] in ("switch", "flip")
    async with library(Path(data), url) as pincite:
        pincite.services.workers.start()
        await pincite.admin.reindex(hold=hold)
        while (built := (await pincite.services.index_switch.status()).building) and (built.waiting or not hold):
            await asyncio.sleep(0.02)
        if hold:
            await pincite.admin.switch_index()
        say("done")
