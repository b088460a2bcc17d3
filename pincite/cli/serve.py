"""Commands that start the HTTP service: demo, serve."""

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
    int | None,
    typer.Option("--port", metavar="PORT", min=0, max=65535, help="Port to listen on; 0 chooses a free one."),
]
WorkersOption = Annotated[
    int,
    typer.Option("--workers", metavar="N", min=1, max=64, help="Processes that serve; about one per core."),
]
DEMO_KEY_DAYS = 7
"""Days until the key of a demo expires."""


def register(app: typer.Typer) -> None:
    """Register these commands with `app`."""
    command(app, "demo", until_stopped=True)(demo)
    command(app, "serve", until_stopped=True)(serve)


async def demo(
    context: CommandContext,
    once: Annotated[bool, typer.Option("--once", help="Stop after the answer.")] = False,
    host: HostOption = None,
    port: PortOption = None,
) -> None:
    """Try pincite: index sample documents, ask a question, then serve.

    Existing documents are not changed.
    """
    from pincite.cli.view.answer import print_answer
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.serve import print_opening, print_question
    from pincite.engine.connectors.samples import find_samples
    from pincite.serialize.answers import answer_json

    samples, screen = find_samples(), Screen()
    context = _with_address(context, host, port)
    async with context.open() as pincite:
        documents = await _add_samples(pincite, samples.documents, quiet=context.json)
        answer = await pincite.ask(samples.question)
        if context.json:
            print_json({"question": samples.question, "answer": answer_json(answer)})
        else:
            print_opening(screen, documents, context.settings.data)
            print_question(screen, samples.question)
            print_answer(screen, answer)
        if not once:
            key = await _demo_key(pincite)
            await _serve_until_stopped(context, pincite, key=key, question=samples.question)


async def serve(
    context: CommandContext, host: HostOption = None, port: PortOption = None, workers: WorkersOption = 1
) -> None:
    """Start the HTTP service until Ctrl-C; it logs to stderr, as the settings logs.* define."""
    from pincite.tracing import logs

    context = _with_address(context, host, port)
    async with context.open() as pincite:
        with logs.configure_logging(context.settings.logs):
            await _serve_until_stopped(context, pincite, workers=workers)


def _with_address(context: CommandContext, host: str | None, port: int | None) -> CommandContext:
    """Return the context with --host and --port applied as settings, as if passed with --set."""
    address = {"server.host": host, "server.port": port}
    return context.with_settings({key: value for key, value in address.items() if value is not None})


async def _serve_until_stopped(
    context: CommandContext, pincite: "AsyncPincite", *, key: str = "", question: str = "", workers: int = 1
) -> None:
    """Serve until stopped; print the address and first steps once the server listens."""
    from pincite.api.server import serve as listen
    from pincite.api.workers import Further
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.serve import print_service, print_setup, print_trial
    from pincite.core.accounts.access import LOCAL
    from pincite.engine.data_flow import where_text_goes

    text_goes = where_text_goes(pincite.admin.embedder, pincite.settings)
    setup = await pincite.admin.logins.offer_setup()
    keyless = not any(known.revoked_at is None for known in await pincite.admin.keys.all(LOCAL.person))

    def ready(address: str) -> None:
        if context.json:
            fields = {"address": address, "data": str(context.settings.data), "text": text_goes}
            print_json(
                fields | ({"key": key} if key else {}) | ({"setup": f"{address}/setup#{setup}"} if setup else {})
            )
            return
        screen = Screen()
        if key:
            screen.print_line()
        print_service(screen, address, context.settings.data, text_goes, key=key, keyless=keyless)
        if setup:
            print_setup(screen, f"{address}/setup#{setup}")
        if key:
            print_trial(screen, address, key, question)

    further = Further(workers - 1, context.data, context.chosen)
    server = context.settings.server
    await listen(pincite, host=server.host, port=server.port, ready=ready, further=further)


async def _add_samples(pincite: "AsyncPincite", paths: Sequence[Path], *, quiet: bool) -> int:
    """Add the sample documents and return their number."""
    from pincite.cli.view.progress import progress
    from pincite.errors import Unreadable
    from pincite.ingest.accept.collect import collect

    with progress(quiet=quiet) as report:
        result = await pincite.add_all(collect(paths, DEMO), report=report)
    problems = [str(error) for _, error in result.refused]
    problems += [f"{one.document.name}: {one.document.error.message}" for one in result.added if one.document.error]
    if problems:
        raise Unreadable(f"a sample document could not be added: {problems[0]}")
    return len(result.added)


async def _demo_key(pincite: "AsyncPincite") -> str:
    """Create a key for the demo and revoke those of earlier demos."""
    from pincite.core.accounts.access import LOCAL

    for known in await pincite.admin.keys.all(LOCAL.person):
        if known.name == DEMO and known.revoked_at is None:
            await pincite.admin.keys.revoke(LOCAL.person, known.id)
    key, _ = await pincite.admin.keys.create(LOCAL.person, DEMO, "editor", DEMO_KEY_DAYS)
    return key
