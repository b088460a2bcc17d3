"""SIGKILL of a server during uploads and processing: every acknowledged file exists once and is complete."""

from pathlib import Path

import pytest

from tests.faults.serving import survive


@pytest.mark.slow
def test_a_server_killed_during_uploads_and_processing(database_url: str, tmp_path: Path) -> None:
    assert survive(database_url, tmp_path / "data", kills=3) > 0
