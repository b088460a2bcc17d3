"""The command line: `main()` runs one command and turns whatever happens into one line and an exit code."""

import errno
import logging
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from pincite import __version__
from pincite.cli import (
    ask,
    audit,
    chat,
    doctor,
    documents,
    eval,
    flow,
    folders,
    jobs,
    keys,
    maintenance,
    mcp,
    prompts,
    serve,
    settings,
    shares,
    stub,
    traces,
    users,
    versions,
)
from pincite.cli.command import DataOption, DebugOption
from pincite.cli.output import complain, one_line, print_plain
from pincite.config.messages import did_you_mean
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
for group in (
    serve,
    documents,
    versions,
    folders,
    jobs,
    ask,
    chat,
    keys,
    users,
    shares,
    audit,
    settings,
    prompts,
    traces,
    eval,
    doctor,
    maintenance,
    flow,
    mcp,
    stub,
):
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
    options = given[: given.index("--")] if "--" in given else given
    debug, as_json = "--debug" in options, "--json" in options
    _prepare_streams(debug)
    try:
        code = typer.main.get_command(app).main(given or ["--help"], prog_name="pincite", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        return 1
    except Exception as error:
        if debug:
            traceback.print_exception(error)
        message, word, code = _failure(error)
        complain(message, word, as_json=as_json)
        return code
    if code == INTERRUPTED:
        complain("interrupted", "interrupted", as_json=as_json)
    return code if isinstance(code, int) else 0


def _failure(error: Exception) -> tuple[str, str, int]:
    """What went wrong in one line, its code, and the exit code; only what nobody foresaw has more to tell."""
    if isinstance(error, PinciteError):
        return str(error), error.code, error.exit_code
    if callable(getattr(error, "format_message", None)):  # typer's own, whichever click it carries
        return _misuse(error), "usage", 2
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "the disk is full; free some space and run it again", "disk_full", 1
    told = f"unforeseen error: {type(error).__name__}: {error}; run again with --debug for details"
    return told, "internal", 1


def _misuse(error: Any) -> str:
    """How a command was called wrongly; an option is guessed at only where one is near."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "pincite"
    option = getattr(error, "option_name", None) if hasattr(error, "possibilities") else None
    told = error.format_message() if option is None else error.message
    if option is not None and context is not None:
        told += did_you_mean(option, [name for parameter in context.command.params for name in parameter.opts])
    return f"{told[:1].lower()}{told[1:]} (see {path} --help)"


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
