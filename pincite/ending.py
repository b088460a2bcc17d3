"""End a task, and be sure that it is over."""

import asyncio
from typing import Any

CANCEL_AGAIN_S = 0.5
"""How long a cancelled task is given before it is told once more."""


async def ended(task: "asyncio.Task[Any]") -> None:
    """Cancel it until it is over: in Python 3.11 `wait_for`, which the connection pool uses too, can swallow one call."""
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=CANCEL_AGAIN_S)
    if not task.cancelled():
        task.exception()  # looked at: what it failed of does not matter any more
