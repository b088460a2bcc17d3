"""The settings tree: frozen, with descriptions and valid aliases."""

import pytest

from pincite.config.settings import ALIASES, Settings, environment_name, iter_fields


def test_settings_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings().rag.top_k = 5  # type: ignore[misc]


def test_every_setting_has_a_description() -> None:
    for key, field in iter_fields():
        assert field.description, key
        assert environment_name(key).startswith("PINCITE_")


def test_every_alias_names_a_setting() -> None:
    assert set(ALIASES.values()) <= {key for key, _ in iter_fields()}


def test_a_snapshot_and_its_copies_keep_the_revision() -> None:
    before = Settings()
    after = before.at(7)
    assert (before.revision, after.revision) == (0, 7)
    assert after.rag == before.rag
