"""The command line: `main()` runs one command and turns whatever happens into one line and an exit code."""

import errno
import logging
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

from pincite import __version__
from pincite.cli import chat, doctor, documents, keys, prompts, questions, service, settings, stub, traces
from pincite.cli.door import DataOption, DebugOption
from pincite.cli.safe import one_line, print_plain, remark
from pincite.errors import PinciteError

INTERRUPTED = 130
"""Exit code that a shell gives for Ctrl-C."""

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Answers from your own documents, each sentence cited to its exact passage.",
    epilog="Try it: pincite demo --once",
)
for group in (service, documents, questions, chat, keys, settings, prompts, traces, doctor, stub):
    group.register(app)


@app.callback()
def _before(
    context: typer.Context,
    data: DataOption = None,
    debug: DebugOption = False,
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=lambda asked: _version(asked), help="Say which this is."),
    ] = False,
) -> None:
    context.obj = data


def _version(asked: bool) -> None:
    if asked:
        print_plain(f"pincite {__version__}")
        raise typer.Exit


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the console script's entry."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    _prepare_streams(debug)
    try:
        code = typer.main.get_command(app).main(given or ["--help"], prog_name="pincite", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        return 1
    except Exception as error:
        return _failed(error, debug)
    if code == INTERRUPTED:
        remark("pincite: interrupted")
    return code if isinstance(code, int) else 0


def _failed(error: Exception, debug: bool) -> int:
    """Say in one line what went wrong; only what nobody foresaw has more to tell, and only when asked."""
    if debug:
        traceback.print_exception(error)
    if isinstance(error, PinciteError):
        return _say(str(error), error.exit_code)
    if callable(message := getattr(error, "format_message", None)):  # typer's own, whichever click it carries
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "pincite"
        told = message()
        return _say(f"{told[:1].lower()}{told[1:]} (see {path} --help)", 2)
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return _say("the disk is full; free some space and run it again", 1)
    return _say(f"unforeseen error: {type(error).__name__}: {error}; run again with --debug for details", 1)


def _say(message: str, code: int) -> int:
    remark(f"pincite: {one_line(message)}")
    return code


def _drop_output() -> None:
    """Whoever read our output has left: what is still buffered goes nowhere, so that ending says nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _OneLine(logging.Formatter):
    """A warning in one safe line; where an error came from only when asked."""

    def __init__(self, debug: bool) -> None:
        super().__init__()
        self._debug = debug

    def format(self, record: logging.LogRecord) -> str:
        line = f"pincite: {record.levelname.lower()}: {one_line(record.getMessage())}"
        if self._debug and record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line


def _prepare_streams(debug: bool) -> None:
    """Characters a terminal's encoding lacks are escaped, and the library's warnings go to stderr."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    handler = logging.StreamHandler()
    handler.setFormatter(_OneLine(debug))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # a lost connection is told once, by whoever needed it
