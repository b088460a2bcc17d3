"""Settings as statements."""

from pincite.store.local_settings import CACHE_PERMISSIONS, bound_settings


def test_values_are_bound_and_never_part_of_the_statement() -> None:
    made = bound_settings({"pincite.person": "a'); drop table x --"})
    assert b"drop" not in made.statement
    assert made.values == [*(value.encode() for value in CACHE_PERMISSIONS.values()), b"a'); drop table x --"]
    assert made.statement.count(b"set_config(") == 1 + len(CACHE_PERMISSIONS)
