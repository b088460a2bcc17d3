"""The command mcp: the Model Context Protocol over stdin and stdout."""

import asyncio
import contextlib
import json
import sys
import threading
from typing import TYPE_CHECKING, Any, BinaryIO

import typer

from pincite.cli.command import CommandContext, command

if TYPE_CHECKING:
    from pincite.engine.app import AsyncPincite
    from pincite.mcp.tools import ToolBackend

MAX_LINE_BYTES = 1024 * 1024
"""Bytes of one message; a longer line is read in pieces, which are invalid messages."""
MAX_CONCURRENT_MESSAGES = 8
"""Messages processed at the same time."""


def register(app: typer.Typer) -> None:
    """Register this command with `app`."""
    command(app, "mcp", until_stopped=True)(mcp)


async def mcp(context: CommandContext) -> None:
    """Serve the documents as tools of the Model Context Protocol over stdin and stdout.

    The tools are rag_search, read_document, find_in_document and ask. A running service has the same tools at /mcp.
    """
    async with context.open() as pincite:
        await serve(_tool_backend(pincite), sys.stdin.buffer, sys.stdout.buffer)


def _tool_backend(pincite: "AsyncPincite") -> "ToolBackend":
    from pincite.mcp.tools import ToolBackend

    return ToolBackend(pincite.search, pincite.documents.read, pincite.ask, pincite.graph.find, pincite.graph.entity)


async def serve(backend: "ToolBackend", source: BinaryIO, sink: BinaryIO) -> None:
    """Handle messages, one per line, until the input ends."""
    from pincite.mcp.protocol import handle_message

    slots, lines = asyncio.Semaphore(MAX_CONCURRENT_MESSAGES), _read_lines(source)

    async def work(line: bytes) -> None:
        try:
            response = await handle_message(line, backend)
        finally:
            slots.release()
        if response is not None:
            _write_message(sink, response)

    async with asyncio.TaskGroup() as tasks:
        while line := await lines.get():
            if line.strip():
                await slots.acquire()
                tasks.create_task(work(line))


def _read_lines(source: BinaryIO) -> "asyncio.Queue[bytes]":
    """A queue of lines, filled by a daemon thread, as a read may block for ever; an empty line is the end."""
    loop, lines = asyncio.get_running_loop(), asyncio.Queue[bytes](MAX_CONCURRENT_MESSAGES)

    def read() -> None:
        line = b"\n"
        with contextlib.suppress(RuntimeError):  # the event loop has ended
            while line:
                line = source.readline(MAX_LINE_BYTES)
                asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()

    threading.Thread(target=read, name="mcp-stdin", daemon=True).start()
    return lines


def _write_message(sink: BinaryIO, message: dict[str, Any]) -> None:
    sink.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
    sink.flush()
