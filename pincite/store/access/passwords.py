"""Passwords: hashed by argon2, compared in equal time whether or not there is anybody to compare with."""

from functools import cache
from typing import TYPE_CHECKING

from pincite.errors import Invalid

if TYPE_CHECKING:
    from argon2 import PasswordHasher

SHORTEST, LONGEST = 10, 1000
_NOBODY = "a password that nobody has"


def check_new(password: str) -> None:
    """Raise `Invalid` for a password that is no good as a new one."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise Invalid(f"a password has {SHORTEST} to {LONGEST} characters", code="weak_password")


def hashed(password: str) -> str:
    """What is kept of a password."""
    return _hasher().hash(password)


def matches(password: str, kept: str | None) -> bool:
    """Whether a password is the one that was hashed; where none was, it takes as long to say no."""
    from argon2.exceptions import InvalidHashError, VerificationError

    try:
        _hasher().verify(kept or _nobodys(), password[: LONGEST + 1])
    except (VerificationError, InvalidHashError):
        return False
    return kept is not None


@cache
def _hasher() -> "PasswordHasher":
    from argon2 import PasswordHasher

    return PasswordHasher()  # RFC 9106, second recommended option


@cache
def _nobodys() -> str:
    return _hasher().hash(_NOBODY)
