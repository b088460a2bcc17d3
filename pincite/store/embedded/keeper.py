"""Stops the embedded server once no process uses it; a separate process, which survives killed users.

The process runs this file by its path, without site-packages, to stay small: standard library only.
"""

import contextlib
import fcntl
import os
import signal
import sys
import time

SHARED, EXCLUSIVE = fcntl.LOCK_SH, fcntl.LOCK_EX
STOP_SIGNALS = ((signal.SIGINT, 60.0), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 10.0))
"""PostgreSQL's fast and immediate shutdown, then a kill of all its processes, each with its timeout in seconds."""

POLL_S = 0.01
"""Seconds between two attempts to get a lock."""


def try_lock(file: int, mode: int) -> bool:
    """Lock an open file without waiting; return whether it is locked. An earlier lock may be lost."""
    try:
        fcntl.flock(file, mode | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def wait_lock(file: int, mode: int, timeout_s: float) -> bool:
    """Lock an open file within a timeout; return whether it is locked."""
    end = time.monotonic() + timeout_s
    while not try_lock(file, mode):
        if time.monotonic() > end:
            return False
        time.sleep(POLL_S)
    return True


def is_alive(version: int) -> bool:
    """Whether any process of the server is running: all of them hold a lock on PG_VERSION from their start.

    A process id in a file is not reliable: ids are reused, and differ in another container.
    """
    if not try_lock(version, SHARED):
        return True
    fcntl.flock(version, fcntl.LOCK_UN)
    return False


def stop(version: int, cluster: str) -> bool:
    """Stop the server with this cluster name by the stop signals in order; return whether it has stopped.

    It cannot be stopped if its processes are not visible from here, as in another container.
    """
    for number, timeout_s in STOP_SIGNALS:
        if not is_alive(version):
            return True
        found = _signal(cluster, number)
        if wait_lock(version, SHARED, timeout_s if found else 1.0):
            fcntl.flock(version, fcntl.LOCK_UN)
            return True
        if not found:
            break
    return False


def _signal(cluster: str, number: signal.Signals) -> bool:
    """Send a signal to the server's processes; return whether there are any."""
    processes = _processes()
    masters = [pid for pid, line in processes if f"cluster_name={cluster} " in line]
    backends = [pid for pid, line in processes if line.startswith(f"postgres: {cluster}:")]
    if number != signal.SIGINT:
        _kill(masters + backends, number)
    elif masters:
        _kill(masters, signal.SIGINT)
    else:  # their master process is dead; to backends, SIGINT only cancels a query
        _kill(backends, signal.SIGQUIT)
    return bool(masters or backends)


def _kill(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _processes() -> list[tuple[int, str]]:
    """Return the machine's processes with their command lines, each argument followed by a space."""
    if os.path.isdir("/proc/self"):
        return [(int(name), _command_line(name)) for name in os.listdir("/proc") if name.isdigit()]
    import subprocess  # only where there is no /proc, as on macOS: the import would double the keeper

    listing = subprocess.run(["/bin/ps", "-axww", "-o", "pid=,command="], capture_output=True, text=True, check=True)
    rows = (line.strip().partition(" ") for line in listing.stdout.splitlines())
    return [(int(pid), f"{line} ") for pid, _, line in rows if pid]


def _command_line(pid: str) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode(errors="replace")
    except OSError:  # it ended in the meantime
        return ""


def main(share: int, keeper: int, version: int, cluster: str) -> None:
    """Detach from the parent, wait until no process uses the server, and stop it."""
    if os.fork():
        os._exit(0)
    os.chdir("/")
    fcntl.flock(share, EXCLUSIVE)
    if not stop(version, cluster):
        sys.stderr.write(f"pincite: the server {cluster} did not stop\n")
    # This lock is released before the share (at exit): who waits for the share must not see this keeper as running.
    os.close(keeper)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
