"""The service: demo and serve."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pincite.cli.command import CommandContext, command
from pincite.cli.output import print_json
from pincite.engine.connectors.samples import DEMO

if TYPE_CHECKING:
    from pincite.engine.app import AsyncPincite

HostOption = Annotated[str | None, typer.Option("--host", metavar="HOST", help="Address to listen on.")]
PortOption = Annotated[
    int | None, typer.Option("--port", metavar="PORT", min=0, max=65535, help="Port to listen on; 0 takes a free one.")
]
DEMO_DAYS = 7


def register(app: typer.Typer) -> None:
    """Make these the commands of `app`."""
    command(app, "demo", until_stopped=True)(demo)
    command(app, "serve", until_stopped=True)(serve)


async def demo(
    door: CommandContext,
    once: Annotated[bool, typer.Option("--once", help="Stop after the answer.")] = False,
    host: HostOption = None,
    port: PortOption = None,
) -> None:
    """Try it: index sample documents, ask a question, then serve.

    Documents that are there already are left alone.
    """
    from pincite.cli.view.answer import print_answer
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.serve import print_opening, print_question
    from pincite.engine.connectors.samples import find_samples
    from pincite.serialize import answers as shapes

    samples, screen = find_samples(), Screen()
    door = _told_where(door, host, port)
    async with door.open() as pincite:
        documents = await _add_samples(pincite, samples.documents, quiet=door.json)
        answer = await pincite.ask(samples.question)
        if door.json:
            print_json({"question": samples.question, "answer": shapes.answer(answer)})
        else:
            print_opening(screen, documents, door.settings.data)
            print_question(screen, samples.question)
            print_answer(screen, answer)
        if not once:
            key = await _demo_key(pincite)
            await _listen(door, pincite, key=key, question=samples.question)


async def serve(door: CommandContext, host: HostOption = None, port: PortOption = None) -> None:
    """Start the HTTP service; Ctrl-C ends it. What it does is told on stderr, as logs.* say."""
    from pincite.tracing import logs

    door = _told_where(door, host, port)
    async with door.open() as pincite:
        with logs.configure_logging(door.settings.logs):
            await _listen(door, pincite)


def _told_where(door: CommandContext, host: str | None, port: int | None) -> CommandContext:
    """The same call with --host and --port as the settings they are, so that they show as passed."""
    given = {"server.host": host, "server.port": port}
    return door.choosing({key: value for key, value in given.items() if value is not None})


async def _listen(door: CommandContext, pincite: "AsyncPincite", *, key: str = "", question: str = "") -> None:
    """Serve until told to stop; says what a user needs to know once it listens."""
    from pincite.api.server import serve as listen
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.serve import print_service, print_setup, print_trial
    from pincite.core.accounts.access import LOCAL
    from pincite.engine.data_flow import where_text_goes

    text_goes = where_text_goes(pincite.admin.embedder, pincite.settings)
    setup = await pincite.admin.logins.offer_setup()
    keyless = not any(known.revoked_at is None for known in await pincite.admin.keys.all(LOCAL.person))

    def ready(address: str) -> None:
        if door.json:
            shape = {"address": address, "data": str(door.settings.data), "text": text_goes}
            print_json(shape | ({"key": key} if key else {}) | ({"setup": f"{address}/setup#{setup}"} if setup else {}))
            return
        screen = Screen()
        if key:
            screen.say()
        print_service(screen, address, door.settings.data, text_goes, key=key, keyless=keyless)
        if setup:
            print_setup(screen, f"{address}/setup#{setup}")
        if key:
            print_trial(screen, address, key, question)

    await listen(pincite, host=door.settings.server.host, port=door.settings.server.port, ready=ready)


async def _add_samples(pincite: "AsyncPincite", paths: Sequence[Path], *, quiet: bool) -> int:
    """Add what is not there yet; returns how many documents there are."""
    from pincite.cli.view.progress import progress
    from pincite.errors import Unreadable
    from pincite.ingest.accept.collect import collect

    with progress(quiet=quiet) as report:
        result = await pincite.add_all(collect(paths, DEMO), report=report)
    problems = [str(error) for _, error in result.refused]
    problems += [f"{one.document.name}: {one.document.error.message}" for one in result.added if one.document.error]
    if problems:
        raise Unreadable(f"a sample document cannot be used: {problems[0]}")
    return len(result.added)


async def _demo_key(pincite: "AsyncPincite") -> str:
    """A key for trying things out; those of earlier demos count no more."""
    from pincite.core.accounts.access import LOCAL

    for known in await pincite.admin.keys.all(LOCAL.person):
        if known.name == DEMO and known.revoked_at is None:
            await pincite.admin.keys.revoke(LOCAL.person, known.id)
    key, _ = await pincite.admin.keys.create(LOCAL.person, DEMO, "editor", DEMO_DAYS)
    return key
