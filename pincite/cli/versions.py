"""Versions compared, documents indexed anew, and the index that is built beside the one that is searched."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from pincite.cli.ask import silence_degradation_log
from pincite.cli.command import CommandContext, command
from pincite.cli.documents import IdArgument, find_document
from pincite.cli.output import print_json, print_plain

if TYPE_CHECKING:
    from pincite.engine.app import AsyncPincite

POLL_INTERVAL_S = 0.2
"""How often it is looked how far an index is."""


def register(app: typer.Typer) -> None:
    """Make these the commands of `app`."""
    command(app, "diff", ids=True)(diff)
    command(app, "reindex")(reindex)
    group = typer.Typer(help="The index that is searched, and one built beside it.", rich_markup_mode=None)
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
    after: Annotated[str | None, typer.Argument(metavar="V2", help="The later one.")] = None,
) -> None:
    """Show what changed between two versions of a document: the last two, unless told otherwise."""
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
        list[str] | None, typer.Argument(metavar="[ID...]", help="Only these documents; all otherwise.")
    ] = None,
    stale: Annotated[bool, typer.Option("--stale", help="Only those made with other settings.")] = False,
    hold: Annotated[
        bool, typer.Option("--hold", help="Build beside and wait: pincite index switch has it searched.")
    ] = False,
) -> None:
    """Index documents anew from the files as they came in, and wait until that is done.

    After a change of the model or of how documents are cut, all are built beside what is searched, and searched
    together when the last is done; pincite index rollback returns.
    """
    from pincite.cli.view.progress import progress
    from pincite.core.documents.document import Listing

    async with context.open() as pincite:
        named = [(await find_document(pincite, one)).id for one in document_ids or ()] or None
        pincite.admin.start_workers()
        count = await pincite.admin.reindex(named, stale=stale, hold=hold)
        with progress(quiet=context.json) as report:
            if (await pincite.admin.index.standing()).building:
                await _wait_until_built(pincite, hold=hold)
            else:
                await pincite.documents.wait([one.id for one in await pincite.documents.all()], report=report)
        failed = [one.name for one in await pincite.documents.all(Listing(status="error"))]
        left = (await pincite.admin.index.standing()).building
    if context.json:
        print_json({"documents": count, "failed": failed, "built": left is None})
    else:
        print_plain(f"{count} document{'s' if count != 1 else ''} indexed anew")
        if left:
            print_plain("the new index waits: pincite index switch has it searched")
    if failed:
        raise typer.Exit(1)


async def _wait_until_built(pincite: "AsyncPincite", *, hold: bool) -> None:
    """Wait until an index is built, and searched unless it is to wait."""
    while built := (await pincite.admin.index.standing()).building:
        if not built.waiting and (hold or built.built < built.documents):
            return
        await asyncio.sleep(POLL_INTERVAL_S)


async def status(context: CommandContext) -> None:
    """Show which index is searched, which is being built, and which stand by."""
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.versions import print_indexes
    from pincite.serialize.versions import indexes_json

    async with context.open() as pincite:
        found = await pincite.admin.index.standing()
    if context.json:
        print_json(indexes_json(found))
    else:
        print_indexes(Screen(), found)


async def compare(
    context: CommandContext,
    set_id: Annotated[
        str | None, typer.Option("--set-id", metavar="ID", help="A set of pincite eval list; the newest otherwise.")
    ] = None,
) -> None:
    """Ask your question set of the index that is searched and of the one that was built, before it is switched to.

    Build it with pincite reindex --hold; make questions with pincite eval --auto. Afterwards: index switch or discard.
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
    anyway: Annotated[bool, typer.Option("--anyway", help="Although some documents could not be built.")] = False,
) -> None:
    """Search the index that was built, from now on and in every process."""
    async with context.open() as pincite:
        await pincite.admin.switch_index(anyway=anyway)
    print_json({"switched": True}) if context.json else print_plain("the new index is searched")


async def rollback(context: CommandContext) -> None:
    """Return to the index that was searched before."""
    async with context.open() as pincite:
        pincite.admin.start_workers()
        await pincite.admin.roll_back_index()
        await _wait_until_built(pincite, hold=False)
        back = (await pincite.admin.index.standing()).building is None
    print_json({"switched": back}) if context.json else print_plain("the index before is searched again")


async def discard(context: CommandContext) -> None:
    """Let go of the index that is being built, or else of those that stand by."""
    async with context.open() as pincite:
        count = await pincite.admin.discard_index()
    print_json({"discarded": count}) if context.json else print_plain(f"{count} discarded")
