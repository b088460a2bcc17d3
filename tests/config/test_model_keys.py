"""Keys of model servers in the data folder: kept for their owner, used with their own server."""

from pathlib import Path

import pytest

from pincite.config.model_keys import FILE_NAME, ModelKey, read_model_keys, write_model_key
from pincite.config.sources import SettingsLayers
from pincite.errors import SettingsError

KEY = ModelKey("ollama", "http://127.0.0.1:1", "sk-secret")


def test_keys_are_written_read_and_removed(tmp_path: Path) -> None:
    assert read_model_keys(tmp_path) == {}
    write_model_key(tmp_path, "llm", KEY)
    write_model_key(tmp_path, "llm.fallback", KEY)
    assert read_model_keys(tmp_path) == {"llm": KEY, "llm.fallback": KEY}
    assert (tmp_path / FILE_NAME).stat().st_mode & 0o777 == 0o600
    write_model_key(tmp_path, "llm", None)
    assert read_model_keys(tmp_path) == {"llm.fallback": KEY}
    assert "sk-secret" not in repr(KEY)


def test_a_damaged_file_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("[1]")
    with pytest.raises(SettingsError, match="delete it and enter the keys again"):
        read_model_keys(tmp_path)


def test_a_key_is_used_with_its_own_server_and_never_over_another_key() -> None:
    layers = SettingsLayers(model_keys={"llm": KEY})
    server = {"llm.provider": "ollama", "llm.base_url": "http://127.0.0.1:1"}
    found = layers.settings(server).llm.api_key
    assert found is not None
    assert found.get_secret_value() == "sk-secret"
    assert layers.settings({**server, "llm.base_url": "http://127.0.0.1:2"}).llm.api_key is None
    assert layers.settings().llm.api_key is None
    own = SettingsLayers(environment={"llm.api_key": "sk-own"}, model_keys={"llm": KEY}).settings(server).llm.api_key
    assert own is not None
    assert own.get_secret_value() == "sk-own"
