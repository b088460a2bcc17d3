"""File locks, and stopping servers."""

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pincite.store.embedded import keeper


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[int, int]]:
    """One file opened twice; each descriptor has its own locks."""
    path = tmp_path / "lock"
    path.touch()
    files = (os.open(path, os.O_RDWR), os.open(path, os.O_RDWR))
    yield files
    for file in files:
        os.close(file)


def test_a_lock_is_shared_or_exclusive(two: tuple[int, int]) -> None:
    first, second = two
    assert keeper.try_lock(first, keeper.SHARED)
    assert keeper.try_lock(second, keeper.SHARED)
    assert not keeper.try_lock(first, keeper.EXCLUSIVE)


def test_waiting_for_a_lock_times_out(two: tuple[int, int]) -> None:
    first, second = two
    assert keeper.try_lock(first, keeper.EXCLUSIVE)
    begin = time.monotonic()
    assert not keeper.wait_lock(second, keeper.SHARED, 0.1)
    assert 0.1 <= time.monotonic() - begin < 5


@pytest.mark.slow
def test_a_process_is_alive_as_long_as_it_holds_the_lock(two: tuple[int, int]) -> None:
    given, asked = two
    assert keeper.try_lock(given, keeper.EXCLUSIVE)
    holder = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=(given,))
    os.dup2(asked, given)  # only the other process has it now
    assert keeper.is_alive(asked)
    assert keeper.is_alive(asked), "asking does not take the lock away"
    holder.communicate(b"\n")
    assert not keeper.is_alive(asked)


def test_stopping_a_stopped_server_returns_immediately(two: tuple[int, int]) -> None:
    assert keeper.stop(two[0], "pincite-none")
    assert keeper.try_lock(two[1], keeper.EXCLUSIVE), "no lock is left behind"


@pytest.mark.slow
def test_a_server_that_cannot_be_seen_is_not_claimed_to_be_stopped(
    two: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "_processes", lambda: [(os.getpid(), "postgres: pincite-other: checkpointer ")])
    assert keeper.try_lock(two[0], keeper.EXCLUSIVE)
    assert not keeper.stop(two[1], "pincite-none")


@pytest.mark.slow
def test_a_server_is_stopped_by_stronger_signals(two: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """A main process that ignores the first signals is killed by the last one; one with a similar name is not."""
    stubborn = "import signal; [signal.signal(s, signal.SIG_IGN) for s in (2, 3)]; print(flush=True); signal.pause()"
    assert keeper.try_lock(two[0], keeper.EXCLUSIVE)
    command = [sys.executable, "-c", stubborn, "cluster_name=pincite-one", "end"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, pass_fds=(two[0],))
    namesake = subprocess.Popen([*command[:3], "cluster_name=pincite-one-more", "end"])
    fcntl.flock(two[1], fcntl.LOCK_UN)
    os.dup2(two[1], two[0])
    assert server.stdout is not None
    server.stdout.readline()
    monkeypatch.setattr(
        keeper, "STOP_SIGNALS", [(number, 0.1) for number, _ in keeper.STOP_SIGNALS[:2]] + [keeper.STOP_SIGNALS[2]]
    )
    try:
        assert keeper.stop(two[1], "pincite-one")
        assert server.wait(5) == -9
        assert namesake.poll() is None
    finally:
        server.kill()
        server.stdout.close()
        namesake.kill()
        namesake.wait()
