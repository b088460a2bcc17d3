"""A process takes from itself what reading a file does not need."""

import os
import site
import sys
from collections.abc import Iterator
from contextlib import suppress

import pincite
from pincite.ingest.read import landlock, seccomp

_OPEN_FILES = 32
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_CAPABILITIES = (0x20080522, 0)

NETWORK, FILES, SIGHT, PROCESSES = "no network", "no writing to files", "no sight of other files", "no other programs"
WANTED = (NETWORK, FILES, SIGHT, PROCESSES)
"""What should hold wherever files are read, in words; memory, time and open files besides."""

_SYSTEM = (
    "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share", "/lib", "/lib64", "/opt/homebrew", "/nix/store",
    "/etc/ld.so.cache", "/etc/localtime", "/dev/urandom", "/dev/null", "/proc/self", "/proc/cpuinfo", "/proc/meminfo",
    "/sys/devices/system/cpu", "/sys/fs/cgroup",
)  # fmt: skip
"""Libraries, fonts and time zones, and what these ask about the machine."""


def leave_network() -> bool:
    """Move to a network with nobody else in it, by right or in a user namespace; False where neither is allowed.

    This comes before all else: it is refused to a process with threads.
    """
    if sys.platform != "linux":
        return False
    import ctypes

    unshare = ctypes.CDLL(None, use_errno=True).unshare
    return 0 in (unshare(flags) for flags in (_CLONE_NEWNET, _CLONE_NEWUSER | _CLONE_NEWNET))


def confine(memory_mb: int, *, networkless: bool = False) -> list[str]:
    """Limit this process for good, once all it needs is loaded; returns, in words, what holds."""
    holds = []
    if sys.platform != "win32":
        holds = _limited(memory_mb)
    seen = landlock.see_only(dict.fromkeys(_readable()))
    _give_up_rights()
    filtered = seccomp.refuse()
    if networkless or filtered:
        holds.append(NETWORK)
    if (seen or filtered) and FILES not in holds:
        holds.append(FILES)
    return holds + [SIGHT] * seen + [PROCESSES] * filtered


def _limited(memory_mb: int) -> list[str]:
    import resource

    os.nice(5)
    with suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")  # where memory runs short, the system ends this process and not the one that serves
    holds, used = [], address_space()
    if used and _limit(resource.RLIMIT_AS, used + memory_mb * 1024 * 1024):
        holds.append(f"{memory_mb} MB of memory")
    if _limit(resource.RLIMIT_FSIZE, 0):
        holds.append(FILES)
    if _limit(resource.RLIMIT_NOFILE, _OPEN_FILES) and _limit(resource.RLIMIT_CORE, 0):
        holds.append("few open files")
    return holds


def _readable() -> Iterator[str]:
    """Where programs lie, ours and the system's: neither the documents nor the folder somebody happens to be in."""
    yield from (sys.prefix, sys.base_prefix, sys.exec_prefix, site.getusersitepackages(), *pincite.__path__)
    yield from (path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages"))
    yield from _SYSTEM


def _give_up_rights() -> None:
    """Give up what a superuser may do beyond others."""
    if sys.platform == "linux":
        import ctypes

        none = (ctypes.c_uint32 * 6)()
        ctypes.CDLL(None, use_errno=True).capset((ctypes.c_uint32 * 2)(*_CAPABILITIES), none)


def address_space() -> int:
    """Bytes of address space in use; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _limit(which: int, value: int) -> bool:
    import resource

    try:
        resource.setrlimit(which, (value, value))
    except (ValueError, OSError):
        return False
    return True
