"""What every model's stream goes through: thoughts left out, length bounded, an end required, calls only where offered."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from pincite.core.query.prompt import StreamPart, Usage
from pincite.core.query.tools import ToolCall
from pincite.errors import ProviderError

MAX_CHARS_PER_TOKEN = 12
"""A server that sends more than this for each token it may write does not keep to the limit it was given."""
USAGE_TIMEOUT_S = 2.0
"""How long a server may take, once the answer is complete, to say what it cost."""

_OPEN, _CLOSE = "<think>", "</think>"


async def clean_stream(
    pieces: AsyncGenerator[StreamPart, None], who: str, max_tokens: int, *, tools: bool = False
) -> AsyncGenerator[StreamPart, None]:
    """The text of an answer and, once, why it ended; raises where it did not end or nothing was said.

    Calls of tools come with the end; where none were offered they are not heard.
    """
    thoughts, received, said, model = _ThinkFilter(), 0, False, None
    async with aclosing(pieces):
        async for piece in pieces:
            received += len(piece.text) + len(piece.thought)
            model = piece.model or model
            text = thoughts.without(piece.text)
            if text or piece.thought or thoughts.new:
                said = said or bool(text.strip())
                yield StreamPart(text, thought=piece.thought + thoughts.taken())
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
    raise ProviderError(f"{who} broke off in the middle of the answer")


def _hint(reason: str) -> str:
    return "; raise llm.max_tokens" if reason == "length" else ""


async def _read_usage(pieces: AsyncIterator[StreamPart]) -> Usage | None:
    """What comes after the end of an answer: its cost, if anything; nothing there can spoil the answer."""
    cost = None
    try:
        async with asyncio.timeout(USAGE_TIMEOUT_S):
            async for piece in pieces:
                cost = piece.usage or cost
    except (ProviderError, TimeoutError):
        pass
    return cost


class _ThinkFilter:
    """Leaves out what a model thinks aloud, between `<think>` tags, before it answers."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "start"
        self.new = ""
        """What was thought since it was last taken."""

    def taken(self) -> str:
        """What was thought since."""
        thought, self.new = self.new, ""
        return thought

    def without(self, text: str) -> str:
        """The part of what came that may be shown now."""
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
        """What was held back when the stream ended, where it was no thought."""
        return self._answer(self._held) if self._state == "start" and self._held.strip() else ""

    def _answer(self, text: str) -> str:
        self._state, self._held = "answer", ""
        return text
