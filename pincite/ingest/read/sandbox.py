"""Drops the privileges of this process that reading a file does not need: network, writing, other files, programs."""

import os
import site
import sys
from collections.abc import Iterator
from contextlib import suppress

import pincite
from pincite.ingest.read import landlock, seccomp

_MAX_OPEN_FILES = 32
"""Limit of open file descriptors."""
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_CAPABILITY_HEADER = (0x20080522, 0)
"""Version 3 of the capability interface, and this process."""

NO_NETWORK, NO_WRITING, NO_OTHER_FILES, NO_PROGRAMS = (
    "no network",
    "no writing to files",
    "no sight of other files",
    "no other programs",
)
WANTED = (NO_NETWORK, NO_WRITING, NO_OTHER_FILES, NO_PROGRAMS)
"""The restrictions that should hold for a process that reads files, besides limits of memory, time and open files."""

_SYSTEM_PATHS = (
    *("/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share", "/lib", "/lib64", "/opt/homebrew", "/nix/store"),
    *("/etc/ld.so.cache", "/etc/localtime", "/dev/urandom", "/dev/null"),
    *("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu", "/sys/fs/cgroup"),
)
"""Readable system paths: libraries, fonts and time zones, and the files in which libraries look up the hardware."""


def leave_network() -> bool:
    """Move to an empty network namespace, if necessary in a new user namespace; False where neither is allowed.

    Call this first: the kernel refuses it to a process with several threads.
    """
    if sys.platform != "linux":
        return False
    import ctypes

    unshare = ctypes.CDLL(None, use_errno=True).unshare
    return 0 in (unshare(flags) for flags in (_CLONE_NEWNET, _CLONE_NEWUSER | _CLONE_NEWNET))


def confine(memory_mb: int, *, network_left: bool = False) -> list[str]:
    """Restrict this process permanently, after all its libraries are loaded; return the restrictions in force."""
    holds = []
    if sys.platform != "win32":
        holds = _set_resource_limits(memory_mb)
    files_hidden = landlock.allow_reading_only(dict.fromkeys(_readable_paths()))
    _drop_capabilities()
    calls_filtered = seccomp.install_filter()
    if network_left or calls_filtered:
        holds.append(NO_NETWORK)
    if (files_hidden or calls_filtered) and NO_WRITING not in holds:
        holds.append(NO_WRITING)
    return holds + [NO_OTHER_FILES] * files_hidden + [NO_PROGRAMS] * calls_filtered


def _set_resource_limits(memory_mb: int) -> list[str]:
    """Lower the priority, set the resource limits, and return those that the system accepted."""
    import resource

    os.nice(5)
    with suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")  # when memory runs short, the kernel kills this process rather than the server
    holds, used = [], address_space()
    if used and _limit(resource.RLIMIT_AS, used + memory_mb * 1024 * 1024):
        holds.append(f"{memory_mb} MB of memory")
    if _limit(resource.RLIMIT_FSIZE, 0):
        holds.append(NO_WRITING)
    if _limit(resource.RLIMIT_NOFILE, _MAX_OPEN_FILES) and _limit(resource.RLIMIT_CORE, 0):
        holds.append("few open files")
    return holds


def _readable_paths() -> Iterator[str]:
    """The folders of Python, its packages and the system; neither the documents nor the working directory."""
    yield from (sys.prefix, sys.base_prefix, sys.exec_prefix, site.getusersitepackages(), *pincite.__path__)
    yield from (path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages"))
    yield from _SYSTEM_PATHS


def _drop_capabilities() -> None:
    """Drop all capabilities of the superuser."""
    if sys.platform == "linux":
        import ctypes

        none = (ctypes.c_uint32 * 6)()
        ctypes.CDLL(None, use_errno=True).capset((ctypes.c_uint32 * 2)(*_CAPABILITY_HEADER), none)


def address_space() -> int:
    """Bytes of address space in use; 0 where the system does not report them."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _limit(which: int, value: int) -> bool:
    """Set a resource limit; whether the system accepted it."""
    import resource

    try:
        resource.setrlimit(which, (value, value))
    except (ValueError, OSError):
        return False
    return True
