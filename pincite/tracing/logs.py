"""Log lines: one to an event, readable or JSON, each with the id of the request it belongs to."""

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

FACTS = ("method", "path", "status", "ms", "trace_id")
"""What a line may carry beside its message; anything else that is attached to a record stays out."""
QUIET: Mapping[str, int] = {"psycopg.pool": logging.ERROR, "httpx2": logging.WARNING, "uvicorn": logging.WARNING}
"""A lost connection is told once, by whoever needed it; and libraries do not tell every call."""

NEAREST = 5
"""Places told of where an error came from, the nearest first."""

_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


@contextmanager
def configured(logs: Logs, stream: TextIO | None = None) -> Iterator[None]:
    """Log as the settings say, to stderr, until left; then as before."""
    handler, debug = logging.StreamHandler(stream), logs.level == "debug"
    handler.setFormatter(JsonLines(debug) if logs.format == "json" else ReadableLines(debug))
    root = logging.getLogger()
    levels: dict[str, int | str] = {"": logging.WARNING, "pincite": logs.level.upper(), **QUIET}
    before, before_levels = root.handlers[:], {name: logging.getLogger(name).level for name in levels}
    root.handlers[:] = [*(other for other in before if type(other) is not logging.StreamHandler), handler]
    _set(levels)
    try:
        yield
    finally:
        root.handlers[:] = before
        _set(before_levels)


def _set(levels: Mapping[str, int | str]) -> None:
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


class ReadableLines(logging.Formatter):
    """`2026-01-31T12:00:00.000Z WARNING pincite.engine.app [request id] message`; where an error came from if asked."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__()
        self._debug = debug

    def format(self, record: logging.LogRecord) -> str:
        """One line, whatever is in it; with `debug` the traceback below."""
        number = _request_of(record)
        line = f"{moment(record)} {record.levelname:<7} {record.name}{f' [{number}]' if number else ''} {_said(record)}"
        return _safe(line) + (f"\n{self.formatException(record.exc_info)}" if self._debug and record.exc_info else "")


class JsonLines(logging.Formatter):
    """An object a line: time, level, logger, request_id, message, and the facts of `FACTS`."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__()
        self._debug = debug

    def format(self, record: logging.LogRecord) -> str:
        """Plain ASCII: nothing in it can break the line or steer a terminal."""
        told: dict[str, Any] = {
            "time": moment(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "request_id": _request_of(record),
            "message": _said(record),
        }
        told |= {name: getattr(record, name) for name in FACTS if hasattr(record, name)}
        if self._debug and record.exc_info:
            told["traceback"] = self.formatException(record.exc_info)
        return json.dumps({name: value for name, value in told.items() if value != ""}, default=str)


def moment(record: logging.LogRecord) -> str:
    """When it happened, in UTC."""
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _said(record: logging.LogRecord) -> str:
    """The message, and of an error its name and where it came from; its own text could hold anything."""
    said = without_server_message(" ".join(record.getMessage().split()))
    if not record.exc_info or record.exc_info[0] is None:
        return said
    frames = traceback.extract_tb(record.exc_info[2])[-NEAREST:]
    where = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames))
    return f"{said} ({record.exc_info[0].__name__}{f' at {where}' if where else ''})"


def _request_of(record: logging.LogRecord) -> str:
    return str(getattr(record, "request_id", "") or request_id.get())


def _safe(text: str) -> str:
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
