"""SIGKILL while adding: every acknowledged document is complete and exists once, and adding again finishes."""

import os
import signal
import time
from pathlib import Path

import psycopg
import pytest

from pincite.store.embedded.server import EmbeddedServer
from tests.faults.crashes import kept, start, survive, write_files
from tests.faults.wholeness import check_whole, indexed

KILLS = int(os.environ.get("PINCITE_TEST_KILLS", "24"))
FILES = 30


@pytest.mark.slow
def test_killed_while_adding_at_any_moment_and_at_every_step(database_url: str, tmp_path: Path) -> None:
    survive(database_url, tmp_path, KILLS, FILES)
    with psycopg.connect(database_url) as connection:
        left = connection.execute("select count(*) from pincite.edition where state = 'writing'").fetchone()
    assert left == (0,)


@pytest.mark.slow
def test_the_database_killed_while_adding(tmp_path: Path) -> None:
    """The embedded database server is killed three times while a process runs; it restarts, and nothing is lost."""
    data, folder = tmp_path / "data", tmp_path / "docs"
    write_files(folder, 20)
    acknowledged = set[str]()
    for _ in range(3):
        process = start(data, "", folder)
        assert process.hear() == "ready"
        time.sleep(0.2)
        os.kill(int((data / "postgres" / "postmaster.pid").read_text().splitlines()[0]), signal.SIGKILL)
        process.kill()
        acknowledged |= kept(process.end()[1])
        with EmbeddedServer.open(data) as server:
            check_whole(server.url, data, acknowledged)
    ended, said = start(data, "", folder).end()
    assert (ended, said[-1:]) == (0, ["done"])
    with EmbeddedServer.open(data) as server:
        check_whole(server.url, data, {path.name for path in folder.iterdir()})
        assert len(indexed(server.url)) == 20
