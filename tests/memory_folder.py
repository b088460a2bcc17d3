"""A folder in memory for the databases of a test run: copying one there takes a fifth of the time it takes on a disk."""

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

MEMORY = Path("/dev/shm")
PREFIX = "pincite-tests-"
NEEDED_BYTES = 2 * 2**30
"""Free memory file system below which a disk is used; the databases of a run take about a quarter of it."""


def shared_folder(place: Path) -> Path:
    """Return the folder that all test processes find at `place`: in memory, or on the disk where there is no room."""
    if not place.exists() and _is_roomy():
        remove_leftovers()
        made = tempfile.mkdtemp(prefix=PREFIX, dir=MEMORY)
        try:
            place.symlink_to(made)
        except FileExistsError:  # another process was faster
            os.rmdir(made)
    return place


def remove(place: Path) -> None:
    """Remove the folder in memory at the end of the run; one on the disk stays like all files of a run."""
    if place.is_symlink():
        shutil.rmtree(place.resolve(), ignore_errors=True)
        place.unlink()


def remove_leftovers() -> None:
    """Remove the folders of runs that were killed: those that no server uses."""
    from pincite.store.embedded import keeper  # here: the process that deals out the tests starts without it

    for folder in MEMORY.glob(f"{PREFIX}*"):
        with suppress(OSError):  # another user's, or one that is being made
            share = os.open(folder / "postgres.share", os.O_RDWR | os.O_CLOEXEC)
            try:
                if keeper.try_lock(share, keeper.EXCLUSIVE):
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(share)


def _is_roomy() -> bool:
    return MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= NEEDED_BYTES
