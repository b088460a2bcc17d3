"""Writes docs/commands.md from the command line's own help: `python docs/make_commands.py`."""

from pathlib import Path
from typing import Any

import typer

from pincite.cli import app

PAGE = Path(__file__).parent / "commands.md"
HEAD = """# Commands

Made by `python docs/make_commands.py`; do not edit by hand.

The command line acts as the owner of its data folder: whoever can read the folder owns it. It and a running `pincite serve` may be used
on one folder at the same time. Exit codes: 0 all went well, 1 something failed, 2 the call cannot be understood, 130 interrupted.
A document is named by its id, the first characters of its id (four at least), its name, or its path such as `hr/leave.md`.
An id that begins with `-` goes after `--`.
"""
EVERYWHERE = {"--help", "--json", "--data", "--set", "--debug"}


def page() -> str:
    """The whole page."""
    root = typer.main.get_command(app)
    lines = [
        HEAD,
        "Every command takes `--json`, `--data DIR`, `--set KEY=VALUE` (any setting, for this call) and `--debug`.\n"
        'With `--json` an error is JSON as well: one line on stderr, `{"error": {"code": …, "message": …}}`, with the same exit\n'
        "code; stdout holds results only. In a pipe or a file no table is cut or wrapped.\n",
    ]
    for path, command in sorted(_commands(root, "pincite")):
        lines += [
            f"## `{path}`\n",
            f"{_text(command.help)}\n",
            "```text",
            f"{path} {_usage(command)}".rstrip(),
            "```\n",
        ]
        rows = [_row(parameter) for parameter in command.params if not EVERYWHERE & set(parameter.opts)]
        if rows:
            lines += ["| option | meaning |", "|---|---|", *rows, ""]
    return "\n".join(lines).rstrip() + "\n"


def _commands(group: Any, path: str) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, command in group.commands.items():
        below = f"{path} {name}"
        found += _commands(command, below) if hasattr(command, "commands") else [(below, command)]
    return found


def _usage(command: Any) -> str:
    return " ".join((p.metavar or p.name.upper()) for p in command.params if p.param_type_name == "argument")


def _row(parameter: Any) -> str:
    name = (
        ", ".join(f"`{option}`" for option in parameter.opts)
        if parameter.param_type_name == "option"
        else f"`{(parameter.metavar or parameter.name.upper())}`"
    )
    return f"| {name} | {_text(getattr(parameter, 'help', None))} |"


def _text(words: str | None) -> str:
    return " ".join((words or "").split())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
