"""`add --watch`: adds folders and keeps their documents in step with them until Ctrl-C."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pincite.cli.command import CommandContext
from pincite.cli.output import print_json, remark
from pincite.errors import Invalid

if TYPE_CHECKING:
    from pincite.engine.connectors.folder_sync import Changes
    from pincite.ingest.accept.folder_scan import WatchedFolder


async def keep_in_step(door: CommandContext, paths: Sequence[str], folder: str, *, keep_removed: bool) -> None:
    """Take in what changed while nobody watched, then what changes, until cancelled; that is how it ends."""
    from pincite.cli.view.progress import progress
    from pincite.engine.connectors.folder_sync import FolderSync
    from pincite.ingest.accept.folder_scan import WatchedFolder

    roots = [WatchedFolder.of(Path(path), folder) for path in paths]
    _distinct(roots)
    try:
        async with door.open() as pincite:
            keepers = {root: FolderSync(pincite, root, keep_removed=keep_removed) for root in roots}
            for root, keeper in keepers.items():
                with progress(quiet=door.json) as report:
                    changes = await keeper.sync_all(report)
                _tell(door, root, changes)
            if not door.json:
                remark(f"watching {', '.join(str(root.path) for root in roots)}; Ctrl-C ends it")
            await asyncio.gather(*(keeper.watch(partial(_tell, door, root)) for root, keeper in keepers.items()))
    except asyncio.CancelledError:  # Ctrl-C is the way it ends
        return


def _distinct(roots: "Sequence[WatchedFolder]") -> None:
    """Two roots must share neither files nor documents, lest each undo what the other does."""
    for number, root in enumerate(roots):
        for other in roots[:number]:
            if root.path.is_relative_to(other.path) or other.path.is_relative_to(root.path):
                raise Invalid(f"{root.path} and {other.path} lie in each other; watch the outer one")
            if root.folder == other.folder:
                raise Invalid(f"{root.path} and {other.path} have the same name; watch each with a --folder of its own")


def _tell(door: CommandContext, root: "WatchedFolder", changes: "Changes") -> None:
    from pincite.cli.view.screen import Screen
    from pincite.cli.view.watch import print_changes
    from pincite.serialize import answers as shapes

    if not door.json:
        print_changes(Screen(), changes)
        return
    print_json(
        {
            "root": str(root.path),
            "added": [
                {"path": path, "outcome": one.outcome, "document": shapes.document(one.document)}
                for path, one in changes.added.items()
            ],
            "moved": [{"path": path, "from": old} for path, old in changes.moved.items()],
            "removed": [{"path": path, "receipt": shapes.receipt(one)} for path, one in changes.removed.items()],
            "refused": [
                {"path": path, "code": error.code, "message": str(error)} for path, error in changes.refused.items()
            ],
            "kept": list(changes.kept),
        },
        indent=None,
    )
