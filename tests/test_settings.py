import pytest

from pincite.errors import SettingsError
from pincite.settings import ALIASES, Settings, describe, environment_name, load_settings


def test_defaults_need_nothing() -> None:
    assert load_settings(env={}).rag.top_k == 10


def test_the_environment_sets_any_key_by_its_name() -> None:
    settings = load_settings(env={"PINCITE_RAG__TOP_K": "7", "PINCITE_SERVER__ALLOWED_HOSTS": "a.example,b.example"})
    assert settings.rag.top_k == 7
    assert settings.server.allowed_hosts == ("a.example", "b.example")


def test_a_table_is_json_in_the_environment() -> None:
    assert load_settings(env={"PINCITE_CATEGORY_LABELS": '{"hr": "People"}'}).category_labels == {"hr": "People"}
    with pytest.raises(SettingsError, match="must be JSON"):
        load_settings(env={"PINCITE_CATEGORY_LABELS": "hr"})


def test_names_of_other_systems_are_read_and_ours_win() -> None:
    assert load_settings(env={"LLM_MODEL": "theirs"}).llm.model == "theirs"
    assert load_settings(env={"LLM_MODEL": "theirs", "PINCITE_LLM__MODEL": "ours"}).llm.model == "ours"


def test_every_alias_names_a_setting() -> None:
    keys = {key for key, _ in describe()}
    assert set(ALIASES.values()) <= keys


def test_what_is_passed_in_wins_over_the_environment() -> None:
    assert load_settings({"rag.top_k": 3}, env={"PINCITE_RAG__TOP_K": "7"}).rag.top_k == 3


@pytest.mark.parametrize(
    ("overrides", "env", "message"),
    [
        ({"rag.topk": 3}, {}, "did you mean 'rag.top_k'"),
        ({}, {"PINCITE_RAG__TOPK": "3"}, "did you mean 'PINCITE_RAG__TOP_K'"),
        ({"rag.top_k": 0}, {}, "'rag.top_k'.*greater than or equal to 1"),
        ({"rag.fusion": "magic"}, {}, "'rag.fusion'.*'relative_score' or 'rrf'"),
        ({}, {"PINCITE_RAG__ALPHA": "much"}, "'rag.alpha'.*number"),
    ],
)
def test_wrong_settings_are_refused_in_one_line(
    overrides: dict[str, object], env: dict[str, str], message: str
) -> None:
    with pytest.raises(SettingsError, match=message) as raised:
        load_settings(overrides, env=env)
    assert "\n" not in str(raised.value)


def test_a_secret_is_never_shown() -> None:
    settings = load_settings({"llm.api_key": "canary-key"}, env={})
    assert "canary-key" not in repr(settings) + str(settings)
    with pytest.raises(SettingsError) as raised:
        load_settings({"database.url": ["canary-url"]}, env={})
    assert "canary-url" not in str(raised.value)


def test_settings_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings().rag.top_k = 5  # type: ignore[misc]


def test_every_setting_says_what_it_is() -> None:
    for key, field in describe():
        assert field.description, key
        assert environment_name(key).startswith("PINCITE_")
