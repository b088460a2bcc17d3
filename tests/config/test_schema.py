"""The catalogue: allowed values, when a change takes effect, and who may change a setting."""

import json

import pytest

from pincite.config.schema import ACTS, LOCAL_ONLY, catalogue, find, is_set, parse_value, value_of, without_password
from pincite.config.sources import load_settings


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("rag.top_k", "a whole number from 1 to 1000"),
        ("rag.fusion", "'relative_score' or 'rrf'"),
        ("rag.use_hybrid_search", "true or false"),
        ("rag.exact_rows", "a whole number from 0 to 10000000"),
        ("llm.timeout_s", "a number over 0, at most 3600"),
        ("server.allowed_hosts", "a list of texts (on the command line separated by commas)"),
        ("category_labels", "a table of texts (on the command line as JSON)"),
        ("llm.model", "text"),
        ("llm.top_p", "a number from 0 to 1"),
    ],
)
def test_allowed_values_are_described(name: str, allowed: str) -> None:
    assert catalogue()[name].allowed == allowed


@pytest.mark.parametrize(
    ("name", "acts"),
    [
        ("data", "start"),
        ("database.pool_size", "start"),
        ("server.port", "start"),
        ("ingest.workers", "start"),
        ("chunking.size", "index"),
        ("embedding.model", "index"),
        ("embedding.timeout_s", "query"),
        ("rag.alpha", "query"),
        ("llm.model", "query"),
        ("guard.max_query_chars", "query"),
    ],
)
def test_when_a_setting_takes_effect(name: str, acts: str) -> None:
    assert catalogue()[name].acts == acts


def test_the_tables_hold_only_existing_settings() -> None:
    names = set(catalogue())
    for prefix in (*ACTS, *LOCAL_ONLY):
        assert any(name == prefix or name.startswith(f"{prefix}.") for name in names), prefix


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("llm.api_key", "secrets are never stored.*PINCITE_LLM__API_KEY"),
        ("database.url", "secrets are never stored"),
        ("server.port", "only when a process starts.*PINCITE_SERVER__PORT"),
        ("embedding.path", "outside the library"),
        ("access.administrators_read", "by the owner of this machine only"),
    ],
)
def test_a_fixed_setting_gives_the_reason_and_the_remedy(name: str, reason: str) -> None:
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(catalogue()[name].fixed)


def test_every_secret_is_fixed_and_nothing_else_is_a_secret() -> None:
    secrets = {key.name for key in catalogue().values() if key.secret}
    assert {"llm.api_key", "embedding.api_key", "database.url"} <= secrets
    assert all(name.endswith(("api_key", "url", "read_urls", "client_secret")) for name in secrets)
    assert all(catalogue()[name].fixed for name in secrets)


def test_every_default_is_plain_json() -> None:
    defaults = {name: key.default for name, key in catalogue().items()}
    assert json.loads(json.dumps(defaults)) == defaults


def test_values_are_plain_json_and_secrets_are_none() -> None:
    settings = load_settings({"llm.api_key": "canary", "server.allowed_hosts": "a,b", "data": "/x"}, env={})
    assert value_of(settings, "llm.api_key") is None
    assert (is_set(settings, "llm.api_key"), is_set(settings, "embedding.api_key")) == (True, False)
    assert value_of(settings, "server.allowed_hosts") == ["a", "b"]
    assert value_of(settings, "data") == "/x"


def test_an_address_is_shown_without_its_password() -> None:
    assert without_password("http://user:secret@host/v1?key=secret") == "http://host/v1"
    assert without_password("what? a#b") == "what? a#b"
    assert without_password(5) == 5


def test_text_is_parsed_as_a_list_or_a_table() -> None:
    hosts, labels, top_k = (catalogue()[name] for name in ("server.allowed_hosts", "category_labels", "rag.top_k"))
    assert parse_value(hosts, "a, b,,c") == ("a", "b", "c")
    assert parse_value(labels, '{"hr": "People"}') == {"hr": "People"}
    for key, wrong in ((labels, "hr"), (top_k, True), (catalogue()["llm.model"], "a\0b")):
        with pytest.raises(ValueError, match="must"):
            parse_value(key, wrong)
    assert find("no.such") is None


@pytest.mark.parametrize("value", [{"a\0": "b"}, {"a": "\ud800"}, '{"a": "\\u0000"}'])
def test_a_table_holds_no_characters_that_cannot_be_stored(value: object) -> None:
    with pytest.raises(ValueError, match="cannot be stored"):
        parse_value(catalogue()["category_labels"], value)


def test_a_too_deeply_nested_table_is_an_error() -> None:
    with pytest.raises(ValueError, match="must be JSON"):
        parse_value(catalogue()["category_labels"], '{"a":' * 100_000)
