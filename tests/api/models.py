"""Models for tests of streamed answers."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

from pincite.core.protocols import LLM
from pincite.core.query.prompt import Prompt, StreamPart
from tests.api.live_server import LiveServer
from tests.builders import answering
from tests.steady_clock import now


class Talker:
    """Says a word every `pause_s`, for ever; remembers when it was stopped."""

    name = "talker"
    window = 8192

    def __init__(self, pause_s: float = 0.05) -> None:
        self._pause_s = pause_s
        self.began: float | None = None
        self.stopped: float | None = None

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        self.began = now()
        try:
            while True:
                await asyncio.sleep(self._pause_s)
                yield StreamPart("word ")
        finally:
            self.stopped = now()

    def wait(self, attribute: str) -> float:
        """The moment it began or was stopped, once that has happened."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if (moment := getattr(self, attribute)) is not None:
                return float(moment)
            time.sleep(0.01)
        raise AssertionError(f"never {attribute}")


@contextmanager
def speaking(live_server: LiveServer, llm: LLM) -> Iterator[None]:
    """Let this model answer meanwhile."""
    with answering(live_server.pincite, llm):
        yield
