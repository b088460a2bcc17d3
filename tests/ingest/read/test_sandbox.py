"""What a process can no longer do once it is confined; each is tried in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pincite.ingest.read import landlock, seccomp
from pincite.ingest.read.sandbox import FILES, NETWORK, PROCESSES, SIGHT


def in_a_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def works(call: str) -> bool:
    return in_a_process(f"from pincite.ingest import landlock, seccomp; print({call})") == "True"


@pytest.mark.slow
def test_what_is_said_to_hold_is_what_was_done() -> None:
    holds = json.loads(
        in_a_process("import json; from pincite.ingest.read.sandbox import confine; print(json.dumps(confine(512)))")
    )
    assert (NETWORK in holds, PROCESSES in holds) == (works("seccomp.refuse()"),) * 2
    assert (SIGHT in holds) == works("landlock.see_only(['/usr'])")
    assert {FILES, "512 MB of memory", "few open files"} <= set(holds)
    assert len(holds) == len(set(holds))


@pytest.mark.slow
def test_only_what_lies_below_the_named_folders_is_seen(tmp_path: Path) -> None:
    if not works("landlock.see_only(['/usr'])"):
        pytest.skip("this system has no Landlock")
    for name in ("shown", "hidden"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    said = in_a_process(f"""
import os
from pincite.ingest.read.landlock import see_only
assert see_only([{str(tmp_path / "shown")!r}, {str(tmp_path / "missing")!r}])
for name in ("shown", "hidden"):
    try:
        print(open({str(tmp_path)!r} + "/" + name + "/file").read())
    except PermissionError:
        print("refused")
for act in (lambda: open({str(tmp_path / "shown" / "new")!r}, "w"), lambda: os.unlink({str(tmp_path / "shown" / "file")!r})):
    try:
        act()
    except PermissionError:
        print("refused")
""")
    assert said.split() == ["shown", "refused", "refused", "refused"]
    assert (tmp_path / "shown" / "file").exists()


@pytest.mark.slow
def test_refused_calls_fail_in_every_thread_and_end_nobody() -> None:
    if not works("seccomp.refuse()"):
        pytest.skip("this system filters no calls")
    said = in_a_process("""
import os, socket, threading, signal
from pincite.ingest.read.seccomp import refuse
go, said = threading.Event(), []
def later():
    go.wait()
    try:
        socket.socket()
    except PermissionError:
        said.append("refused")
thread = threading.Thread(target=later)
thread.start()
assert refuse()
go.set()
thread.join()
with open("/etc/hostname") as file:  # reading goes on
    said.append("read")
signal.signal(signal.SIGUSR1, lambda *_: said.append("own signal"))
signal.raise_signal(signal.SIGUSR1)
print(*said, sep=",")
""")
    assert said == "refused,read,own signal"


def test_no_call_is_refused_under_two_names() -> None:
    for column in (0, 1):
        numbers = [both[column] for both in seccomp.REFUSED.values() if both[column] is not None]
        assert len(numbers) == len(set(numbers))


def test_other_systems_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not landlock.see_only(["/"])
    assert not seccomp.refuse()
