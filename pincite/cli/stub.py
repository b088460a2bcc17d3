"""The command stub-llm: a model server for tests."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from pincite.cli.command import CommandContext, command
from pincite.cli.output import print_json


def register(app: typer.Typer) -> None:
    """Register these commands with `app`."""
    command(app, "stub-llm", until_stopped=True)(stub_llm)


async def stub_llm(
    context: CommandContext,
    script: Annotated[
        Path | None, typer.Argument(metavar="[SCRIPT]", help="Answers: a .json, .toml or plain text file.")
    ] = None,
    behaviour: Annotated[
        str | None,
        typer.Option("--behaviour", metavar="B", help="Without a script: quote, refuse, echo, obey or plan. [quote]"),
    ] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            "--fault", metavar="FAULT", help="Simulate a fault: 429@2, 500@1-3, cut … (docs/stub.md); repeatable."
        ),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", metavar="PORT", min=0, max=65535, help="Port to listen on; 0 chooses a free one.")
    ] = 8388,
    first_token_ms: Annotated[
        float | None, typer.Option("--first-token-ms", metavar="MS", min=0, help="Delay before the first token.")
    ] = None,
    token_ms: Annotated[
        float | None, typer.Option("--token-ms", metavar="MS", min=0, help="Delay before every other token.")
    ] = None,
    tokens: Annotated[
        int | None, typer.Option("--tokens", metavar="N", min=1, help="Repeat or cut every answer to N tokens.")
    ] = None,
) -> None:
    """Start a model server for tests with scripted answers and faults; Ctrl-C ends it.

    It serves OpenAI's API on 127.0.0.1. Without a script it quotes the first source of the prompt.
    """
    from pincite.stub import Script, StubServer, load_script
    from pincite.stub.script import read_script

    options = {
        "behaviour": behaviour,
        "faults": fault,
        "first_token_ms": first_token_ms,
        "token_ms": token_ms,
        "tokens": tokens,
    }
    read = load_script(script) if script else Script()
    chosen = {name: value for name, value in options.items() if value is not None}
    server = StubServer(read_script({**dict(read), **chosen}, "stub-llm"), port)
    await server.start()
    try:
        _print_address(server.url, json=context.json)
        await asyncio.Event().wait()
    finally:
        await server.stop()


def _print_address(url: str, *, json: bool) -> None:
    from pincite.cli.view.screen import Screen

    log = url.removesuffix("/v1") + "/stub/calls"
    if json:
        print_json({"url": url, "calls": log})
        return
    screen = Screen()
    screen.print_line(("the stub", "bold"), " listens on ", (url, "bold cyan"), "; Ctrl-C stops it")
    screen.print_line(("  use   ", "dim"), f'LLM_BASE_URL={url} pincite ask "…"')
    screen.print_line(("  calls ", "dim"), f"curl -s {log}")
