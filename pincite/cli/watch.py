"""`add --watch`: add folders and update their documents until Ctrl-C."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pincite.cli.command import CommandContext
from pincite.cli.output import print_json, print_note
from pincite.errors import Invalid

if TYPE_CHECKING:
    from pincite.engine.connectors.folder_sync import Changes
    from pincite.ingest.accept.folder_scan import WatchedFolder


async def watch_folders(context: CommandContext, paths: Sequence[str], folder: str, *, keep_removed: bool) -> None:
    """Add the folders' changes since the last run, then every further change, until cancelled."""
    from pincite.cli.view.progress import progress
    from pincite.engine.connectors.folder_sync import FolderSync
    from pincite.ingest.accept.folder_scan import WatchedFolder

    roots = [WatchedFolder.of(Path(path), folder) for path in paths]
    _check_distinct(roots)
    try:
        async with context.open() as pincite:
            syncs = {root: FolderSync(pincite, root, keep_removed=keep_removed) for root in roots}
            for root, sync in syncs.items():
                with progress(quiet=context.json) as report:
                    changes = await sync.sync_all(report)
                _print_changes(context, root, changes)
            if not context.json:
                print_note(f"watching {', '.join(str(root.path) for root in roots)}; Ctrl-C ends it")
            await asyncio.gather(*(sync.watch(partial(_print_changes, context, root)) for root, sync in syncs.items()))
    except asyncio.CancelledError:  # Ctrl-C is the normal end
        return


def _check_distinct(roots: "Sequence[WatchedFolder]") -> None:
    """Refuse folders that share files or documents, since each would undo the other's changes."""
    for number, root in enumerate(roots):
        for other in roots[:number]:
            if root.path.is_relative_to(other.path) or other.path.is_relative_to(root.path):
                raise Invalid(f"{root.path} and {other.path} overlap; watch the outer one only")
            if root.folder == other.folder:
                raise Invalid(f"{root.path} and {other.path} have the same name; watch each with a --folder of its own")


def _print_changes(context: CommandContext, root: "WatchedFolder", changes: "Changes") -> None:
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.watch import print_changes
    from pincite.serialize.documents import document_json, receipt_json

    if not context.json:
        print_changes(Screen(), changes)
        return
    print_json(
        {
            "root": str(root.path),
            "added": [
                {"path": path, "outcome": one.outcome, "document": document_json(one.document)}
                for path, one in changes.added.items()
            ],
            "moved": [{"path": path, "from": old} for path, old in changes.moved.items()],
            "removed": [{"path": path, "receipt": receipt_json(one)} for path, one in changes.removed.items()],
            "refused": [
                {"path": path, "code": error.code, "message": str(error)} for path, error in changes.refused.items()
            ],
            "kept": list(changes.kept),
        },
        indent=None,
    )
