"""The process behind a lane: answers requests from its standard input until that is closed."""

import asyncio
import os
import sys
from collections.abc import Callable

from pincite.core.protocols import Embedder
from pincite.errors import PinciteError
from pincite.ingest.embed.bulk_embedder import PROVIDERS, Frame, embed_passages, pack_frame, pack_vectors, read_frame
from pincite.plugins import load

NICENESS = 10
_BATCH = 1024
"""Texts handed to the embedder at once; a local one cuts its work up itself."""

Send = Callable[[Frame], None]


def main() -> None:
    """Serve until the parent closes the pipe or is gone."""
    os.nice(NICENESS)
    # Frames get the pipe for themselves: what a library prints must not end up between them.
    pipe = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def send(frame: Frame) -> None:
        rest = memoryview(pack_frame(frame))
        while rest:
            rest = rest[pipe.write(rest) :]

    asyncio.run(_serve(send))


async def _serve(send: Send) -> None:
    source = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(source), sys.stdin)
    hello = await read_frame(source)
    if hello is None:
        return
    try:
        embedder = load(Embedder, PROVIDERS, hello["provider"], hello["options"])
    except PinciteError as error:
        send({"id": hello["id"], "error": str(error)})
        return
    send({"id": hello["id"], "name": embedder.name})
    answering: set[asyncio.Task[None]] = set()
    while (request := await read_frame(source)) is not None:
        task = asyncio.create_task(_answer(embedder, request, send))
        answering.add(task)
        task.add_done_callback(answering.discard)
    # Nobody is left to read an answer, and threads that still compute one must not keep the process alive.
    os._exit(0)


async def _answer(embedder: Embedder, request: Frame, send: Send) -> None:
    try:
        passages = [(prefix, text) for prefix, text in request["passages"]]
        answer = pack_vectors(await embed_passages(embedder, passages, _BATCH))
    except PinciteError as error:
        answer = {"error": str(error)}
    except Exception as error:  # whatever an embedder raises belongs to the one who asked, not to the others
        answer = {"error": f"{type(error).__name__}: {error}"}
    send({"id": request["id"], **answer})


if __name__ == "__main__":
    main()
