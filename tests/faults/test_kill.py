"""SIGKILL at random moments while adding: every acknowledged document whole, none half there, adding again finishes."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

from pincite.store.server import EmbeddedServer
from tests.faults.wholeness import check_whole, indexed

KILLS = int(os.environ.get("PINCITE_TEST_KILLS", "20"))


def write_files(folder: Path, count: int) -> None:
    chosen = random.Random(7)
    folder.mkdir()
    for n in range(count):
        parts = [f"## Part {k}\n\n" + " ".join(f"w{chosen.randint(0, 500)}" for _ in range(120)) for k in range(6)]
        (folder / f"{n:03}.md").write_text(f"# File {n}\n\n" + "\n\n".join(parts), encoding="utf-8")


def start(data: Path, url: str, folder: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.faults.adder", str(data), url, str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def add_and_kill(data: Path, url: str, folder: Path, after_s: float) -> set[str]:
    """Let it add, kill it so many seconds after it started to, and return what it had acknowledged."""
    process = start(data, url, folder)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(after_s)
    process.send_signal(signal.SIGKILL)
    said, _ = process.communicate(timeout=30)
    return {line.split()[1] for line in said.splitlines() if line.startswith("kept")}


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_killed_while_adding(database_url: str, tmp_path: Path) -> None:
    data, folder = tmp_path / "data", tmp_path / "docs"
    write_files(folder, 60)
    chosen, acknowledged = random.Random(), set[str]()
    for _ in range(KILLS):
        acknowledged |= add_and_kill(data, database_url, folder, chosen.uniform(0.0, 0.5))
        check_whole(database_url, data, acknowledged)
    process = start(data, database_url, folder)
    said, _ = process.communicate(timeout=60)
    assert said.endswith("done\n")
    check_whole(database_url, data, {path.name for path in folder.iterdir()})
    with psycopg.connect(database_url) as connection:
        assert connection.execute("select status, count(*) from pincite.document group by 1").fetchall() == [
            ("completed", 60)
        ]
        assert connection.execute("select count(*) from pincite.edition where state <> 'served'").fetchone() == (0,)


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_the_database_killed_while_adding(tmp_path: Path) -> None:
    """The embedded server is killed under a running process, three times; it comes back and nothing is lost."""
    data, folder = tmp_path / "data", tmp_path / "docs"
    write_files(folder, 20)
    acknowledged = set[str]()
    for _ in range(3):
        process = start(data, "", folder)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.2)
        os.kill(int((data / "postgres" / "postmaster.pid").read_text().splitlines()[0]), signal.SIGKILL)
        process.send_signal(signal.SIGKILL)
        said, _ = process.communicate(timeout=30)
        acknowledged |= {line.split()[1] for line in said.splitlines() if line.startswith("kept")}
        with EmbeddedServer.open(data) as server:
            check_whole(server.url, data, acknowledged)
    said, _ = start(data, "", folder).communicate(timeout=60)
    assert said.endswith("done\n")
    with EmbeddedServer.open(data) as server:
        check_whole(server.url, data, {path.name for path in folder.iterdir()})
        assert len(indexed(server.url)) == 20
