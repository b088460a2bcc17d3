"""Adding documents against embedding alone, and what an idle service occupies: the ratios that tell our own cost.

    ./run bench speed --data DIR | --documents DIR [--parts 6]

The documentation is added in parts through the public API. After each part the very passages it made are embedded
again by the bare embedder on all cores, nothing else; both take turns, so that noise is shared. Before the parts that
count, one is added and embedded to warm everything up. Idle is a process that
opened this library and answered one search.
"""

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks._documentation import add_arguments, copy_tree, markdown_files
from benchmarks._memory import idle_mb
from pincite import AsyncPincite
from pincite.core.documents import Chunk, Level, Upload
from pincite.core.protocols import Embedder
from pincite.providers.minilm import Options, make_embedder

GOAL, IDLE_GOAL_MB = 0.90, 1000


async def add(pincite: AsyncPincite, files: Sequence[Path]) -> tuple[list[Chunk], float]:
    """Add files, wait until all can be found, and say what passages they became and how long it took."""
    uploads = [Upload(f"{path.parent.name}-{path.name}", path.read_bytes(), str(path.parent.name)) for path in files]
    started = time.perf_counter()
    added = [await pincite.upload(upload) for upload in uploads]
    ids = [one.document.id for one in added if one.outcome != "unchanged"]
    await pincite.wait(ids)
    took = time.perf_counter() - started
    scope = await pincite.scope()
    chunks = [chunk for key in ids for chunk in (await pincite.library.chunks(scope, key, Level.CHUNK))[1]]
    return chunks, took


async def embed(embedder: Embedder, chunks: Sequence[Chunk], known: set[str]) -> float:
    """Embed each text once that was not embedded before, as adding does, and say how long it took."""
    texts = {f"{chunk.header}\n{chunk.text}" if chunk.header else chunk.text: chunk for chunk in chunks}
    windows = [
        embedder.windows(chunk.text, f"{chunk.header}\n" if chunk.header else "")
        for text, chunk in texts.items()
        if text not in known
    ]
    known.update(texts)
    started = time.perf_counter()
    await embedder.embed([window for some in windows for window in some], as_query=False)
    return time.perf_counter() - started


async def measure(folder: Path, files: Sequence[Path], parts: int) -> None:
    """Add and embed in turns, then rest and look at the memory."""
    bare = make_embedder(Options(threads=os.cpu_count() or 1))
    known: set[str] = set()
    print("| part | passages | added in s | embedded in s | ratio |\n|---|---|---|---|---|")
    adding = embedding = 0.0
    count = 0
    async with AsyncPincite(folder) as pincite:
        pincite.workers.start()
        for number in range(parts + 1):
            chunks, took = await add(pincite, files[number :: parts + 1])
            alone = await embed(bare, chunks, known)
            if number:
                adding, embedding, count = adding + took, embedding + alone, count + len(chunks)
                print(f"| {number} | {len(chunks)} | {took:.1f} | {alone:.1f} | {alone / took:.2f} |", flush=True)
    print(f"| **all** | {count} | {adding:.1f} | {embedding:.1f} | **{embedding / adding:.2f}** (goal ≥ {GOAL}) |")
    print(f"\n{count / adding:.1f} passages/s added, {count / embedding:.1f} passages/s embedded")
    print(f"idle, one process and its database: {idle_mb(folder):.0f} MB (goal < {IDLE_GOAL_MB})")


async def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument("--parts", type=int, default=6, help="how often adding and embedding take turns")
    parser.add_argument("--files", type=int, help="so many files at most")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        files = markdown_files(copy_tree(arguments, Path(temporary) / "tree"))[: arguments.files]
        await measure(Path(temporary) / "data", files, arguments.parts)


if __name__ == "__main__":
    asyncio.run(main())
