"""Commands for maintenance: purge, backup, restore."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pincite.cli.command import CommandContext, command
from pincite.cli.output import print_json

if TYPE_CHECKING:
    from pincite.core.operations import IntegrityReport


def register(app: typer.Typer) -> None:
    """Register these commands with `app`."""
    command(app, "purge")(purge)
    command(app, "backup")(backup)
    command(app, "restore")(restore)


async def purge(context: CommandContext) -> None:
    """Make removed data unrecoverable from the data folder.

    Rewrites every table and index, and renews the log of the embedded database. This needs as much free space as the
    largest table; requests wait while a table they need is rewritten. With a database server of your own, its log,
    replicas and backups are not changed.
    """
    from dataclasses import asdict

    from pincite.cli.view.maintenance import print_purged
    from pincite.cli.view.progress import progress
    from pincite.cli.view.screen import Screen
    from pincite.engine.maintenance import purge_library

    with progress(quiet=context.json) as report:
        done = await purge_library(context.settings, report)
    if context.json:
        print_json(asdict(done))
    else:
        print_purged(Screen(), done)


async def backup(
    context: CommandContext,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; it must not exist yet.")],
    without_traces: Annotated[bool, typer.Option("--without-traces", help="Leave out the traces of requests.")] = False,
) -> None:
    """Back up the whole library into one file, while it is in use.

    The backup is one snapshot of documents with all versions, vectors, sessions, keys (as hashes), settings and
    evaluations. It contains no secrets from the environment. Anyone who can read the file can read every document.
    """
    from pincite.cli.view.maintenance import print_backup
    from pincite.cli.view.progress import progress
    from pincite.cli.view.screen import Screen
    from pincite.engine.maintenance import back_up_library

    with progress(quiet=context.json) as report:
        done = await back_up_library(context.settings, file, traces=not without_traces, report=report)
    if context.json:
        counts = {"bytes": done.bytes, "documents": done.documents, "files": done.files}
        print_json({"file": str(done.path), **counts, "missing": done.missing})
    else:
        print_backup(Screen(), done)
    if done.missing:
        raise typer.Exit(1)


async def restore(
    context: CommandContext,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file made by pincite backup.")],
) -> None:
    """Restore a backup into an empty data folder, with the same ids, and verify it.

    The file is checked completely before anything is written; a damaged file is refused. A library that is not empty
    is not changed. Exit code 1 if something was not restored correctly.
    """
    from pincite.cli.view.maintenance import print_restored
    from pincite.cli.view.progress import progress
    from pincite.cli.view.screen import Screen
    from pincite.engine.maintenance import restore_library

    with progress(quiet=context.json) as report:
        manifest, found = await restore_library(context.settings, file, report)
    if context.json:
        print_json(
            {
                "made_at": manifest.made_at,
                "pincite": manifest.pincite,
                "missing": manifest.missing,
                **integrity_json(found),
            }
        )
    else:
        print_restored(Screen(), manifest, found)
    if found.wrong:
        raise typer.Exit(1)


def integrity_json(found: "IntegrityReport") -> dict[str, object]:
    """An integrity report as JSON."""
    from dataclasses import asdict

    return {**asdict(found), "ok": not found.wrong}
