"""Commands for folders of the library: list, set, move, remove."""

from typing import Annotated

import typer

from pincite.cli.command import CommandContext, command
from pincite.cli.output import print_json, print_plain
from pincite.text.units import count

PathArgument = Annotated[str, typer.Argument(metavar="PATH", help="A folder of the library, such as hr/rules.")]


def register(app: typer.Typer) -> None:
    """Register these commands as a group of `app`."""
    group = typer.Typer(help="Folders of the library: list, set, move, remove.", rich_markup_mode=None)
    command(group, "list")(list_folders)
    command(group, "set")(set_folder)
    command(group, "move")(move)
    command(group, "remove")(remove)
    app.add_typer(group, name="folders")


async def list_folders(context: CommandContext) -> None:
    """List folders with the number of documents in each, including subfolders."""
    from pincite.cli.view.folders import print_folders
    from pincite.cli.view.screen import Screen
    from pincite.serialize.documents import folder_json
    from pincite.serialize.primitives import page_json

    async with context.open() as pincite:
        found = await pincite.documents.folders.all(await pincite.scope())
    if context.json:
        print_json(page_json([folder_json(folder) for folder in found]))
    else:
        print_folders(Screen(), found)


async def set_folder(
    context: CommandContext,
    path: PathArgument,
    prompt: Annotated[
        str | None,
        typer.Option(
            "--prompt", metavar="TEXT", help="System prompt for questions about this folder; empty removes it."
        ),
    ] = None,
    label: Annotated[
        str | None, typer.Option("--label", metavar="TEXT", help="Label of the folder in answers; empty removes it.")
    ] = None,
) -> None:
    """Create a folder, or set its prompt and label, which apply to its subfolders too."""
    from dataclasses import replace

    from pincite.core.documents.document import Folder
    from pincite.errors import Invalid, NotFound
    from pincite.ingest.accept.accept import clean_folder
    from pincite.serialize.documents import folder_json

    if not (wanted := clean_folder(path)):
        raise Invalid("name a folder, such as hr/rules; the top of the library is not a folder")
    async with context.open() as pincite:
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
    if context.json:
        print_json(folder_json(folder))
    else:
        print_plain(f"{folder.path}: {count(folder.documents, 'document')}")


async def move(
    context: CommandContext, path: PathArgument, to: Annotated[str, typer.Argument(metavar="TO", help="Its new path.")]
) -> None:
    """Move or rename a folder with its contents; documents keep their ids."""
    from pincite.errors import Invalid
    from pincite.ingest.accept.accept import clean_folder
    from pincite.serialize.documents import folder_json

    old, new = clean_folder(path), clean_folder(to)
    if not old or not new:
        raise Invalid("name two folders, such as hr/rules; the top of the library is not a folder")
    async with context.open() as pincite:
        scope = await pincite.scope()
        await pincite.documents.folders.move(scope, old, new)
        folder = await pincite.documents.folders.get(scope, new)
    if context.json:
        print_json(folder_json(folder))
    else:
        print_plain(f"moved {old} to {new}: {count(folder.documents, 'document')}")


async def remove(
    context: CommandContext,
    path: PathArgument,
    recursive: Annotated[bool, typer.Option("--recursive", help="Also remove its documents and subfolders.")] = False,
) -> None:
    """Remove an empty folder, or with --recursive one with its contents."""
    from pincite.ingest.accept.accept import clean_folder
    from pincite.serialize.documents import receipt_json

    async with context.open() as pincite:
        receipts = await pincite.documents.remove_folder(clean_folder(path), recursive=recursive)
    if context.json:
        print_json([receipt_json(receipt) for receipt in receipts])
    else:
        print_plain(f"removed {clean_folder(path)} with {count(len(receipts), 'document')}")
    if not all(receipt.verified for receipt in receipts):
        raise typer.Exit(1)
