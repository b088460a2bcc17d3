"""Limits file access of this process with Linux's Landlock: named folders are readable, nothing else is."""

import ctypes
import os
import platform
import sys
from collections.abc import Iterable
from contextlib import suppress

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""Numbers of the three Landlock system calls, the same on x86-64 and ARM."""
_GET_VERSION = 1
_RULE_PATH_BENEATH = 1
_READ_FILE, _READ_FOLDER = 4, 8
_ALL_RIGHTS = (1 << 13) - 1
"""The access rights of Landlock's first version, all of which are restricted."""
_LATER_RIGHTS: tuple[tuple[int, int], ...] = ((2, 1 << 13), (3, 1 << 14), (5, 1 << 15))
"""Version → the right that it added: moving to another folder, truncating a file, device control."""
_NO_NEW_PRIVILEGES = 38


class _RulesetAttributes(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64),)


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def allow_reading_only(paths: Iterable[str]) -> bool:
    """Allow this process to read below these paths and deny all other file access; False where that is unsupported."""
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"):
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _GET_VERSION)
    if version < 1:
        return False
    rules = _RulesetAttributes(_ALL_RIGHTS | sum(right for since, right in _LATER_RIGHTS if version >= since))
    ruleset = libc.syscall(_CREATE_RULESET, ctypes.byref(rules), ctypes.c_size_t(ctypes.sizeof(rules)), 0)
    if ruleset < 0:
        return False
    try:
        for path in paths:
            _allow(libc, ruleset, path)
        return not libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) and not libc.syscall(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, path: str) -> None:
    """Allow reading below a path; a path that does not exist is skipped."""
    with suppress(OSError):
        folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            rights = _READ_FILE | (_READ_FOLDER if os.path.isdir(path) else 0)
            rule = _PathBeneath(rights, folder)
            libc.syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, ctypes.byref(rule), 0)
        finally:
            os.close(folder)
