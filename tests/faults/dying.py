"""Ends a process like one that was killed, at a step of its work; the product has no switch for this."""

import os
import signal
from typing import Any


def die_at(point: str, steps: dict[str, tuple[Any, str]]) -> None:
    """Die at `before:serve:2`: the second time that this step is about to be taken. A step that did nothing has no after."""
    when, step, times = point.split(":")
    owner, name = steps[step]
    real, left = getattr(owner, name), int(times)

    async def dying(*arguments: Any, **options: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0 and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = await real(*arguments, **options)
        if left <= 0 and when == "after" and result is not False:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, dying)
