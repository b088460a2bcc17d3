import pytest

from pincite.errors import Invalid
from pincite.store.access.passwords import check_new_password, hash_password, verify_password


def test_a_password_matches_its_hash_and_no_other() -> None:
    kept = hash_password("correct horse battery")
    assert kept.startswith("$argon2id$")
    assert "correct" not in kept
    assert verify_password("correct horse battery", kept)
    assert not verify_password("correct horse batterz", kept)
    assert not verify_password("", kept)


def test_without_a_user_every_password_is_wrong() -> None:
    assert not verify_password("a password that nobody has", None)


def test_an_invalid_hash_matches_no_password() -> None:
    assert not verify_password("anything", "not a hash")


@pytest.mark.parametrize("password", ["", "short", "x" * 1001])
def test_a_password_too_short_or_too_long_is_refused(password: str) -> None:
    with pytest.raises(Invalid):
        check_new_password(password)
