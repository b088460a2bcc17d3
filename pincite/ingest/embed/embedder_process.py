"""The child process that embeds passages: it answers requests from its standard input until that is closed."""

import asyncio
import os
import sys
from collections.abc import Callable

from pincite.core.protocols import Embedder
from pincite.errors import PinciteError
from pincite.ingest.child_protocol import MAX_BODY_BYTES, FrameKind, Limits, pack_json, receive_frame, write_frame
from pincite.ingest.embed.embedder_child import Message
from pincite.ingest.embed.passage_vectors import embed_passages, encode_vectors
from pincite.plugins import PROVIDERS, load

NICENESS = 10
"""How much the priority of this process is lowered, so that questions go first."""
_BATCH_TEXTS = 1024
"""Texts per call of the embedder; a local embedder splits them into batches itself."""
_REQUEST_LIMITS: Limits = {FrameKind.REQUEST: MAX_BODY_BYTES}

Send = Callable[[Message], None]


def main() -> None:
    """Answer requests until the parent closes the pipe or dies."""
    os.nice(NICENESS)
    # Frames get a descriptor of their own: text that a library prints must not end up between them.
    pipe = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    asyncio.run(_serve(lambda message: write_frame(pipe, pack_json(FrameKind.RESULT, message))))


async def _serve(send: Send) -> None:
    """Make the embedder that the first request names, then answer the others, several at the same time."""
    source = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(source), sys.stdin)
    hello = await _next_request(source)
    if hello is None:
        return
    try:
        embedder = load(Embedder, PROVIDERS, hello["provider"], hello["options"])
    except PinciteError as error:
        send({"id": hello["id"], "error": str(error)})
        return
    send({"id": hello["id"], "name": embedder.name})
    answering: set[asyncio.Task[None]] = set()
    while (request := await _next_request(source)) is not None:
        task = asyncio.create_task(_answer(embedder, request, send))
        answering.add(task)
        task.add_done_callback(answering.discard)
    # The parent is gone. Threads that still compute an answer must not keep this process alive.
    os._exit(0)


async def _next_request(source: asyncio.StreamReader) -> Message | None:
    """The next request; None where the parent closed the pipe."""
    try:
        request: Message = (await receive_frame(source, _REQUEST_LIMITS)).json()
        return request
    except (EOFError, ConnectionError):
        return None


async def _answer(embedder: Embedder, request: Message, send: Send) -> None:
    try:
        if "texts" in request:
            from pincite.models.token_encoder import packed_tokens  # it loads the library of local models

            texts = [(text, language) for text, language in request["texts"]]
            answer = (await packed_tokens(embedder, texts, request["folder"])).to_message()
        else:
            passages = [(prefix, text) for prefix, text in request["passages"]]
            answer = encode_vectors(await embed_passages(embedder, passages, _BATCH_TEXTS))
    except PinciteError as error:
        answer = {"error": str(error)}
    except Exception as error:  # an embedder's error fails this request only
        answer = {"error": f"{type(error).__name__}: {error}"}
    send({"id": request["id"], **answer})


if __name__ == "__main__":
    main()
