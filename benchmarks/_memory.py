"""Resident memory of related processes: a process, its descendants, and the processes that use its folder."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Self

_IDLE = (
    "import asyncio, sys\n"
    "from pincite import AsyncPincite\n"
    "async def main():\n"
    "    async with AsyncPincite(sys.argv[1]) as pincite:\n"
    "        await pincite.search('What does it do?')\n"
    "        print(flush=True)\n"
    "        input()\n"
    "asyncio.run(main())\n"
)


def idle_mb(data: Path) -> float:
    """What a process that opened a library and answered once occupies, its database included."""
    command = [sys.executable, "-c", _IDLE, str(data)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = resident_mb(belonging(process.pid, data))
        process.communicate("\n")
    return found


def resident_mb(pids: Iterable[int]) -> float:
    """What these processes occupy in MB (10⁶ bytes), pages that several share counted once between them."""
    kilobytes = 0
    for pid in pids:
        with suppress(OSError):
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
            kilobytes += sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
    return kilobytes * 1024 / 1e6


def belonging(pid: int, folder: Path | None = None) -> set[int]:
    """A process with its descendants and, where a folder is given, every process that has a file in it open."""
    parents, holders = {}, set()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with suppress(OSError):
            stat = (entry / "stat").read_text(encoding="utf-8", errors="replace")
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
            if folder is not None and _holds(entry, str(folder.resolve())):
                holders.add(int(entry.name))
    found = {pid} | holders
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def _holds(process: Path, folder: str) -> bool:
    links = [process / "cwd", *(process / "fd").iterdir()]
    for link in links:
        with suppress(OSError):
            if os.readlink(link).startswith(f"{folder}/"):
                return True
    return False


class Peak:
    """The most that was resident whenever one looked: by `look`, and once a second inside `with`."""

    def __init__(self, pid: int, folder: Path | None = None) -> None:
        self.mb = 0.0
        self._of = (pid, folder)
        self._left = threading.Event()
        self._watcher: threading.Thread | None = None

    def look(self) -> None:
        """Look once."""
        self.mb = max(self.mb, resident_mb(belonging(*self._of)))

    def __enter__(self) -> Self:
        self._left.clear()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._left.set()
        assert self._watcher is not None
        self._watcher.join()

    def _watch(self) -> None:
        while not self._left.wait(1.0):
            self.look()
        self.look()
