"""The commands for settings, and that a running service follows them."""

import json
import os
import signal
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.steady_clock import now

from .terminal import Call, call, start

pytestmark = pytest.mark.usefixtures("built_in_reader")


@pytest.fixture
def own(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """The command line on a library nobody else changes."""
    for name, value in _environment(database_url, tmp_path).items():
        monkeypatch.setenv(name, value)
    return call


def _environment(url: str, folder: Path) -> dict[str, str]:
    return {
        "PINCITE_DATABASE_URL": url,
        "PINCITE_DATA": str(folder / "data"),
        "PINCITE_EMBEDDING__PROVIDER": "scripted",
        "PINCITE_LLM__API_KEY": "canary-key",
        "COLUMNS": "100",
    }


def test_settings_are_set_listed_and_undone(own: Call) -> None:
    said = own("settings", "set", "rag.top_k", "3", "rag.alpha=0.25")
    assert (said.code, said.out) == (0, "rag.top_k  10 → 3\nrag.alpha  0.5 → 0.25\n")
    assert own("settings", "set", "rag.top_k", "3").out == "Nothing changed: the settings have these values already.\n"
    listed = own("settings", "list", "--changed").out
    assert "rag.top_k" in listed
    assert "rag.rrf_k" not in listed
    assert "canary-key" not in listed
    [line] = [line for line in listed.splitlines() if line.startswith("rag.top_k")]
    assert line.split() == ["rag.top_k", "3", "database", "next", "request"]
    assert "environment" in next(line for line in listed.splitlines() if line.startswith("embedding.provider"))
    got = own("settings", "get", "rag.top_k", "--json").json
    assert (got["value"], got["source"], got["default"], got["maximum"]) == (3, "database", 10, 1000)
    assert own("settings", "undo").code == 0
    assert own("settings", "get", "rag.top_k", "--json").json["value"] == 10
    assert "no change left" in own("settings", "undo").failed_with(2)


def test_reset_removes_one_change(own: Call) -> None:
    own("settings", "set", "rag.top_k", "3", "rag.rrf_k", "9")
    assert own("settings", "reset", "rag.top_k").out == "rag.top_k  3 → 10\n"
    values = own("settings", "list", "--json").json["values"]
    assert (values["rag.top_k"], values["rag.rrf_k"]) == (10, 9)


def test_one_setting_is_shown_with_all_there_is_to_say(own: Call) -> None:
    said = own("settings", "get", "rag.fusion").words
    assert "rag.fusion relative_score default" in said
    assert "May be 'relative_score' or 'rrf'; relative_score by default." in said
    assert "PINCITE_RAG__FUSION" in said
    assert "secrets are never stored" in own("settings", "get", "llm.api_key").words
    assert "canary-key" not in own("settings", "get", "llm.api_key").out


def test_the_history_lists_batches(own: Call) -> None:
    assert own("settings", "history").out == "No setting has been changed yet.\n"
    own("settings", "set", "rag.top_k", "3", "rag.alpha", "0.1")
    own("settings", "undo")
    lines = own("settings", "history").out.splitlines()
    assert "undoes 1 by local" in lines[0]
    assert lines[3].endswith("set by local  undone")
    assert lines[4].split() == ["rag.top_k", "as", "configured", "→", "3"]
    items = own("settings", "history", "--json").json["items"]
    assert [one["batch"] for one in items] == [2, 2, 1, 1]


def test_a_profile_is_compared_then_applied(own: Call) -> None:
    before = own("settings", "diff", "adaptive", "--json").json
    assert {"key": "rag.fusion", "from": "relative_score", "to": "rrf"} in before["items"]
    assert own("settings", "diff").words.startswith("setting default now")
    assert "rag.fusion relative_score → rrf" not in own("settings", "list").words
    applied = own("settings", "apply", "adaptive")
    assert "rag.fusion  relative_score → rrf" in applied.out
    assert "Nothing differs from the profile adaptive." in own("settings", "diff", "adaptive").out
    assert "there are: default, zoeflow" in own("settings", "apply", "nobody").failed_with(2)


def test_differences_from_the_defaults_are_json_whatever_was_set(own: Call) -> None:
    told = own("settings", "diff", "--json").json
    assert {one["key"] for one in told["items"]} == {"data", "embedding.provider"}
    assert all(isinstance(one["from"], str) and isinstance(one["to"], str) for one in told["items"])


def test_a_pipe_gets_every_key_whole(own: Call) -> None:
    assert "\nconversation.query_rewriting_enabled  true " in own("settings", "list").out


def test_the_schema_lists_every_setting(own: Call) -> None:
    from pincite.config.schema import catalogue

    assert [one["key"] for one in own("settings", "schema", "--json").json["items"]] == list(catalogue())
    assert "a whole number from 1 to 1000" in own("settings", "schema").words


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["rag.topk", "3"], "did you mean 'rag.top_k'"),
        (["rag.top_k", "many"], "a whole number from 1 to 1000"),
        (["rag.top_k", "-1"], "a whole number from 1 to 1000"),
        (["llm.api_key", "canary"], "secrets are never stored"),
        (["llm.provider", "evil.module"], "dotted path only from the environment"),
        (["server.port", "1"], "only when a process starts"),
        (["rag.top_k"], "there is no value for 'rag.top_k'"),
        (["rag.top_k=1", "rag.top_k=2"], "given twice"),
    ],
)
def test_an_invalid_change_is_one_line(own: Call, arguments: list[str], told: str) -> None:
    said = own("settings", "set", *arguments).failed_with(2)
    assert told in said
    assert "canary" not in said


