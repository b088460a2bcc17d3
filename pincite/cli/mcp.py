"""The Model Context Protocol over stdin and stdout: mcp."""

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
"""Bytes of one message; a longer one is read in pieces, none of which is a message."""
MAX_CONCURRENT_MESSAGES = 8
"""Messages that are worked on at the same time."""


def register(app: typer.Typer) -> None:
    """Make this a command of `app`."""
    command(app, "mcp", until_stopped=True)(mcp)


async def mcp(context: CommandContext) -> None:
    """Serve the documents as tools to a program that speaks the Model Context Protocol over stdin and stdout.

    The tools are rag_search, read_document, find_in_document and ask. A running service offers the same at /mcp.
    """
    async with context.open() as pincite:
        await serve(_tool_backend(pincite), sys.stdin.buffer, sys.stdout.buffer)


def _tool_backend(pincite: "AsyncPincite") -> "ToolBackend":
    from pincite.mcp.tools import ToolBackend

    return ToolBackend(pincite.search, pincite.documents.read, pincite.ask)


async def serve(backend: "ToolBackend", heard: BinaryIO, said: BinaryIO) -> None:
    """Answer message after message, a line each, until there are no more."""
    from pincite.mcp.protocol import handle_message

    room, lines = asyncio.Semaphore(MAX_CONCURRENT_MESSAGES), _read_lines(heard)

    async def work(line: bytes) -> None:
        try:
            told = await handle_message(line, backend)
        finally:
            room.release()
        if told is not None:
            _write_message(said, told)

    async with asyncio.TaskGroup() as tasks:
        while line := await lines.get():
            if line.strip():
                await room.acquire()
                tasks.create_task(work(line))


def _read_lines(heard: BinaryIO) -> "asyncio.Queue[bytes]":
    """What is heard, line by line, read in a thread that nobody waits for; an empty one is the end."""
    loop, lines = asyncio.get_running_loop(), asyncio.Queue[bytes](MAX_CONCURRENT_MESSAGES)

    def listen() -> None:
        line = b"\n"
        with contextlib.suppress(RuntimeError):  # the loop has ended
            while line:
                line = heard.readline(MAX_LINE_BYTES)
                asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()

    threading.Thread(target=listen, name="mcp-stdin", daemon=True).start()
    return lines


def _write_message(said: BinaryIO, told: dict[str, Any]) -> None:
    said.write(json.dumps(told, separators=(",", ":")).encode() + b"\n")
    said.flush()
