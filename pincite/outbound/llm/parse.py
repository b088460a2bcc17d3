"""Validate values from a server: text, token counts, context windows and stream parts."""

import re
from typing import TypeGuard

from pincite.core.query.prompt import StreamPart, Usage

MAX_WINDOW = 10_000_000
MAX_TOKENS = 2**31 - 1

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def text_of(value: object) -> str:
    """Return a text with unstorable characters replaced; raises `TypeError` for other types."""
    if not isinstance(value, str):
        raise TypeError(f"expected text, not {type(value).__name__}")
    return _UNSTORABLE.sub("\ufffd", value)


def window_of(value: object) -> int | None:
    """Return a context window, or None if the value is not plausible."""
    return value if _is_integer(value) and 0 < value <= MAX_WINDOW else None


def usage_of(prompt: object, answer: object) -> Usage | None:
    """Return the token usage, or None if the counts are not plausible."""
    if not (_is_integer(prompt) and _is_integer(answer)):
        return None
    return Usage(prompt, answer) if 0 <= prompt <= MAX_TOKENS and 0 <= answer <= MAX_TOKENS else None


def piece_of(
    text: object = None,
    reason: object = None,
    model: object = None,
    usage: Usage | None = None,
    thought: object = None,
) -> StreamPart:
    """Return a stream part; the text must be valid, an invalid finish reason, model name or thought is dropped."""
    return StreamPart(
        text="" if text is None else text_of(text),
        finish_reason=_name(reason),
        model=_name(model),
        usage=usage,
        thought=text_of(thought) if isinstance(thought, str) else "",
    )


def _name(value: object) -> str | None:
    return text_of(value)[:200] or None if isinstance(value, str) else None


def _is_integer(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
