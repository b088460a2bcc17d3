"""Adds the files of a folder in a process that is killed, and reports each acknowledged file.

The process kills itself at a given step: `before:serve:2` is before the second call of `serve`.
"""

import asyncio
from pathlib import Path
from typing import Any

from pincite.core.documents.document import Upload
from pincite.engine.app import AsyncPincite
from pincite.ingest.read.reader_pool import Reader
from pincite.store.documents.blobs import Blobs
from pincite.store.indexing.jobs import Jobs
from pincite.store.indexing.uploads import UploadStore
from pincite.store.indexing.write_edition import EditionWriter
from tests.faults.dying import Say, die_at

STEPS: dict[str, tuple[Any, str]] = {
    "accept": (UploadStore, "_accept_all"),
    "keep": (Blobs, "keep"),
    "claim": (Jobs, "claim_some"),
    "read": (Reader, "read"),
    "begin": (EditionWriter, "begin"),
    "write": (EditionWriter, "write"),
    "serve": (EditionWriter, "serve"),
    "publish": (EditionWriter, "_publish_all"),
    "clear": (EditionWriter, "clear_abandoned"),
}
POINTS = [f"{when}:{step}:{1 + place % 2}" for place, step in enumerate(STEPS) for when in ("before", "after")]


def add(say: Say, data: str, url: str, folder: str, point: str = "") -> None:
    """Add the files of a folder, to the end or up to the step."""
    asyncio.run(_add(say, data, url, folder, point))


async def _add(say: Say, data: str, url: str, folder: str, point: str) -> None:
    settings = {"data": Path(data), "embedding.provider": "scripted", "ingest.lease_s": 2, "chunking.size": 40}
    settings["ingest.attempts"] = 20  # every kill may interrupt the same file
    settings |= {"chunking.overlap": 5} | ({"database.url": url} if url else {})
    if point:
        die_at(point, STEPS)
    async with AsyncPincite(settings=settings) as pincite:
        pincite.services.workers.start()
        say("ready")
        ids = []
        for path in sorted(Path(folder).iterdir()):
            added = await pincite.documents.upload(Upload(path.name, path.read_bytes()))
            ids.append(added.document.id)
            say(f"kept {path.name}")
        await pincite.services.jobs.start_over(await pincite.scope(), ids)
        await pincite.documents.wait(ids)
        say("done")
