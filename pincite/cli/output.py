"""Output without control characters, as text or JSON; this module is quick to import."""

import json
import os
import re
import sys
import textwrap
from typing import Any

# Control characters except newline and tab, bidirectional marks, line separators, surrogates.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def clean(text: str) -> str:
    """The text with terminal control characters replaced by escapes."""
    return _UNSAFE.sub(_escape, text)


def one_line(text: str) -> str:
    """The text on one line, with control characters replaced by escapes."""
    return clean(" ".join(text.split()))


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def print_json(value: Any, *, indent: int | None = 2) -> None:
    """Print a value as JSON, on one line if `indent` is None; control characters are escaped."""
    print_plain(_to_json(value, sys.stdout.encoding, indent))


def _to_json(value: Any, encoding: str | None, indent: int | None = None) -> str:
    readable = (encoding or "").lower().replace("-", "") == "utf8"
    written = json.dumps(value, ensure_ascii=not readable, indent=indent)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", written)


def print_plain(text: str) -> None:
    """Print text unchanged, neither wrapped nor coloured."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def print_note(text: str) -> None:
    """Print a note on stderr, wrapped between words on a terminal."""
    _write_stderr(_wrap(clean(text)) if sys.stderr.isatty() else clean(text))


def print_error(message: str, code: str, *, as_json: bool) -> None:
    """Print an error on stderr in one line: as text, or as `{"error": {"code", "message"}}`."""
    if as_json:
        _write_stderr(_to_json({"error": {"code": code, "message": message}}, sys.stderr.encoding))
    else:
        print_note(f"pincite: {one_line(message)}")


def _write_stderr(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def _wrap(text: str) -> str:
    try:
        width = os.get_terminal_size(sys.stderr.fileno()).columns
    except OSError:
        return text
    lines = (textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False) for line in text.split("\n"))
    return "\n".join("\n".join(line) for line in lines) if width else text
