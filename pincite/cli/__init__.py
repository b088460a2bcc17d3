"""The command line: `main()` runs one command and reports any error as one line and an exit code."""

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
    database,
    doctor,
    documents,
    embed_server,
    eval,
    flow,
    folders,
    graph,
    jobs,
    keys,
    maintenance,
    mcp,
    models,
    prompts,
    serve,
    settings,
    shares,
    sources,
    stub,
    traces,
    tune,
    users,
    versions,
)
from pincite.cli.command import DataOption, DebugOption
from pincite.cli.output import one_line, print_error, print_plain
from pincite.config.messages import did_you_mean
from pincite.errors import PinciteError

INTERRUPTED_EXIT_CODE = 130
"""Exit code after Ctrl-C, as shells use it."""

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
    graph,
    jobs,
    ask,
    chat,
    keys,
    users,
    shares,
    sources,
    audit,
    settings,
    prompts,
    traces,
    eval,
    tune,
    database,
    embed_server,
    doctor,
    models,
    maintenance,
    flow,
    mcp,
    stub,
):
    group.register(app)


@app.callback()
def _read_global_options(
    context: typer.Context,
    data: DataOption = None,
    debug: DebugOption = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=lambda requested: _print_version(requested), help="Print the version."
        ),
    ] = False,
) -> None:
    context.obj = data


def _print_version(requested: bool) -> None:
    if requested:
        print_plain(f"pincite {__version__}")
        raise typer.Exit


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; the entry point of the console script."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = given[: given.index("--")] if "--" in given else given
    debug, as_json = "--debug" in options, "--json" in options
    _configure_streams(debug)
    try:
        code = typer.main.get_command(app).main(given or ["--help"], prog_name="pincite", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
        return 1
    except Exception as error:
        if debug:
            traceback.print_exception(error)
        message, word, code = _describe_failure(error)
        print_error(message, word, as_json=as_json)
        return code
    if code == INTERRUPTED_EXIT_CODE:
        print_error("interrupted", "interrupted", as_json=as_json)
    return code if isinstance(code, int) else 0


def _describe_failure(error: Exception) -> tuple[str, str, int]:
    """The message of an error in one line, its error code, and the exit code."""
    if isinstance(error, PinciteError):
        return str(error), error.code, error.exit_code
    if callable(getattr(error, "format_message", None)):  # usage errors of typer, whichever click it uses
        return _describe_usage_error(error), "usage", 2
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "the disk is full; free some space and run the command again", "disk_full", 1
    message = f"unexpected error: {type(error).__name__}: {error}; run again with --debug for details"
    return message, "internal", 1


def _describe_usage_error(error: Any) -> str:
    """The message of a usage error; a similar option is suggested if there is one."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "pincite"
    option = getattr(error, "option_name", None) if hasattr(error, "possibilities") else None
    message = error.format_message() if option is None else error.message
    if option is not None and context is not None:
        message += did_you_mean(option, [name for parameter in context.command.params for name in parameter.opts])
    return f"{message[:1].lower()}{message[1:]} (see {path} --help)"


def _discard_output() -> None:
    """Discard buffered output after the reader closed the pipe, so that the exit prints no error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _OneLineFormatter(logging.Formatter):
    """Formats a log record as one safe line; the traceback only with --debug."""

    def __init__(self, debug: bool) -> None:
        super().__init__()
        self._debug = debug

    def format(self, record: logging.LogRecord) -> str:
        line = f"pincite: {record.levelname.lower()}: {one_line(record.getMessage())}"
        if self._debug and record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line


def _configure_streams(debug: bool) -> None:
    """Escape characters that the terminal's encoding lacks, and log the library's warnings to stderr."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    handler = logging.StreamHandler()
    handler.setFormatter(_OneLineFormatter(debug))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
