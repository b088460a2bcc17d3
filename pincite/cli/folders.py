"""Folders of the library: list, set, move, remove."""

from typing import Annotated

import typer

from pincite.cli.command import CommandContext, command
from pincite.cli.output import print_json, print_plain
from pincite.text.counts import count

PathArgument = Annotated[str, typer.Argument(metavar="PATH", help="A folder of the library, such as hr/rules.")]


def register(app: typer.Typer) -> None:
    """Make these a group of commands of `app`."""
    group = typer.Typer(help="Folders of the library: list, set, move, remove.", rich_markup_mode=None)
    command(group, "list")(list_folders)
    command(group, "set")(set_folder)
    command(group, "move")(move)
    command(group, "remove")(remove)
    app.add_typer(group, name="folders")


async def list_folders(door: CommandContext) -> None:
    """List the folders, each with the number of documents in it and below it."""
    from pincite.cli.view.folders import print_folders
    from pincite.cli.view.screen import Screen
    from pincite.serialize import answers as shapes

    async with door.open() as pincite:
        found = await pincite.documents.folders.all(await pincite.scope())
    if door.json:
        print_json(shapes.page([shapes.folder(folder) for folder in found]))
    else:
        print_folders(Screen(), found)


async def set_folder(
    door: CommandContext,
    path: PathArgument,
    prompt: Annotated[
        str | None, typer.Option("--prompt", metavar="TEXT", help="What the model is told; empty takes it away.")
    ] = None,
    label: Annotated[
        str | None, typer.Option("--label", metavar="TEXT", help="What it is called in answers; empty takes it away.")
    ] = None,
) -> None:
    """Make a folder, or say what holds for questions about it and the folders below it."""
    from dataclasses import replace

    from pincite.core.documents.document import Folder
    from pincite.errors import Invalid, NotFound
    from pincite.ingest.accept.accept import clean_folder
    from pincite.serialize import answers as shapes

    if not (wanted := clean_folder(path)):
        raise Invalid("name a folder, such as hr/rules; the top of the library is none")
    async with door.open() as pincite:
        scope = await pincite.scope()
        try:
            folder = await pincite.documents.folders.get(scope, wanted)
        except NotFound:
            folder = Folder(wanted)
        if prompt is not None:
            folder = replace(folder, system_prompt=prompt or None)
        if label is not None:
            folder = replace(folder, category_label=label or None)
        await pincite.documents.folders.update(scope, folder)
    if door.json:
        print_json(shapes.folder(folder))
    else:
        print_plain(f"{folder.path}: {count(folder.documents, 'document')}")


async def move(
    door: CommandContext, path: PathArgument, to: Annotated[str, typer.Argument(metavar="TO", help="Its new path.")]
) -> None:
    """Move or rename a folder with all that is in it; documents keep their ids."""
    from pincite.errors import Invalid
    from pincite.ingest.accept.accept import clean_folder
    from pincite.serialize import answers as shapes

    old, new = clean_folder(path), clean_folder(to)
    if not old or not new:
        raise Invalid("name two folders, such as hr/rules; the top of the library is none")
    async with door.open() as pincite:
        scope = await pincite.scope()
        await pincite.documents.folders.move(scope, old, new)
        folder = await pincite.documents.folders.get(scope, new)
    if door.json:
        print_json(shapes.folder(folder))
    else:
        print_plain(f"{old} is {new} now: {count(folder.documents, 'document')}")


async def remove(
    door: CommandContext,
    path: PathArgument,
    recursive: Annotated[bool, typer.Option("--recursive", help="With all documents in it and below it.")] = False,
) -> None:
    """Remove a folder that is empty, or one with everything in it."""
    from pincite.ingest.accept.accept import clean_folder
    from pincite.serialize import answers as shapes

    async with door.open() as pincite:
        receipts = await pincite.documents.remove_folder(clean_folder(path), recursive=recursive)
    if door.json:
        print_json([shapes.receipt(receipt) for receipt in receipts])
    else:
        print_plain(f"removed {clean_folder(path)} with {count(len(receipts), 'document')}")
    if not all(receipt.verified for receipt in receipts):
        raise typer.Exit(1)