def test_safe_mode_says_so_wherever_settings_are_shown(own: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    own("settings", "set", "rag.top_k", "3")
    monkeypatch.setenv("PINCITE_SAFE", "1")
    for words in (("list",), ("get", "rag.top_k")):
        assert "PINCITE_SAFE is set" in own("settings", *words).out
    shown = own("settings", "list", "--json").json
    assert (shown["safe"], shown["values"]["rag.top_k"]) == (True, 10)
    assert "PINCITE_SAFE is set" in own("settings", "set", "rag.alpha", "0.1").words


def test_the_doctor_checks_the_current_settings(own: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PINCITE_LLM__API_KEY")
    own("settings", "set", "llm.base_url", "http://127.0.0.1:9/v1", "llm.model", "mine")
    findings = {one["name"]: one["found"] for one in own("doctor", "--json").json["checks"]}
    assert findings["answers"].startswith("mine at http://127.0.0.1:9/v1")


FIVE_STAGE = {
    "RETRIEVAL_TOP_K": ("rag.top_k", 3, 10),
    "RELEVANCE_THRESHOLD": ("rag.similarity_threshold", 0.5, 0.15),
    "MAX_CONTEXT_TOKENS": ("context.max_tokens", 100, 2000),
    "LLM_TEMPERATURE": ("llm.temperature", 0.9, 0.3),
    "LLM_MAX_TOKENS": ("llm.max_tokens", 77, 500),
}
"""The variables of the five-stage design: the setting of each, a value, and the value of the profile."""


def test_the_environment_acts_over_a_profile_that_is_applied_after_it(
    own: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, (_, value, _) in FIVE_STAGE.items():
        monkeypatch.setenv(name, str(value))
    said = " ".join(own("settings", "apply", "five-stage").out.split())
    for name, (key, value, other) in FIVE_STAGE.items():
        got = own("settings", "get", key, "--json").json
        assert (got["value"], got["source"]) == (value, "environment")
        assert f"{key} is {value}: the environment sets it ({name}); the profile five-stage has {other}" in said
    assert own("settings", "get", "confidence.rule", "--json").json["value"] == "counted"


def test_a_variable_that_the_database_overrides_is_reported(own: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    own("settings", "apply", "five-stage")
    for name, (_, value, _) in FIVE_STAGE.items():
        monkeypatch.setenv(name, str(value))
    for name, (key, _, other) in list(FIVE_STAGE.items())[1:]:
        shown = " ".join(own("settings", "get", key).out.split())
        reason = (
            f"{name} of the environment is not used: the database has {other}; to use it: pincite settings reset {key}"
        )
        assert reason in shown
    listed = own("settings", "list", "--json").json
    assert set(listed["overridden"]) == {key for key, _, _ in list(FIVE_STAGE.values())[1:]}  # top_k is 10 by default
    own("settings", "reset", "context.max_tokens")
    assert own("settings", "get", "context.max_tokens", "--json").json["value"] == 100
    assert "of the environment is not used" not in own("settings", "get", "context.max_tokens").out


def test_a_question_may_name_a_profile(library: Call) -> None:
    found = library("search", "generator key", "--profile", "zoeflow", "--json").json
    assert found["strategy"] == "dense_only"
    asked = library("ask", "Where is the key?", "--profile", "five-stage", "--json").json
    assert {note["stage"] for note in asked["degraded"]} == {"profile"}
    assert [note["reason"].split(" is made for ")[1].split(",")[0] for note in asked["degraded"]] == [
        "the language model llama-3.1-8b-instant",
        "the embedding model pincite_embed",
    ]
    assert "there are: default" in library("ask", "x", "--profile", "nobody").failed_with(2)


class Service:
    """A `pincite serve` of its own, in a process of its own."""

    def __init__(self, env: dict[str, str]) -> None:
        self.process = start("serve", "--port", "0", "--json", **env)
        assert self.process.stdout is not None
        lines = ""
        while not lines.rstrip().endswith("}"):
            lines += self.process.stdout.readline()
        self.address = json.loads(lines)["address"]

    def settings(self, key: str) -> dict[str, Any]:
        request = urllib.request.Request(f"{self.address}/api/v1/settings", headers={"Authorization": f"Bearer {key}"})
        with urllib.request.urlopen(request, timeout=20) as response:
            return dict(json.load(response)["values"])


@pytest.fixture
def service(database_url: str, tmp_path: Path) -> Iterator[Service]:
    env = _environment(database_url, tmp_path)
    running = Service(env)
    try:
        yield running
    finally:
        os.kill(running.process.pid, signal.SIGINT)
        running.process.wait(30)


@pytest.mark.slow
def test_a_running_service_follows_the_command_line_within_a_second(own: Call, service: Service) -> None:
    key = own("key", "create", "--name", "test", "--json").json["key"]
    assert service.settings(key)["rag.top_k"] == 10
    changing = start("settings", "set", "rag.top_k", "3", "--json")
    out, err = changing.communicate(timeout=60)
    stored = now()
    assert json.loads(out)["changes"][0]["after"] == 3, err
    while service.settings(key)["rag.top_k"] != 3:
        assert now() - stored < 1.0
