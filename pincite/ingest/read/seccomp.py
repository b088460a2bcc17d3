"""A seccomp filter: the kernel refuses all system calls that reading a file never needs."""

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Iterator, Mapping

REFUSED: Mapping[str, tuple[int | None, int | None]] = {
    "socket": (41, 198), "socketpair": (53, 199), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201),
    "accept": (43, 202), "accept4": (288, 242), "sendto": (44, 206), "sendmsg": (46, 211), "recvmsg": (47, 212),
    "execve": (59, 221), "execveat": (322, 281), "fork": (57, None), "vfork": (58, None),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kill": (62, 129),
    "tkill": (200, 130), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424),
    "creat": (85, None), "truncate": (76, 45), "ftruncate": (77, 46), "fallocate": (285, 47),
    "rename": (82, None), "renameat": (264, 38), "renameat2": (316, 276), "mkdir": (83, None), "mkdirat": (258, 34),
    "rmdir": (84, None), "unlink": (87, None), "unlinkat": (263, 35), "link": (86, None), "linkat": (265, 37),
    "symlink": (88, None), "symlinkat": (266, 36), "mknod": (133, None), "mknodat": (259, 33),
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "removexattr": (197, 14),
    "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97),
    "setns": (308, 268), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "swapon": (167, 224),
    "reboot": (169, 142), "kexec_load": (246, 104), "init_module": (175, 105), "finit_module": (313, 273),
    "bpf": (321, 280), "userfaultfd": (323, 282), "perf_event_open": (298, 241), "keyctl": (250, 219),
    "io_uring_setup": (425, 425), "setrlimit": (160, 164),
}  # fmt: skip
"""Refused system calls, with their numbers on x86-64 and on ARM: network, programs, other processes, changes to files,
the machine. `io_uring` is refused because the calls made through it bypass the filter."""
_HIDDEN_ARGUMENTS: Mapping[str, tuple[int, int]] = {"clone3": (435, 435), "openat2": (437, 437)}
"""Calls with arguments in memory, which a filter cannot check. They are reported as missing (ENOSYS), so that libraries
use the older calls."""
_OPEN, _OPENAT, _CLONE, _TGKILL, _SECCOMP = (2, None), (257, 56), (56, 220), (234, 131), (317, 277)
_ARCHITECTURES: Mapping[str, tuple[int, int]] = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CLONE_THREAD = 0x10000
_X32_CALLS = 0x40000000
"""First number of the x32 calls, a second set on x86-64 that is not needed here."""

_NUMBER, _ARCHITECTURE, _ARGUMENT = 0, 4, 16
_LOAD, _IF_EQUAL, _IF_ABOVE, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS = 1, 38
_NO_NEW_PRIVILEGES, _SET_FILTER, _ALL_THREADS = 38, 1, 1

Instruction = tuple[int, int, int, int]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def install_filter() -> bool:
    """Install the filter for all threads of this process, permanently; False where the system does not support it."""
    machine = _ARCHITECTURES.get(platform.machine())
    if sys.platform != "linux" or machine is None or sys.maxsize < 2**32:
        return False
    code = b"".join(struct.pack("=HBBI", *one) for one in _instructions(*machine, os.getpid()))
    program = _Program(len(code) // 8, code)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        return False
    return bool(libc.syscall(_SECCOMP[machine[0]], _SET_FILTER, _ALL_THREADS, ctypes.byref(program)) == 0)


def _instructions(column: int, architecture: int, pid: int) -> Iterator[Instruction]:
    """The filter as BPF instructions: operation, steps to skip if true, steps to skip if false, operand."""
    yield _LOAD, 0, 0, _ARCHITECTURE
    yield _IF_EQUAL, 1, 0, architecture
    yield _RETURN, 0, 0, _KILL
    yield _LOAD, 0, 0, _NUMBER
    yield _IF_ABOVE, 0, 1, _X32_CALLS
    yield _RETURN, 0, 0, _ERRNO | _EPERM
    for numbers, errno in ((REFUSED.values(), _EPERM), (_HIDDEN_ARGUMENTS.values(), _ENOSYS)):
        for number in filter(None, (one[column] for one in numbers)):
            yield _IF_EQUAL, 0, 1, number
            yield _RETURN, 0, 0, _ERRNO | errno
    yield from _refuse_if(_OPEN[column], 1, (_IF_ANY_BIT, 0, 1, _WRITE_FLAGS))
    yield from _refuse_if(_OPENAT[column], 2, (_IF_ANY_BIT, 0, 1, _WRITE_FLAGS))
    yield from _refuse_if(_CLONE[column], 0, (_IF_ANY_BIT, 1, 0, _CLONE_THREAD))
    yield from _refuse_if(_TGKILL[column], 0, (_IF_EQUAL, 1, 0, pid))
    yield _RETURN, 0, 0, _ALLOW


def _refuse_if(number: int | None, argument: int, test: Instruction) -> Iterator[Instruction]:
    """Refuse a call where the test of its argument continues with the next instruction."""
    if number is not None:
        yield _IF_EQUAL, 0, 4, number
        yield _LOAD, 0, 0, _ARGUMENT + 8 * argument
        yield test
        yield _RETURN, 0, 0, _ERRNO | _EPERM
        yield _RETURN, 0, 0, _ALLOW
