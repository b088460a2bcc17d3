"""Log formatting: one line per event, readable or JSON, with the request id."""

import json
import logging
import re
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from pincite.config.branches.server import Logs
from pincite.core.request_context import request_id
from pincite.core.traces import without_server_message

EXTRA_FIELDS = ("method", "path", "status", "ms", "trace_id")
"""Fields of a record that are logged besides its message; all others are left out."""

LIBRARY_LEVELS: Mapping[str, int] = {
    "psycopg.pool": logging.ERROR,
    "httpx2": logging.WARNING,
    "uvicorn": logging.WARNING,
}
"""Log levels of libraries: pincite reports a lost connection itself, and single HTTP calls are not logged."""

MAX_FRAMES = 5
"""Number of stack frames logged for an error, innermost first."""

_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


@contextmanager
def configure_logging(logs: Logs, stream: TextIO | None = None) -> Iterator[None]:
    """Configure logging to stderr within the context; the previous configuration is restored afterwards."""
    handler, debug = logging.StreamHandler(stream), logs.level == "debug"
    handler.setFormatter(JsonLines(debug) if logs.format == "json" else ReadableLines(debug))
    root = logging.getLogger()
    levels: dict[str, int | str] = {"": logging.WARNING, "pincite": logs.level.upper(), **LIBRARY_LEVELS}
    before, before_levels = root.handlers[:], {name: logging.getLogger(name).level for name in levels}
    root.handlers[:] = [*(other for other in before if type(other) is not logging.StreamHandler), handler]
    _set_levels(levels)
    try:
        yield
    finally:
        root.handlers[:] = before
        _set_levels(before_levels)


def _set_levels(levels: Mapping[str, int | str]) -> None:
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


class ReadableLines(logging.Formatter):
    """`2026-01-31T12:00:00.000Z WARNING pincite.engine.app [request id] message`, with a traceback at level debug."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__()
        self._debug = debug

    def format(self, record: logging.LogRecord) -> str:
        """Format a record as one line; with `debug` the traceback follows."""
        number = _request_of(record)
        origin = f"{record.name} [{number}]" if number else record.name
        line = f"{format_time(record)} {record.levelname:<7} {origin} {_message(record)}"
        return _escape_control(line) + (
            f"\n{self.formatException(record.exc_info)}" if self._debug and record.exc_info else ""
        )


class JsonLines(logging.Formatter):
    """One JSON object per line: time, level, logger, request_id, message, and `EXTRA_FIELDS`."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__()
        self._debug = debug

    def format(self, record: logging.LogRecord) -> str:
        """Format a record as ASCII JSON, without line breaks or terminal escapes."""
        fields: dict[str, Any] = {
            "time": format_time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "request_id": _request_of(record),
            "message": _message(record),
        }
        fields |= {name: getattr(record, name) for name in EXTRA_FIELDS if hasattr(record, name)}
        if self._debug and record.exc_info:
            fields["traceback"] = self.formatException(record.exc_info)
        return json.dumps({name: value for name, value in fields.items() if value != ""}, default=str)


def format_time(record: logging.LogRecord) -> str:
    """The time of a record in UTC."""
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _message(record: logging.LogRecord) -> str:
    """The message, with class and location of an error; the error's text is left out, as it may hold user data."""
    message = without_server_message(" ".join(record.getMessage().split()))
    if not record.exc_info or record.exc_info[0] is None:
        return message
    frames = traceback.extract_tb(record.exc_info[2])[-MAX_FRAMES:]
    where = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames))
    return f"{message} ({record.exc_info[0].__name__}{f' at {where}' if where else ''})"


def _request_of(record: logging.LogRecord) -> str:
    return str(getattr(record, "request_id", "") or request_id.get())


def _escape_control(text: str) -> str:
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
