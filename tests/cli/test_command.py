"""The common options of all commands."""

from pathlib import Path

import pytest

from pincite.cli.command import parse_settings
from pincite.errors import SettingsError

from .terminal import Call, call


def test_settings_are_keys_and_values() -> None:
    assert parse_settings(["rag.top_k=5", "llm.base_url=http://x/?a=b", " rag.alpha = 0.3 "]) == {
        "rag.top_k": "5",
        "llm.base_url": "http://x/?a=b",
        "rag.alpha": "0.3",
    }


@pytest.mark.parametrize("pair", ["rag.top_k", "=5", ""])
def test_an_invalid_setting_is_refused(pair: str) -> None:
    with pytest.raises(SettingsError, match="KEY=VALUE"):
        parse_settings([pair])


@pytest.mark.parametrize("key", ["llm.api_key", "embedding.api_key", "database.url"])
def test_a_secret_does_not_belong_on_the_command_line(key: str) -> None:
    told = call("list", "--set", f"{key}=hush").failed_with(2)
    assert f"PINCITE_{key.upper().replace('.', '__')}" in told
    assert "hush" not in told


def test_an_unknown_setting_names_the_nearest() -> None:
    assert call("list", "--set", "rag.topk=5").failed_with(2) == (
        "there is no setting 'rag.topk'; did you mean 'rag.top_k'?"
    )


def test_a_value_that_cannot_work_is_refused() -> None:
    assert "rag.top_k" in call("list", "--set", "rag.top_k=many").failed_with(2)


def test_an_unknown_provider_names_those_there_are() -> None:
    told = call("list", "--set", "embedding.provider=magic").failed_with(2)
    assert (
        told
        == "there is no embedder called 'magic'; there are: embed_server, minilm, ollama, openai_compatible, pincite_embed, scripted"
    )


def test_a_setting_applies_to_this_call_and_the_last_one_wins(library: Call) -> None:
    said = library("search", "key cup cat diesel", "--json", "--set", "rag.top_k=1", "--set", "rag.top_k=2")
    assert len(said.json["results"]) == 2
    assert len(library("search", "key cup cat diesel", "--json").json["results"]) > 2


def test_the_last_data_folder_wins_wherever_it_stands(pincite: Call, tmp_path: Path) -> None:
    first, last = tmp_path / "first", tmp_path / "last"
    assert pincite("--data", first, "list", "--data", last, "--json").code == 0
    assert last.is_dir()
    assert not first.exists()
    assert pincite("--data", first, "list").code == 0
    assert first.is_dir()


def test_a_data_folder_that_is_a_file_is_one_line(pincite: Call, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert str(tmp_path / "file") in pincite("list", "--data", tmp_path / "file").failed_with(1)


def test_an_empty_data_folder_is_not_the_current_one() -> None:
    assert call("list", "--data", "").failed_with(2) == "--data is empty; name a folder"
