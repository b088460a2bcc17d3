"""Adds the files of a folder and says each one that was acknowledged; run as a process that gets killed.

A step's name has it kill itself there: `before:serve:2` the second time it is about to serve a document.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from pincite.core.documents import Upload
from pincite.engine import AsyncPincite
from pincite.ingest.parse import Reader
from pincite.store.indexing import Indexing
from pincite.store.intake import Intake
from pincite.store.jobs import Jobs
from pincite.store.originals import Originals

STEPS: dict[str, tuple[type[Any], str]] = {
    "accept": (Intake, "_accept"),
    "keep": (Originals, "keep"),
    "claim": (Jobs, "claim"),
    "read": (Reader, "read"),
    "begin": (Indexing, "begin"),
    "write": (Indexing, "write"),
    "serve": (Indexing, "serve"),
    "publish": (Indexing, "publish"),
    "clear": (Indexing, "clear_abandoned"),
}
POINTS = [f"{when}:{step}:{1 + place % 2}" for place, step in enumerate(STEPS) for when in ("before", "after")]


def die_at(point: str) -> None:
    """End like a process that was killed, at this step of the work."""
    when, step, times = point.split(":")
    owner, name = STEPS[step]
    real, left = getattr(owner, name), int(times)

    async def dying(self: Any, *arguments: Any, **options: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0 and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = await real(self, *arguments, **options)
        if left <= 0 and when == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, dying)


async def main(data: str, url: str, folder: str, point: str = "") -> None:
    settings = {"data": Path(data), "embedding.provider": "scripted", "ingest.lease_s": 2, "chunking.size": 40}
    settings["ingest.attempts"] = 20  # a file may be met by every kill
    settings |= {"chunking.overlap": 5} | ({"database.url": url} if url else {})
    if point:
        die_at(point)
    async with AsyncPincite(settings=settings) as pincite:
        pincite.workers.start()
        print("ready", flush=True)
        ids = []
        for path in sorted(Path(folder).iterdir()):
            added = await pincite.upload(Upload(path.name, path.read_bytes()))
            ids.append(added.document.id)
            print("kept", path.name, flush=True)
        await pincite.jobs.start_over(await pincite.scope(), ids)
        await pincite.wait(ids)
        print("done", flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
