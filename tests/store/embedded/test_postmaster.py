"""The command and settings of the server."""

import sys
from pathlib import Path

import pytest

from pincite.errors import DataFolderError
from pincite.store.embedded import postmaster
from pincite.store.embedded.server import EmbeddedServer


def test_with_little_shared_memory_files_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(postmaster, "SHARED_MEMORY", tmp_path)
    assert postmaster._memory(64) == {"shared_buffers": "64MB"}
    monkeypatch.setattr(postmaster, "MIN_SHARED_MEMORY_BYTES", 2**60)
    assert postmaster._memory(64) == {"shared_buffers": "64MB", "dynamic_shared_memory_type": "mmap"}
    monkeypatch.setattr(postmaster, "SHARED_MEMORY", tmp_path / "none")
    assert postmaster._memory(64) == {"shared_buffers": "64MB", "dynamic_shared_memory_type": "mmap"}


@pytest.mark.slow
def test_a_long_log_is_truncated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postmaster, "MAX_LOG_BYTES", 1000)
    (tmp_path / "postgres.log").write_text("old line\n" * 1000)
    with EmbeddedServer.open(tmp_path):
        assert "old line" not in (tmp_path / "postgres.log").read_text()


@pytest.mark.slow
def test_a_second_server_is_never_started_on_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with EmbeddedServer.open(tmp_path):
        before = (tmp_path / "postgres" / "postmaster.pid").read_text()
        monkeypatch.setattr(postmaster, "LOCK_TIMEOUT_S", 0.1)
        monkeypatch.setattr(postmaster, "_becomes_ready", lambda *_: False)  # as if it had ended
        with pytest.raises(DataFolderError, match="is in use by another server"):
            EmbeddedServer.open(tmp_path)
        assert (tmp_path / "postgres" / "postmaster.pid").read_text() == before
