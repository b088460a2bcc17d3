"""Progress of a long operation: the code that does the work reports it to a listener in its context."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int], None]


def _ignore(_what: str, _done: int, _of: int) -> None:
    """The default listener: does nothing."""


_listener: ContextVar[Listener] = ContextVar("pace", default=_ignore)


def report_progress(what: str, done: int, of: int) -> None:
    """Report `done` of `of` units (`what` is `page` or `row`); cheap enough for every page or every 100 rows."""
    _listener.get()(what, done, of)


@contextmanager
def progress_listener(listener: Listener) -> Iterator[None]:
    """Send the progress reported in this block to a listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
