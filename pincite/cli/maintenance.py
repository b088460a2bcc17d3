"""Keeping a library: back it up, restore it, make what was removed unrecoverable."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pincite.cli.command import CommandContext, command
from pincite.cli.output import print_json

if TYPE_CHECKING:
    from pincite.core.operations import IntegrityReport


def register(app: typer.Typer) -> None:
    """Make these the commands of `app`."""
    command(app, "purge")(purge)
    command(app, "backup")(backup)
    command(app, "restore")(restore)


async def purge(context: CommandContext) -> None:
    """Make what was removed unrecoverable from the data folder.

    Every table and index is written anew, and the log of the embedded database; that takes as much free space as the
    largest table, and requests wait while the table that they need is at it. With a database server of your own, its
    log, its replicas and its backups are not touched.
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
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to make; it must not exist yet.")],
    without_traces: Annotated[
        bool, typer.Option("--without-traces", help="Leave out what was traced about requests.")
    ] = False,
) -> None:
    """Copy the whole library into one file, while others go on using it.

    Documents with all versions, vectors, conversations, keys (as hashes), settings and evaluations are of one moment.
    Secrets from the environment are not in it. Whoever can read the file can read every document.
    """
    from pincite.cli.view.maintenance import print_backup
    from pincite.cli.view.progress import progress
    from pincite.cli.view.screen import Screen
    from pincite.engine.maintenance import back_up_library

    with progress(quiet=context.json) as report:
        done = await back_up_library(context.settings, file, traces=not without_traces, report=report)
    if context.json:
        print_json({
            "file": str(done.path), "bytes": done.bytes, "documents": done.documents, "files": done.files,
            "missing": done.missing,
        })  # fmt: skip
    else:
        print_backup(Screen(), done)
    if done.missing:
        raise typer.Exit(1)


async def restore(
    context: CommandContext,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file made by pincite backup.")],
) -> None:
    """Put a backup back into an empty data folder, with the same ids, and check that all of it is there.

    The file is read from end to end before anything is made: one that is damaged is refused. A library that is not
    empty is left alone. Exit code 1 if something does not come back as it was.
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
    """An inspection for JSON."""
    from dataclasses import asdict

    return {**asdict(found), "ok": not found.wrong}
