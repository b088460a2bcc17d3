"""Versions compared, documents indexed anew, and the index that is built beside the one that is searched."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from pincite.cli.ask import notes_in_the_result
from pincite.cli.command import CommandContext, command
from pincite.cli.documents import IdArgument, find
from pincite.cli.output import print_json, print_plain

if TYPE_CHECKING:
    from pincite.engine.app import AsyncPincite

LOOK_S = 0.2
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
    door: CommandContext,
    document_id: IdArgument,
    before: Annotated[str | None, typer.Argument(metavar="V1", help="The earlier version.")] = None,
    after: Annotated[str | None, typer.Argument(metavar="V2", help="The later one.")] = None,
) -> None:
    """Show what changed between two versions of a document: the last two, unless told otherwise."""
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.versions import print_difference
    from pincite.serialize import versions as shapes

    async with door.open() as pincite:
        document = await find(pincite, document_id)
        found = await pincite.documents.difference(document.id, before, after)
    if door.json:
        print_json(shapes.difference(found))
    else:
        print_difference(Screen(), document.name, found)


async def reindex(
    door: CommandContext,
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

    async with door.open() as pincite:
        named = [(await find(pincite, one)).id for one in document_ids or ()] or None
        pincite.admin.start_workers()
        count = await pincite.admin.reindex(named, stale=stale, hold=hold)
        with progress(quiet=door.json) as report:
            if (await pincite.admin.index.status()).building:
                await _built(pincite, hold=hold)
            else:
                await pincite.documents.wait([one.id for one in await pincite.documents.all()], report=report)
        failed = [one.name for one in await pincite.documents.all(Listing(status="error"))]
        left = (await pincite.admin.index.status()).building
    if door.json:
        print_json({"documents": count, "failed": failed, "built": left is None})
    else:
        print_plain(f"{count} document{'s' if count != 1 else ''} indexed anew")
        if left:
            print_plain("the new index waits: pincite index switch has it searched")
    if failed:
        raise typer.Exit(1)


async def _built(pincite: "AsyncPincite", *, hold: bool) -> None:
    """Wait until an index is built, and searched unless it is to wait."""
    while built := (await pincite.admin.index.status()).building:
        if not built.waiting and (hold or built.built < built.documents):
            return
        await asyncio.sleep(LOOK_S)


async def status(door: CommandContext) -> None:
    """Show which index is searched, which is being built, and which stand by."""
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.versions import print_indexes
    from pincite.serialize import versions as shapes

    async with door.open() as pincite:
        found = await pincite.admin.index.status()
    if door.json:
        print_json(shapes.indexes(found))
    else:
        print_indexes(Screen(), found)


async def compare(
    door: CommandContext,
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

    with notes_in_the_result():
        async with door.open() as pincite:
            questions = await pincite.questions.evaluations.get_set(await pincite.scope(), set_id)
            with progress(quiet=door.json) as report:
                found = await compare_indexes(pincite, questions, report=report)
    if door.json:
        print_json(comparison_json(found))
    else:
        print_comparison(Screen(), found)


async def switch(
    door: CommandContext,
    anyway: Annotated[bool, typer.Option("--anyway", help="Although some documents could not be built.")] = False,
) -> None:
    """Search the index that was built, from now on and in every process."""
    async with door.open() as pincite:
        await pincite.admin.switch_index(anyway=anyway)
    print_json({"switched": True}) if door.json else print_plain("the new index is searched")


async def rollback(door: CommandContext) -> None:
    """Return to the index that was searched before."""
    async with door.open() as pincite:
        pincite.admin.start_workers()
        await pincite.admin.roll_back_index()
        await _built(pincite, hold=False)
        back = (await pincite.admin.index.status()).building is None
    print_json({"switched": back}) if door.json else print_plain("the index before is searched again")


async def discard(door: CommandContext) -> None:
    """Let go of the index that is being built, or else of those that stand by."""
    async with door.open() as pincite:
        count = await pincite.admin.discard_index()
    print_json({"discarded": count}) if door.json else print_plain(f"{count} discarded")
