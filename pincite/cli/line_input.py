"""Lines of input for a conversation, typed or piped, read without blocking the event loop."""

import asyncio
import io
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

INPUT_PROMPT = "\n› "
"""Prompt of an interactive conversation."""


async def read_lines(*, interactive: bool) -> AsyncIterator[str]:
    """Yield the lines of stdin, typed or piped, until it ends."""
    if interactive:
        import readline  # noqa: F401  # line editing and history

    read = _read_typed_line if interactive else _piped_line_reader()
    while line := await _read_in_thread(read):
        yield line.encode(errors="replace").decode().strip()


def _read_typed_line() -> str:
    try:
        return input(INPUT_PROMPT) + "\n"
    except EOFError:
        return ""


def _piped_line_reader() -> Callable[[], str]:
    """A function that reads one line of a pipe; unbuffered, since a buffer with a blocked reader cannot be closed."""
    try:
        file = io.FileIO(sys.stdin.fileno(), closefd=False)
    except (OSError, ValueError):  # stdin was replaced by an object that is not a file
        return sys.stdin.readline
    return lambda: file.readline().decode(sys.stdin.encoding, "replace")


async def _read_in_thread(read: Callable[[], str]) -> str:
    """Read a line in a daemon thread, so that a blocked read does not delay the end of the program."""
    loop = asyncio.get_running_loop()
    line: asyncio.Future[str] = loop.create_future()

    def work() -> None:
        try:
            found, error = read(), None
        except Exception as raised:
            found, error = "", raised
        with suppress(RuntimeError):  # the event loop has ended
            loop.call_soon_threadsafe(deliver, found, error)

    def deliver(found: str, error: Exception | None) -> None:
        if line.done():
            return
        line.set_exception(error) if error else line.set_result(found)

    threading.Thread(target=work, daemon=True).start()
    return await line
