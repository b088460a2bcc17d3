"""The layers of settings: precedence, source of a value, and errors."""

from pathlib import Path

import pytest

from pincite.config.branches.retrieval import Rag
from pincite.config.settings import Settings
from pincite.config.sources import SettingsLayers, layers_of, load_settings, read_layers
from pincite.errors import SettingsError


def file(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "settings.toml"
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


def test_defaults_need_no_environment() -> None:
    assert load_settings(env={}).rag.top_k == 10


def test_the_environment_sets_any_key_by_its_name() -> None:
    settings = load_settings(env={"PINCITE_RAG__TOP_K": "7", "PINCITE_SERVER__ALLOWED_HOSTS": "a.example,b.example"})
    assert settings.rag.top_k == 7
    assert settings.server.allowed_hosts == ("a.example", "b.example")


def test_a_table_is_json_in_the_environment() -> None:
    assert load_settings(env={"PINCITE_CATEGORY_LABELS": '{"hr": "People"}'}).category_labels == {"hr": "People"}
    with pytest.raises(SettingsError, match="must be JSON"):
        load_settings(env={"PINCITE_CATEGORY_LABELS": "hr"})


def test_aliases_are_read_and_pincite_variables_win() -> None:
    assert load_settings(env={"LLM_MODEL": "theirs"}).llm.model == "theirs"
    assert load_settings(env={"LLM_MODEL": "theirs", "PINCITE_LLM__MODEL": "ours"}).llm.model == "ours"


def test_each_layer_wins_over_the_one_before(tmp_path: Path) -> None:
    file(tmp_path, "[rag]\ntop_k = 2\nalpha = 0.2\nrrf_k = 2\nef_search = 22\n")
    env = {
        "PINCITE_DATA": str(tmp_path),
        "PINCITE_RAG__ALPHA": "0.3",
        "PINCITE_RAG__RRF_K": "3",
        "PINCITE_RAG__EF_SEARCH": "33",
    }
    layers = read_layers({"rag.ef_search": 55}, env)
    changes = {"rag.rrf_k": 4, "rag.ef_search": 44}
    rag = layers.settings(changes).rag
    assert (rag.max_queries, rag.top_k, rag.alpha, rag.rrf_k, rag.ef_search) == (5, 2, 0.3, 4, 55)
    keys = ("rag.max_queries", "rag.top_k", "rag.alpha", "rag.rrf_k", "rag.ef_search")
    assert [layers.source(key, changes) for key in keys] == ["default", "file", "environment", "database", "call"]


def test_a_profile_overrides_changes_and_the_caller_overrides_a_profile() -> None:
    layers = SettingsLayers(passed={"rag.top_k": 3})
    rag = layers.settings({"rag.alpha": 0.1, "rag.top_k": 1}, profile={"rag.alpha": 0.3, "rag.top_k": 5}).rag
    assert (rag.alpha, rag.top_k) == (0.3, 3)


def test_explicit_values_of_settings_count_as_passed() -> None:
    layers = layers_of(Settings(rag=Rag(top_k=4)))
    assert layers.passed == {"rag.top_k": 4}
    assert layers.settings({"rag.top_k": 9, "rag.alpha": 0.1}).rag == Rag(top_k=4, alpha=0.1)


def test_the_path_of_the_settings_file_can_be_set(tmp_path: Path) -> None:
    path = file(tmp_path, '"rag.top_k" = 6\n[category_labels]\nhr = "People"\n')
    settings = load_settings(env={"PINCITE_SETTINGS": str(path)})
    assert (settings.rag.top_k, settings.category_labels) == (6, {"hr": "People"})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[rag]\ntopk = 3\n", "there is no setting 'rag.topk'; did you mean 'rag.top_k'"),
        ("rag = 3\n", "there is no setting 'rag'"),
        ("[rag\n", "is not TOML"),
        ("[rag]\ntop_k = true\n", "'rag.top_k'.*must be a whole number from 1 to 1000"),
    ],
)
def test_an_invalid_settings_file_is_a_one_line_error(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        load_settings(env={"PINCITE_SETTINGS": str(file(tmp_path, text))})


def test_a_missing_settings_file_is_an_error_if_its_path_is_set(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"there is no settings file.*PINCITE_SETTINGS"):
        load_settings(env={"PINCITE_SETTINGS": str(tmp_path / "none.toml")})


def test_a_file_in_the_data_folder_cannot_set_the_data_folder(tmp_path: Path) -> None:
    file(tmp_path, 'data = "/elsewhere"\n')
    with pytest.raises(SettingsError, match="cannot set 'data'"):
        load_settings({"data": tmp_path}, env={})


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644])
def test_a_file_with_a_secret_must_be_private(tmp_path: Path, mode: int) -> None:
    path = file(tmp_path, '[llm]\napi_key = "canary"\n', mode)
    with pytest.raises(SettingsError, match=f"chmod 600 {path}") as raised:
        load_settings({"data": tmp_path}, env={})
    assert "canary" not in str(raised.value)
    path.chmod(0o600)
    key = load_settings({"data": tmp_path}, env={}).llm.api_key
    assert key is not None
    assert key.get_secret_value() == "canary"


