"""Passwords: hashed with Argon2, verified in the same time whether or not the user exists."""

from functools import cache
from typing import TYPE_CHECKING

from pincite.errors import Invalid

if TYPE_CHECKING:
    from argon2 import PasswordHasher

MIN_PASSWORD_CHARS, MAX_PASSWORD_CHARS = 10, 1000
"""Length limits of a new password in characters."""
_DUMMY_PASSWORD = "a password that nobody has"  # noqa: S105 - its hash is compared where there is no user


def check_new_password(password: str) -> None:
    """Raise `Invalid` if a new password is too short or too long."""
    if not MIN_PASSWORD_CHARS <= len(password) <= MAX_PASSWORD_CHARS:
        raise Invalid(
            f"a password must have {MIN_PASSWORD_CHARS} to {MAX_PASSWORD_CHARS} characters", code="weak_password"
        )


def hash_password(password: str) -> str:
    """Return the hash of a password, which is stored."""
    return _hasher().hash(password)


def verify_password(password: str, stored: str | None) -> bool:
    """Whether a password matches the stored hash; without a hash, it takes as long to return false."""
    from argon2.exceptions import InvalidHashError, VerificationError

    try:
        _hasher().verify(stored or _dummy_hash(), password[: MAX_PASSWORD_CHARS + 1])
    except (VerificationError, InvalidHashError):
        return False
    return stored is not None


@cache
def _hasher() -> "PasswordHasher":
    from argon2 import PasswordHasher

    return PasswordHasher()  # RFC 9106, second recommended option


@cache
def _dummy_hash() -> str:
    return _hasher().hash(_DUMMY_PASSWORD)
