"""Calls of the command line without a process, and their results."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pincite.cli import main

COMMAND = [sys.executable, "-c", "from pincite.cli import main; raise SystemExit(main())"]


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The result of a call: exit code, stdout and stderr."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The printed JSON."""
        return json.loads(self.out)

    @property
    def words(self) -> str:
        """The printed text without line breaks."""
        return " ".join(self.out.split())

    def failed_with(self, code: int) -> str:
        """The error line, after checking that it is one line and that the exit code is right."""
        assert (self.code, self.out) == (code, "")
        assert self.err.startswith("pincite: ")
        assert self.err.count("\n") == 1
        assert self.err.endswith("\n")
        return self.err.removeprefix("pincite: ").rstrip("\n")


Call = Callable[..., CommandResult]


def call(*arguments: object, encoding: str = "utf-8") -> CommandResult:
    """Call `main` as the console script does."""
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True)
    err = io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True)
    with redirect_stdout(out), redirect_stderr(err):
        code = main([str(argument) for argument in arguments])
    printed = (stream.buffer.getvalue() for stream in (out, err))  # type: ignore[attr-defined]
    return CommandResult(code, *(data.decode(encoding) for data in printed))


def start(*arguments: object, **env: str) -> "subprocess.Popen[str]":
    """Start the command line as a process of its own."""
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **env},
        cwd=Path(__file__).parents[2],
    )
