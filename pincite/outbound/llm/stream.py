"""Filter the stream of a language model: separate reasoning, limit the length, and require a finish reason."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from pincite.core.query.prompt import StreamPart, Usage
from pincite.core.query.tools import ToolCall
from pincite.errors import ProviderError

MAX_CHARS_PER_TOKEN = 12
"""Characters per allowed token after which an answer is cut off, because the server ignores its token limit."""

USAGE_TIMEOUT_S = 2.0
"""Seconds to wait for the token usage after the answer is complete."""

_OPEN, _CLOSE = "<think>", "</think>"


async def clean_stream(
    pieces: AsyncGenerator[StreamPart, None], who: str, max_tokens: int, *, tools: bool = False
) -> AsyncGenerator[StreamPart, None]:
    """Stream the text of an answer and its finish reason; raises if it is incomplete or empty.

    Tool calls come with the finish reason; they are dropped if no tools were offered.
    """
    thoughts, received, said, model = _ThinkFilter(), 0, False, None
    async with aclosing(pieces):
        async for piece in pieces:
            received += len(piece.text) + len(piece.thought)
            model = piece.model or model
            text = thoughts.feed(piece.text)
            if text or piece.thought or thoughts.new:
                said = said or bool(text.strip())
                yield StreamPart(text, thought=piece.thought + thoughts.take())
            if piece.finish_reason or received > max_tokens * MAX_CHARS_PER_TOKEN:
                reason = piece.finish_reason or "length"
                if rest := thoughts.rest():
                    said = True
                    yield StreamPart(rest)
                calls: tuple[ToolCall, ...] = piece.calls if tools else ()
                if not said and not calls:
                    raise ProviderError(f"{who} wrote nothing (finish reason: {reason}){_hint(reason)}")
                cost = await _read_usage(pieces) if piece.finish_reason else None
                yield StreamPart(finish_reason=reason, model=model, usage=piece.usage or cost, calls=calls)
                return
    raise ProviderError(f"{who} stopped in the middle of the answer")


def _hint(reason: str) -> str:
    return "; raise llm.max_tokens" if reason == "length" else ""


async def _read_usage(pieces: AsyncIterator[StreamPart]) -> Usage | None:
    """Read the token usage after the end of an answer; errors are ignored."""
    cost = None
    try:
        async with asyncio.timeout(USAGE_TIMEOUT_S):
            async for piece in pieces:
                cost = piece.usage or cost
    except (ProviderError, TimeoutError):
        pass
    return cost


class _ThinkFilter:
    """Separates the reasoning between `<think>` tags from the answer."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "start"
        self.new = ""
        """Reasoning received since the last `take`."""

    def take(self) -> str:
        """Return and clear the new reasoning."""
        thought, self.new = self.new, ""
        return thought

    def feed(self, text: str) -> str:
        """Add received text and return the part of it that belongs to the answer."""
        if self._state == "answer":
            return text
        self._held += text
        if self._state == "start" and not self._held.lstrip().startswith(_OPEN):
            return "" if _OPEN.startswith(self._held.lstrip()) else self._answer(self._held)
        if self._state == "start":
            self._state, self._held = "thinking", self._held.lstrip().removeprefix(_OPEN)
        if self._state == "thinking":
            before, found, after = self._held.partition(_CLOSE)
            sure = len(before) if found else max(0, len(before) - len(_CLOSE))
            self.new += before[:sure]
            self._state = "thought" if found else "thinking"
            self._held = after if found else before[sure:]
        shown = self._held.lstrip() if self._state == "thought" else ""
        return self._answer(shown) if shown else ""

    def rest(self) -> str:
        """Return buffered text at the end of the stream, if it is not reasoning."""
        return self._answer(self._held) if self._state == "start" and self._held.strip() else ""

    def _answer(self, text: str) -> str:
        self._state, self._held = "answer", ""
        return text
