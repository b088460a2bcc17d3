"""Restores a backup in a process that is killed at a step."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

from pincite.store.operations import restore as steps
from pincite.store.operations.restore import read_backup, restore
from tests.faults.dying import Say, die_at

STEPS: dict[str, tuple[Any, str]] = {
    "migrate": (steps, "migrate"),
    "load": (steps, "_load"),
    "settle": (steps, "_settle"),
    "index": (steps, "index_vectors"),
}
RENAMED = "renamed"
"""The moment after the files were renamed and before the rows are committed."""
POINTS = ["before:migrate:1", "before:load:1", "after:load:1", "after:index:1", RENAMED, "before:migrate:2"]


def die_once_renamed() -> None:
    real = Path.rename

    def dying(path: Path, target: Path) -> Path:
        real(path, target)
        os.kill(os.getpid(), signal.SIGKILL)
        return target

    Path.rename = dying  # type: ignore[method-assign, assignment]


def bring_back(_say: Say, url: str, data: str, backup: str, point: str) -> None:
    """Restore a backup, up to the step."""
    die_once_renamed() if point == RENAMED else die_at(point, STEPS)
    manifest = read_backup(Path(backup), lambda _: None)
    asyncio.run(restore(url, Path(data), Path(backup), manifest, lambda _: None))
