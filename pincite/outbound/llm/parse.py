"""What a server said, taken for no more than it is: text, counts, windows and pieces of an answer, each of its kind."""

import re
from typing import TypeGuard

from pincite.core.query.prompt import StreamPart, Usage

MAX_WINDOW = 10_000_000
MAX_TOKENS = 2**31 - 1

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def text_of(value: object) -> str:
    """A text, without the characters that can be neither stored nor sent on; `TypeError` for anything else."""
    if not isinstance(value, str):
        raise TypeError(f"text was due, not {type(value).__name__}")
    return _UNSTORABLE.sub("\ufffd", value)


def window_of(value: object) -> int | None:
    """A model's window, if it can be one."""
    return value if _is_integer(value) and 0 < value <= MAX_WINDOW else None


def usage_of(asked: object, said: object) -> Usage | None:
    """What an answer cost, if both counts can be right."""
    if not (_is_integer(asked) and _is_integer(said)):
        return None
    return Usage(asked, said) if 0 <= asked <= MAX_TOKENS and 0 <= said <= MAX_TOKENS else None


def piece_of(
    text: object = None,
    reason: object = None,
    model: object = None,
    usage: Usage | None = None,
    thought: object = None,
) -> StreamPart:
    """A piece of an answer; its text must be one, while a reason, a name or a thought that is none is left out."""
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
