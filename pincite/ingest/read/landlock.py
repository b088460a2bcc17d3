"""Which files a process can see: from then on only the folders named, to read, and nothing else on the disk."""

import ctypes
import os
import platform
import sys
from collections.abc import Iterable
from contextlib import suppress

_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""System calls, the same on x86-64 and ARM."""
_ASK_VERSION = 1
_BENEATH = 1
_EXECUTE, _WRITE, _READ_FILE, _READ_FOLDER = 1, 2, 4, 8
_ALL = (1 << 13) - 1
_MORE: tuple[tuple[int, int], ...] = ((2, 1 << 13), (3, 1 << 14), (5, 1 << 15))
"""What later versions of it know besides: moving to another folder, cutting a file short, control of devices."""
_NO_NEW_PRIVILEGES = 38


class _Rules(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64),)


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def see_only(paths: Iterable[str]) -> bool:
    """Let this process read what lies below these paths and touch no other file, for good; False where it cannot be."""
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"):
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE, None, ctypes.c_size_t(0), _ASK_VERSION)
    if version < 1:
        return False
    rules = _Rules(_ALL | sum(right for since, right in _MORE if version >= since))
    ruleset = libc.syscall(_CREATE, ctypes.byref(rules), ctypes.c_size_t(ctypes.sizeof(rules)), 0)
    if ruleset < 0:
        return False
    try:
        for path in paths:
            _allow(libc, ruleset, path)
        return not libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) and not libc.syscall(_RESTRICT, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, path: str) -> None:
    """Let what lies below a path, if it is there, be read."""
    with suppress(OSError):
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            rights = _READ_FILE | (_READ_FOLDER if os.path.isdir(path) else 0)
            rule = _Beneath(rights, place)
            libc.syscall(_ADD, ruleset, _BENEATH, ctypes.byref(rule), 0)
        finally:
            os.close(place)
