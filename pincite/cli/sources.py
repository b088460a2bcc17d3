"""Commands for sources: add, list, sync, remove."""

from typing import Annotated

import typer

from pincite.cli.command import CommandContext, check_choice, command
from pincite.cli.output import print_json
from pincite.errors import Invalid

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name or id of the source.")]


def register(app: typer.Typer) -> None:
    """Register these commands as a group of `app`."""
    group = typer.Typer(
        help="Sources that stay in step: mailboxes, WebDAV, S3, feeds, SQL queries.", rich_markup_mode=None
    )
    command(group, "add")(add)
    command(group, "list")(list_sources)
    command(group, "sync")(sync)
    command(group, "remove")(remove)
    app.add_typer(group, name="source")


async def add(
    context: CommandContext,
    kind: Annotated[str, typer.Argument(metavar="KIND", help="imap, webdav, s3, feed or sql.")],
    url: Annotated[str, typer.Argument(metavar="URL", help="Its URL, without credentials; see docs/sources.md.")],
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="A name for the source.")],
    folder: Annotated[str, typer.Option("--folder", metavar="F", help="Folder of the library for its documents.")] = "",
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="KEY=VALUE", help="An option of its kind, such as user=anna; repeatable."),
    ] = None,
    secret_env: Annotated[
        str,
        typer.Option(
            "--secret-env", metavar="VARIABLE", help="Environment variable with the password: PINCITE_SECRET_…"
        ),
    ] = "",
    every: Annotated[
        int, typer.Option("--every", metavar="MINUTES", min=0, help="Let the server synchronise it this often.")
    ] = 0,
) -> None:
    """Store a source; then synchronise it with: pincite source sync NAME."""
    from pincite.cli.view.screen import Screen
    from pincite.core.documents.sources import NewSource, SourceKind
    from pincite.engine.connectors.source_sync import Sources
    from pincite.serialize.jobs import source_json

    new = NewSource(
        name, check_choice(SourceKind, kind, "kind of source"), url, folder, _options(option), secret_env, every
    )
    async with context.open() as pincite:
        stored = await Sources(pincite).add(new)
    if context.json:
        print_json(source_json(stored))
    else:
        Screen().print_line(f"{stored.name} is stored; synchronise it: pincite source sync '{stored.name}'")


async def list_sources(context: CommandContext) -> None:
    """List the sources with the result of their last synchronisation."""
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.sources import print_sources
    from pincite.engine.connectors.source_sync import Sources
    from pincite.serialize.jobs import source_json

    async with context.open() as pincite:
        found = await Sources(pincite).all()
    if context.json:
        print_json({"sources": [source_json(one) for one in found]})
    else:
        print_sources(Screen(), found)


async def sync(context: CommandContext, name: NameArgument) -> None:
    """Synchronise a source now: add and update changed files, remove deleted ones."""
    from pincite.cli.view.progress import progress
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.sources import print_result
    from pincite.engine.connectors.source_sync import Sources
    from pincite.serialize.jobs import source_result_json

    async with context.open() as pincite:
        with progress(quiet=context.json) as report:
            result = await Sources(pincite).sync(name, report)
    if context.json:
        print_json(source_result_json(result))
    else:
        print_result(Screen(), result)
    if result.refused:
        raise typer.Exit(1)


async def remove(
    context: CommandContext,
    name: NameArgument,
    documents: Annotated[bool, typer.Option("--documents", help="Remove its documents too.")] = False,
) -> None:
    """Remove a source; its documents stay unless --documents is given."""
    from pincite.cli.view.screen import Screen
    from pincite.engine.connectors.source_sync import Sources

    async with context.open() as pincite:
        removed = await Sources(pincite).remove(name, documents=documents)
    if context.json:
        print_json({"removed": removed.id, "documents": documents})
    else:
        Screen().print_line(f"{removed.name} is removed{', with its documents' if documents else ''}")


def _options(pairs: list[str] | None) -> dict[str, str]:
    found = {}
    for pair in pairs or ():
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise Invalid(f"--option takes KEY=VALUE, such as user=anna, not '{pair}'")
        found[key.strip()] = value.strip()
    return found
