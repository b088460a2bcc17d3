"""Adds the files of a folder and says each one that was acknowledged; run as a process that gets killed."""

import asyncio
import sys
from pathlib import Path

from pincite.core.documents import Upload
from pincite.engine import AsyncPincite


async def main(data: str, url: str, folder: str, *words: str) -> None:
    settings = {"data": Path(data), "embedding.provider": "scripted", "ingest.lease_s": 2, "chunking.size": 40}
    settings["ingest.attempts"] = 20  # a file may be met by every kill
    settings |= {"chunking.overlap": 5} | ({"database.url": url} if url else {})
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
