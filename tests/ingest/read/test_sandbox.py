"""What a confined process can no longer do; each restriction is tested in its own process."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pincite.ingest.read import landlock, seccomp
from pincite.ingest.read.sandbox import NO_NETWORK, NO_OTHER_FILES, NO_PROGRAMS, NO_WRITING


def in_a_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def works(call: str) -> bool:
    return in_a_process(f"from pincite.ingest.read import landlock, seccomp; print({call})") == "True"


@pytest.mark.slow
def test_the_reported_restrictions_are_those_in_force() -> None:
    holds = json.loads(
        in_a_process("import json; from pincite.ingest.read.sandbox import confine; print(json.dumps(confine(512)))")
    )
    assert (NO_NETWORK in holds, NO_PROGRAMS in holds) == (works("seccomp.install_filter()"),) * 2
    assert (NO_OTHER_FILES in holds) == works("landlock.allow_reading_only(['/usr'])")
    assert {NO_WRITING, "512 MB of memory", "few open files"} <= set(holds)
    assert len(holds) == len(set(holds))


@pytest.mark.slow
def test_only_files_below_the_named_folders_are_readable(tmp_path: Path) -> None:
    if not works("landlock.allow_reading_only(['/usr'])"):
        pytest.skip("this system has no Landlock")
    for name in ("shown", "hidden"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    output = in_a_process(f"""
import os
from pincite.ingest.read.landlock import allow_reading_only
assert allow_reading_only([{str(tmp_path / "shown")!r}, {str(tmp_path / "missing")!r}])
for name in ("shown", "hidden"):
    try:
        print(open({str(tmp_path)!r} + "/" + name + "/file").read())
    except PermissionError:
        print("refused")
shown = {str(tmp_path / "shown")!r}
for action in (lambda: open(shown + "/new", "w"), lambda: os.unlink(shown + "/file")):
    try:
        action()
    except PermissionError:
        print("refused")
""")
    assert output.split() == ["shown", "refused", "refused", "refused"]
    assert (tmp_path / "shown" / "file").exists()


@pytest.mark.slow
def test_refused_calls_fail_in_every_thread_without_ending_the_process() -> None:
    if not works("seccomp.install_filter()"):
        pytest.skip("this system has no seccomp")
    output = in_a_process("""
import os, socket, threading, signal
from pincite.ingest.read.seccomp import install_filter
go, said = threading.Event(), []
def later():
    go.wait()
    try:
        socket.socket()
    except PermissionError:
        said.append("refused")
thread = threading.Thread(target=later)
thread.start()
assert install_filter()
go.set()
thread.join()
with open("/etc/hostname") as file:  # reading goes on
    said.append("read")
signal.signal(signal.SIGUSR1, lambda *_: said.append("own signal"))
signal.raise_signal(signal.SIGUSR1)
print(*said, sep=",")
""")
    assert output == "refused,read,own signal"


def test_no_call_number_is_listed_twice() -> None:
    for column in (0, 1):
        numbers = [both[column] for both in seccomp.REFUSED.values() if both[column] is not None]
        assert len(numbers) == len(set(numbers))


def test_other_systems_are_reported_as_unsupported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not landlock.allow_reading_only(["/"])
    assert not seccomp.install_filter()
