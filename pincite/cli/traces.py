"""Traces: what past requests did, stage by stage."""

from typing import Annotated

import typer

from pincite.cli.documents import pick
from pincite.cli.door import Door, command
from pincite.cli.safe import print_json

RECENT = 1000
"""Traces looked through for the first characters of an id."""


def register(app: typer.Typer) -> None:
    """Make these a group of commands of `app`."""
    group = typer.Typer(help="Traces: what past requests did, stage by stage.", rich_markup_mode=None)
    command(group, "list")(list_traces)
    command(group, "show")(show)
    app.add_typer(group, name="trace")


async def list_traces(
    door: Door,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=RECENT, help="How many, newest first.")] = 20,
) -> None:
    """List past requests, newest first."""
    from pincite.api import shapes
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.traces import print_traces

    async with door.open() as pincite:
        found = await pincite.traces.recent(await pincite.scope(), limit)
    if door.json:
        print_json(shapes.page([shapes.trace(trace, spans=False) for trace in found]))
    else:
        print_traces(Screen(), found)


async def show(
    door: Door,
    trace_id: Annotated[
        str, typer.Argument(metavar="ID", help="The trace's id, or its first characters (at least 4).")
    ],
) -> None:
    """Show what one request did, and how long each stage took."""
    from pincite.api import shapes
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.traces import print_trace
    from pincite.errors import NotFound

    async with door.open() as pincite:
        scope = await pincite.scope()
        try:
            trace = await pincite.traces.get(scope, trace_id)
        except NotFound:
            known = {trace.id: trace.kind for trace in await pincite.traces.recent(scope, RECENT)}
            trace = await pincite.traces.get(scope, pick(trace_id, known, "trace", "trace list"))
    if door.json:
        print_json(shapes.trace(trace, spans=True))
    else:
        print_trace(Screen(), trace)
