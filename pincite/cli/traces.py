"""Commands for traces: list, show, replay."""

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from pincite.cli.command import CommandContext, check_choice, command
from pincite.cli.documents import match_id
from pincite.cli.output import print_json
from pincite.errors import Invalid, NotFound

if TYPE_CHECKING:
    from pincite.core.traces import Trace
    from pincite.engine.app import AsyncPincite

MAX_SEARCHED_TRACES = 1000
"""Recent traces searched for an id prefix."""
TIME_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The trace's id, or its first characters (at least 4).")]


def register(app: typer.Typer) -> None:
    """Register these commands as a group of `app`."""
    group = typer.Typer(help="Traces of past requests, stage by stage.", rich_markup_mode=None)
    command(group, "list")(list_traces)
    command(group, "show")(show)
    command(group, "replay")(replay)
    app.add_typer(group, name="trace")


async def list_traces(
    context: CommandContext,
    kind: Annotated[
        str | None,
        typer.Option("--kind", metavar="K", help="Only this kind: query, chat, search, replay, evaluation or ingest."),
    ] = None,
    errors: Annotated[bool, typer.Option("--errors", help="Only failed requests.")] = False,
    slow: Annotated[
        float | None,
        typer.Option("--slow", metavar="MS", min=0, help="Only requests that took at least this many milliseconds."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="T", help="Only requests since: 30m, 2h, 7d, or an ISO date and time."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, max=MAX_SEARCHED_TRACES, help="Maximum number of traces.")
    ] = 20,
) -> None:
    """List past requests, newest first; with their questions if traces.content stores them."""
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.traces import print_traces
    from pincite.core.traces import Kind, TraceFilter
    from pincite.serialize.primitives import page_json
    from pincite.serialize.traces import trace_json

    wanted = TraceFilter(
        check_choice(Kind, kind, "kind of trace"), errors, slow, parse_since(since) if since else None, limit
    )
    async with context.open() as pincite:
        found, following = await pincite.questions.traces.list(await pincite.scope(), wanted)
    if context.json:
        print_json(page_json([trace_json(trace, spans=False) for trace in found], following))
    else:
        print_traces(Screen(), found)


async def show(context: CommandContext, trace_id: IdArgument) -> None:
    """Show one request as a waterfall: start, duration and counts of each stage."""
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.traces import print_trace
    from pincite.serialize.traces import trace_json

    async with context.open() as pincite:
        trace = await _find_trace(pincite, trace_id)
    if context.json:
        print_json(trace_json(trace, spans=True))
    else:
        print_trace(Screen(), trace)


async def replay(
    context: CommandContext,
    trace_id: IdArgument,
    profile: Annotated[
        str | None, typer.Option("--profile", metavar="P", help="A profile to replay with; --set takes precedence.")
    ] = None,
    question: Annotated[
        str | None, typer.Option("--question", metavar="Q", help="The question, if its text was not stored.")
    ] = None,
) -> None:
    """Ask a traced question again with its settings, changed by --set, and show what changed.

    For example: pincite trace replay ID --set rag.fusion=rrf
    """
    from pincite.cli.view.replay import print_replay
    from pincite.cli.view.screen import Screen, waiting
    from pincite.serialize.traces import replay_json

    async with context.open() as pincite:
        trace = await _find_trace(pincite, trace_id)
        with waiting("asking again …"):
            result = await pincite.questions.replay(trace.id, context.chosen, profile=profile, question=question)
        found = await pincite.documents.several([one.document_id for one in result.passages])
    titles = {document.id: document.title for document in found}
    if context.json:
        print_json(replay_json(result, titles))
    else:
        print_replay(Screen(), result, titles)


async def _find_trace(pincite: "AsyncPincite", trace_id: str) -> "Trace":
    """The trace with this id or id prefix."""
    from pincite.core.traces import TraceFilter

    scope = await pincite.scope()
    try:
        return await pincite.questions.traces.get(scope, trace_id)
    except NotFound:
        recent, _ = await pincite.questions.traces.list(scope, TraceFilter(limit=MAX_SEARCHED_TRACES))
        known = {trace.id: trace.kind for trace in recent}
        return await pincite.questions.traces.get(scope, match_id(trace_id, known, "trace", "trace list"))


def parse_since(text: str, now: datetime | None = None) -> datetime:
    """Parse `2h` (two hours ago) or `2026-05-01` (start of that day); the default time zone is UTC."""
    if span := re.fullmatch(r"(\d{1,6})([smhd])", text.strip()):
        return (now or datetime.now(UTC)) - timedelta(**{TIME_UNITS[span[2]]: int(span[1])})
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError:
        raise Invalid(f"--since takes 30m, 2h, 7d, or an ISO date and time, not '{text}'") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
