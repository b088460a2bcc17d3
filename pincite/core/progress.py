"""How far something long is: told by whoever does it, heard by whoever waits."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int], None]


def _nobody(_what: str, _done: int, _of: int) -> None:
    """Where nobody waits."""


_listener: ContextVar[Listener] = ContextVar("pace", default=_nobody)


def report_progress(what: str, done: int, of: int) -> None:
    """So many are done of so many, of what is counted: `page`, `row`. Cheap enough for every page, or every 100 rows."""
    _listener.get()(what, done, of)


@contextmanager
def progress_listener(listener: Listener) -> Iterator[None]:
    """Have a listener told, in this context, as long as this is entered."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
