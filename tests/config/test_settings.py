"""The tree: frozen, described, and complete in its names."""

import pytest

from pincite.config.settings import ALIASES, Settings, describe, environment_name


def test_settings_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings().rag.top_k = 5  # type: ignore[misc]


def test_every_setting_says_what_it_is() -> None:
    for key, field in describe():
        assert field.description, key
        assert environment_name(key).startswith("PINCITE_")


def test_every_alias_names_a_setting() -> None:
    assert set(ALIASES.values()) <= {key for key, _ in describe()}


def test_a_snapshot_knows_its_revision_and_its_copies_do_too() -> None:
    before = Settings()
    after = before.at(7)
    assert (before.revision, after.revision) == (0, 7)
    assert after.rag == before.rag
