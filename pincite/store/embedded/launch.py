"""Runs one of PostgreSQL's programs as the right account, with a clean environment, and detached if it is to stay.

This file runs by its path in a new interpreter: standard library only, and safe to change user and fork in.

    launch.py UID GID stay|wait NEEDED_PATH... -- PROGRAM ARGUMENT...
"""

import os
import signal
import sys

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}
"""The environment of PostgreSQL's programs, without the user's PG… variables."""

ADVICE = "run pincite as an ordinary user, or point PINCITE_DATABASE_URL at another server"
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2
PR_SET_SECUREBITS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE = 28, 47, 2
SECBIT_NO_SETUID_FIXUP = 4
CAPABILITY_VERSION = 0x20080522


def main(arguments: list[str]) -> None:
    """Change to the account, detach from the parent if requested, and execute the program."""
    split = arguments.index("--")
    (uid, gid, mode), needed, command = arguments[:3], arguments[3:split], arguments[split + 1 :]
    if os.geteuid() == 0:
        try:
            _become(int(uid), int(gid), [command[0], *needed])
        except OSError as error:
            sys.exit(f"error: cannot become user {uid} ({error.strerror}): {ADVICE}")
    if mode == "stay" and os.fork():
        os._exit(0)
    os.chdir("/")
    os.umask(0o077)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and the program would inherit that
        signal.signal(number, signal.SIG_DFL)
    os.execve(command[0], command, ENVIRONMENT)  # noqa: S606 - a fixed command, without a shell


def _become(uid: int, gid: int, needed: list[str]) -> None:
    """Drop root permanently, except for the right to pass closed folders where a needed path is inside one."""
    os.setgroups([])
    os.setgid(gid)
    os.setreuid(uid, 0)  # os.access checks the real user, who now has no privileges
    hidden = [path for path in needed if not os.access(path, os.R_OK | os.X_OK)]
    if not hidden:
        os.setuid(uid)
    elif sys.platform == "linux":
        _become_with_passage(uid, hidden)
    else:
        sys.exit(f"error: user {uid} cannot reach {hidden[0]}: {ADVICE}")


def _become_with_passage(uid: int, hidden: list[str]) -> None:
    """Change to the user, and keep one capability across exec: to pass through folders that are closed to it."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)

    def call(name: str, *values: object) -> None:
        if getattr(libc, name)(*values) != 0:
            raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")

    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice, for the upper 32 capabilities
    call("capget", header, sets)
    # Searching folders is the smaller right, but it does not allow executing a file that is closed to others.
    closed_program = any(os.path.isfile(path) and not os.stat(path).st_mode & 0o001 for path in hidden)
    wanted = (CAP_DAC_OVERRIDE,) if closed_program else (CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE)
    permitted = [capability for capability in wanted if sets[1] >> capability & 1]
    if not permitted:
        sys.exit(f"error: user {uid} cannot reach {hidden[0]}, and this process may not allow it: {ADVICE}")
    # Otherwise the kernel drops the capabilities with root, and ignores them where initdb calls access(2).
    call("prctl", PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0)
    os.setuid(uid)
    # Exactly one capability in all sets: with more, the loader would not trust the program and not find its libraries.
    bit = 1 << permitted[0]
    call("capset", header, (ctypes.c_uint32 * 6)(bit, bit, bit, 0, 0, 0))
    call("prctl", PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, permitted[0], 0, 0)


if __name__ == "__main__":
    main(sys.argv[1:])
