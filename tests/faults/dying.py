"""Processes that end like killed ones, at a step of their work; the product has no switch for this."""

import multiprocessing
import os
import signal
from collections.abc import Callable
from typing import Any

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    ["pytest", "pincite.engine.app", "pincite.store.operations.restore"]
)  # most of what starting one takes
Say = Callable[[str], None]


class Mortal:
    """A process that sends messages until it ends or is killed."""

    def __init__(self, work: Callable[..., None], *told: str) -> None:
        self._heard, said = FORKS.Pipe(duplex=False)
        self._process = FORKS.Process(target=work, args=(said.send, *told), daemon=True)
        self._process.start()
        said.close()

    def hear(self) -> str:
        """The next message; empty where the process has ended."""
        try:
            return str(self._heard.recv())
        except (EOFError, OSError):
            return ""

    def kill(self) -> None:
        self._process.kill()

    def end(self, within_s: float = 60) -> tuple[int, list[str]]:
        """Wait for the end; return the exit code, negative for a signal, and the remaining messages."""
        said = list(iter(self.hear, ""))
        self._process.join(within_s)
        assert self._process.exitcode is not None, "the process does not end"
        return self._process.exitcode, said


def die_at(point: str, steps: dict[str, tuple[Any, str]]) -> None:
    """Make this process kill itself at a step: `before:serve:2` is before the second call of the step `serve`.

    A step that returned False has no `after`.
    """
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
