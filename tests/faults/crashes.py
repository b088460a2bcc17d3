"""Kills a process repeatedly while it adds files, at random moments and at every step, and checks the library."""

import random
import signal
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import psycopg

from tests.faults.adder import POINTS, add
from tests.faults.dying import Mortal
from tests.faults.wholeness import check_whole

FILES = 60


def write_files(folder: Path, count: int) -> None:
    """Write files of two sizes; every third is small enough to be published in one transaction."""
    chosen = random.Random(7)
    folder.mkdir()
    for n in range(count):
        parts = 1 if n % 3 == 0 else 6
        text = [f"## Part {k}\n\n" + " ".join(f"w{chosen.randint(0, 500)}" for _ in range(120)) for k in range(parts)]
        (folder / f"{n:03}.md").write_text(f"# File {n}\n\n" + "\n\n".join(text), encoding="utf-8")


def start(data: Path, url: str, folder: Path, point: str = "") -> Mortal:
    """A process that adds the files and kills itself at the given step."""
    return Mortal(add, str(data), url, str(folder), point)


def kept(said: list[str]) -> set[str]:
    """The names of the files that the process acknowledged."""
    return {line.split()[1] for line in said if line.startswith("kept")}


def add_and_die(data: Path, url: str, folder: Path, point: str) -> set[str]:
    """Add files until the process dies, at a step or after a random time; return the acknowledged files."""
    process = start(data, url, folder, point)
    if not point:
        assert process.hear() == "ready"
        time.sleep(random.uniform(0.0, 0.5))
        process.kill()
    ended, said = process.end()
    assert not point or ended == -signal.SIGKILL, f"it was not killed {point}"
    return kept(said)


def points(rounds: int) -> Iterator[str]:
    """Every step in turn, and a random moment (empty) in every fourth round; 24 rounds include all steps."""
    steps = cycle(POINTS)
    for number in range(rounds):
        yield "" if number % 4 == 0 else next(steps)


def survive(url: str, base: Path, rounds: int, files: int = FILES) -> set[str]:
    """Kill the process `rounds` times; check after each that no acknowledged file is lost, incomplete or duplicated."""
    data, folder = base / "data", base / "docs"
    write_files(folder, files)
    acknowledged = set[str]()
    for number, point in enumerate(points(rounds)):
        if number % 4 == 1:  # changed files are processed again, so that every step occurs again
            for path in folder.iterdir():
                path.write_text(path.read_text(encoding="utf-8") + f"\n\nChanged {number}.\n", encoding="utf-8")
        acknowledged |= add_and_die(data, url, folder, point)
        check_whole(url, data, acknowledged)
    ended, said = start(data, url, folder).end(within_s=120)
    assert (ended, said[-1:]) == (0, ["done"]), said
    check_whole(url, data, {path.name for path in folder.iterdir()})
    with psycopg.connect(url) as connection:
        found = connection.execute("select status, count(*) from pincite.document group by 1").fetchall()
        stuck = connection.execute("select count(*) from pincite.job").fetchone()
    assert found == [("completed", files)], found
    assert stuck == (0,)
    return acknowledged
