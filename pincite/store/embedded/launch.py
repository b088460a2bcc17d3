"""Runs one of PostgreSQL's programs: as the right account, with a clean environment, left alone if it is to stay.

Run by its path in a fresh interpreter: standard library only, and safe to change user and fork in.

    launch.py UID GID stay|wait NEEDED_PATH... -- PROGRAM ARGUMENT...
"""

import os
import signal
import sys

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}
"""What PostgreSQL sees: no PG… variable of the user may change what it does."""

ADVICE = "run pincite as an ordinary user, or point PINCITE_DATABASE_URL at another server"
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2
PR_SET_SECUREBITS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE = 28, 47, 2
SECBIT_NO_SETUID_FIXUP = 4
CAPABILITY_VERSION = 0x20080522


def main(arguments: list[str]) -> None:
    """Become the account, leave the parent if asked to, and turn into the program."""
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
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and a program inherits that
        signal.signal(number, signal.SIG_DFL)
    os.execve(command[0], command, ENVIRONMENT)  # noqa: S606 - the command is ours, and no shell is wanted


def _become(uid: int, gid: int, needed: list[str]) -> None:
    """Give up root for good, except, where a needed path lies behind closed folders, the right to pass them."""
    os.setgroups([])
    os.setgid(gid)
    os.setreuid(uid, 0)  # os.access asks for the real user, who now has no privileges
    hidden = [path for path in needed if not os.access(path, os.R_OK | os.X_OK)]
    if not hidden:
        os.setuid(uid)
    elif sys.platform == "linux":
        _become_with_passage(uid, hidden)
    else:
        sys.exit(f"error: user {uid} cannot reach {hidden[0]}: {ADVICE}")


def _become_with_passage(uid: int, hidden: list[str]) -> None:
    """Become the user but keep, across exec, one capability: to pass through folders closed to it."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)

    def call(name: str, *values: object) -> None:
        if getattr(libc, name)(*values) != 0:
            raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")

    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice, for the upper 32 capabilities
    call("capget", header, sets)
    # Searching folders is the smaller right, but it does not cover executing a file closed to others.
    closed_program = any(os.path.isfile(path) and not os.stat(path).st_mode & 0o001 for path in hidden)
    wanted = (CAP_DAC_OVERRIDE,) if closed_program else (CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE)
    held = [capability for capability in wanted if sets[1] >> capability & 1]
    if not held:
        sys.exit(f"error: user {uid} cannot reach {hidden[0]}, and this process may not let it: {ADVICE}")
    # Otherwise the kernel takes the capabilities away with root, and ignores them where initdb asks access(2).
    call("prctl", PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0)
    os.setuid(uid)
    # Exactly one capability in all sets: with more, the loader would distrust the program and not find its libraries.
    bit = 1 << held[0]
    call("capset", header, (ctypes.c_uint32 * 6)(bit, bit, bit, 0, 0, 0))
    call("prctl", PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, held[0], 0, 0)


if __name__ == "__main__":
    main(sys.argv[1:])