def test_a_file_without_secrets_may_be_read_by_all(tmp_path: Path) -> None:
    file(tmp_path, "[rag]\ntop_k = 3\n", 0o644)
    assert load_settings({"data": tmp_path}, env={}).rag.top_k == 3


@pytest.mark.parametrize(
    ("overrides", "env", "message"),
    [
        ({"rag.topk": 3}, {}, "did you mean 'rag.top_k'"),
        ({}, {"PINCITE_RAG__TOPK": "3"}, "did you mean 'PINCITE_RAG__TOP_K'"),
        ({}, {"PINCITE_SAVE": "1"}, "did you mean 'PINCITE_SAFE'"),
        ({"rag.top_k": 0}, {}, r"'rag.top_k' must be a whole number from 1 to 1000 \(was 0\)"),
        ({"rag.top_k": True}, {}, "'rag.top_k' must be a whole number"),
        ({"rag.fusion": "magic"}, {}, "'rag.fusion' must be 'relative_score' or 'rrf'"),
        ({}, {"PINCITE_RAG__ALPHA": "much"}, "'rag.alpha' must be a number from 0 to 1.*'much'"),
        ({}, {"PINCITE_RAG__ALPHA": "nan"}, "'rag.alpha' must be a number from 0 to 1"),
        ({"category_labels": {"hr": 5}}, {}, "'category_labels' must be a table"),
        ({}, {"PINCITE_SAFE": "maybe"}, "PINCITE_SAFE must be 1 or 0"),
    ],
)
def test_invalid_settings_are_one_line_errors(overrides: dict[str, object], env: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError, match=message) as raised:
        load_settings(overrides, env=env)
    assert "\n" not in str(raised.value)


def test_a_secret_is_never_shown() -> None:
    settings = load_settings({"llm.api_key": "canary-key"}, env={})
    assert "canary-key" not in repr(settings) + str(settings)
    for wrong in (["canary-url"], True):
        with pytest.raises(SettingsError) as raised:
            load_settings({"database.url": wrong}, env={})
        assert "canary-url" not in str(raised.value)


@pytest.mark.parametrize(("value", "safe"), [("1", True), ("true", True), ("0", False), ("", False)])
def test_safe_mode_is_read_from_the_environment(value: str, safe: bool) -> None:
    assert read_layers(env={"PINCITE_SAFE": value}).safe is safe


def test_an_empty_environment_variable_counts_as_unset() -> None:
    env = {"PINCITE_LLM__TEMPERATURE": "", "LLM_MODEL": "m", "PINCITE_LLM__MODEL": ""}
    settings = load_settings(env=env)
    assert (settings.llm.temperature, settings.llm.model) == (None, "m")
