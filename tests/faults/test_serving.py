"""SIGKILL of a server while files are uploaded and processed: whatever it acknowledged is there, once and whole."""

from pathlib import Path

import pytest

from tests.faults.serving import survive


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_server_killed_while_it_takes_files_in_and_processes_them(database_url: str, tmp_path: Path) -> None:
    assert survive(database_url, tmp_path / "data", kills=3) > 0
