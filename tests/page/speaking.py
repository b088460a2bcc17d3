"""A model that says what it is told, a word at a time, and waits where it is told to."""

import asyncio
import threading
from collections.abc import AsyncIterator

from pincite.core.query.prompt import Prompt, StreamPart


class Speaker:
    """Says a text; before the words after `until` it waits for `go`."""

    name = "speaker"
    window = 8192

    def __init__(self, text: str, until: int | None = None) -> None:
        self._text = text
        self._until = until
        self.go = threading.Event()
        self.asked = 0

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        """The text in pieces."""
        self.asked += 1
        for number, word in enumerate(self._text.split(" ")):
            while number == self._until and not self.go.is_set():
                await asyncio.sleep(0.02)
            yield StreamPart(word + " ")
