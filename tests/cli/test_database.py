"""The command database check."""

from pathlib import Path

import pytest

from .terminal import Call, call


def test_a_complete_database_is_told_so(library: Call) -> None:
    told = library("database", "check", "--json")
    assert (told.code, told.json["ok"]) == (0, True)
    assert {one["name"] for one in told.json["checks"]} == {"connection", "server", "pgvector", "role", "schema"}


def test_what_is_missing_is_told_with_its_sql(empty_database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PINCITE_DATABASE_URL", empty_database_url)
    told = call("database", "check")
    assert told.code == 1
    assert "create extension vector" in told.words


def test_the_embedded_database_needs_no_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PINCITE_DATABASE_URL", raising=False)
    assert "needs no check" in call("--data", tmp_path, "database", "check").failed_with(2)
