"""End a task, and be sure that it is over."""

import asyncio
from contextlib import suppress
from typing import Any

CANCEL_AGAIN_S = 0.5
"""How long a cancelled task is given before it is told once more."""


async def ended(task: "asyncio.Task[Any]") -> None:
    """Cancel it until it is over: in Python 3.11 `wait_for`, which the connection pool uses too, can swallow one call."""
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=CANCEL_AGAIN_S)
    with suppress(asyncio.CancelledError):
        # How it ended does not matter any more; and what is looked at is let go of, with all that its frames hold, such as
        # a connection that was being opened.
        task.exception()
