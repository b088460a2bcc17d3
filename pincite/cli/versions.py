"""Commands for versions and indexes: diff, reindex, index."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from pincite.cli.ask import silence_degradation_log
from pincite.cli.command import CommandContext, command
from pincite.cli.documents import IdArgument, find_document
from pincite.cli.output import print_json, print_plain

if TYPE_CHECKING:
    from pincite.core.engines import BuiltEngine
    from pincite.engine.app import AsyncPincite

POLL_INTERVAL_S = 0.2
"""Seconds between checks of the progress of a new index."""


def register(app: typer.Typer) -> None:
    """Register these commands with `app`."""
    command(app, "diff", ids=True)(diff)
    command(app, "reindex")(reindex)
    group = typer.Typer(help="The active index and the new one being built.", rich_markup_mode=None)
    command(group, "status")(status)
    command(group, "compare")(compare)
    command(group, "switch")(switch)
    command(group, "rollback")(rollback)
    command(group, "discard")(discard)
    app.add_typer(group, name="index")


async def diff(
    context: CommandContext,
    document_id: IdArgument,
    before: Annotated[str | None, typer.Argument(metavar="V1", help="The earlier version.")] = None,
    after: Annotated[str | None, typer.Argument(metavar="V2", help="The later version.")] = None,
) -> None:
    """Show the difference between two versions of a document, by default the last two."""
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.versions import print_difference
    from pincite.serialize.versions import difference_json

    async with context.open() as pincite:
        document = await find_document(pincite, document_id)
        found = await pincite.documents.difference(document.id, before, after)
    if context.json:
        print_json(difference_json(found))
    else:
        print_difference(Screen(), document.name, found)


async def reindex(
    context: CommandContext,
    document_ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID...]", help="Only these documents; default: all.")
    ] = None,
    stale: Annotated[bool, typer.Option("--stale", help="Only documents indexed with other settings.")] = False,
    hold: Annotated[
        bool,
        typer.Option("--hold", help="Build the new index without switching to it; then run: pincite index switch."),
    ] = False,
    graph: Annotated[
        bool, typer.Option("--graph", help="Only build the knowledge graph, where it is missing.")
    ] = False,
    tree: Annotated[
        bool, typer.Option("--tree", help="Only build the tree of summaries, where it is missing.")
    ] = False,
    late: Annotated[bool, typer.Option("--late", help="Only store token vectors, where they are missing.")] = False,
) -> None:
    """Reindex documents from their original files, and wait until they are done.

    After a change of the embedding model or of chunking, a new index is built beside the active one, which is used
    until the new one is complete. pincite index rollback switches back.

    With --graph, --tree or --late nothing is parsed or embedded again. Named documents are built anew.
    """
    asked: dict[BuiltEngine, bool] = {"graph": graph, "tree": tree, "late": late}
    engines = [engine for engine, wanted in asked.items() if wanted]
    if engines:
        return await _build(context, engines, document_ids)
    from pincite.cli.view.progress import progress
    from pincite.core.documents.document import Listing

    async with context.open() as pincite:
        named = [(await find_document(pincite, one)).id for one in document_ids or ()] or None
        pincite.admin.start_workers()
        count = await pincite.admin.reindex(named, stale=stale, hold=hold)
        with progress(quiet=context.json) as report:
            if (await pincite.admin.index.status()).building:
                await _wait_until_built(pincite, hold=hold)
            else:
                await pincite.documents.wait([one.id for one in await pincite.documents.all()], report=report)
        failed = [one.name for one in await pincite.documents.all(Listing(status="error"))]
        left = (await pincite.admin.index.status()).building
    if context.json:
        print_json({"documents": count, "failed": failed, "built": left is None})
    else:
        print_plain(f"{count} document{'s' if count != 1 else ''} reindexed")
        if left:
            print_plain("the new index is not active yet; switch to it with: pincite index switch")
    if failed:
        raise typer.Exit(1)
    return None


async def _build(context: CommandContext, engines: "list[BuiltEngine]", document_ids: list[str] | None) -> None:
    """Build the data of engines and wait for it; exit code 1 if a document could not be built."""
    from pincite.cli.view.progress import progress

    async with context.open() as pincite:
        named = [(await find_document(pincite, one)).id for one in document_ids or ()] or None
        pincite.admin.start_workers()
        counts = {engine: await pincite.admin.build(engine, named) for engine in engines}
        with progress(quiet=context.json) as report:
            ended = await pincite.admin.wait_until_built(report=report)
    failed = {engine: ended[engine].failed for engine in engines}
    if context.json:
        print_json({"built": counts, "failed": failed})
    else:
        for engine, count in counts.items():
            print_plain(f"{engine}: {count} document{'s' if count != 1 else ''} built, {failed[engine]} incomplete")
    if any(failed.values()):
        raise typer.Exit(1)


async def _wait_until_built(pincite: "AsyncPincite", *, hold: bool) -> None:
    """Wait until the new index is built and, unless `hold`, active."""
    while built := (await pincite.admin.index.status()).building:
        if not built.waiting and (hold or built.built < built.documents):
            return
        await asyncio.sleep(POLL_INTERVAL_S)


async def status(context: CommandContext) -> None:
    """Show the active index, the one being built, and the standby ones."""
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.versions import print_indexes
    from pincite.serialize.versions import indexes_json

    async with context.open() as pincite:
        found = await pincite.admin.index.status()
    if context.json:
        print_json(indexes_json(found))
    else:
        print_indexes(Screen(), found)


async def compare(
    context: CommandContext,
    set_id: Annotated[
        str | None, typer.Option("--set-id", metavar="ID", help="A set of pincite eval list; default: the newest.")
    ] = None,
) -> None:
    """Compare the active index with the new one on your question set, before switching.

    Build the new index with pincite reindex --hold; make questions with pincite eval --auto. Afterwards run pincite
    index switch or discard.
    """
    from pincite.cli.view.evaluation import print_comparison
    from pincite.cli.view.progress import progress
    from pincite.cli.view.screen import Screen
    from pincite.evaluate.compare_indexes import compare_indexes
    from pincite.evaluate.report import comparison_json

    with silence_degradation_log():
        async with context.open() as pincite:
            questions = await pincite.questions.evaluations.get_set(await pincite.scope(), set_id)
            with progress(quiet=context.json) as report:
                found = await compare_indexes(pincite, questions, report=report)
    if context.json:
        print_json(comparison_json(found))
    else:
        print_comparison(Screen(), found)


async def switch(
    context: CommandContext,
    anyway: Annotated[bool, typer.Option("--anyway", help="Switch although some documents failed.")] = False,
) -> None:
    """Switch every process to the new index."""
    async with context.open() as pincite:
        await pincite.admin.switch_index(anyway=anyway)
    print_json({"switched": True}) if context.json else print_plain("the new index is active")


async def rollback(context: CommandContext) -> None:
    """Switch back to the previous index."""
    async with context.open() as pincite:
        pincite.admin.start_workers()
        await pincite.admin.roll_back_index()
        await _wait_until_built(pincite, hold=False)
        back = (await pincite.admin.index.status()).building is None
    print_json({"switched": back}) if context.json else print_plain("the previous index is active again")


async def discard(context: CommandContext) -> None:
    """Discard the index being built, or else the standby ones."""
    async with context.open() as pincite:
        count = await pincite.admin.discard_index()
    print_json({"discarded": count}) if context.json else print_plain(f"{count} discarded")
