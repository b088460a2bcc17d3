"""The command that tunes settings."""

import json
from pathlib import Path

import pytest

from .terminal import Call

TREES = "alder birch cedar dogwood elm fir ginkgo hazel ivy juniper".split()


@pytest.fixture
def own(pincite: Call, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """A library of its own, and questions about it."""
    monkeypatch.setenv("PINCITE_DATABASE_URL", database_url)
    monkeypatch.setenv("PINCITE_DATA", str(tmp_path / "data"))
    (tmp_path / "docs").mkdir()
    rows = []
    for n, tree in enumerate(TREES):
        (tmp_path / "docs" / f"{tree}.md").write_text(
            f"# {tree}\n\nThe zq{tree} rule is number {n}.\n", encoding="utf-8"
        )
        rows += [{"q": f"What is the zq{tree} rule{mark}", "gold": [[f"number {n}"]]} for mark in ("?", " again?")]
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert pincite("add", tmp_path / "docs").code == 0
    return pincite


def test_the_change_is_proposed_applied_and_undone(own: Call, tmp_path: Path) -> None:
    assert own("settings", "set", "guard.max_query_chars=5").code == 0
    only = ("--only", "--try", "guard.max_query_chars=200", "--try", "rag.top_k=3")
    proposed = own("tune", tmp_path / "mine.jsonl", *only)
    assert proposed.code == 0, proposed.err
    assert "10 questions to choose, 10 to confirm" in proposed.out
    assert "guard.max_query_chars  5 → 200" in proposed.out
    assert "time per question" in proposed.out
    assert "not applied; --yes applies the change" in proposed.err
    told = own("tune", *only, "--yes", "--json").json  # the newest imported set
    assert (told["applied"], told["proposal"]["after"]) == (True, {"guard.max_query_chars": 200})
    assert own("settings", "get", "guard.max_query_chars", "--json").json["value"] == 200
    again = own("tune", "--only", "--try", "rag.top_k=3")
    assert "No change is proposed: no change is better beyond noise." in again.out
    assert own("settings", "undo").code == 0
    assert own("settings", "get", "guard.max_query_chars", "--json").json["value"] == 5


def test_questions_made_from_documents_are_named_and_wrong_calls_refused(own: Call) -> None:
    made = own("tune", "--only", "--try", "rag.top_k=3")
    assert "they measure search only" in made.err
    assert "--only requires --try" in own("tune", "--only").failed_with(2)
    assert "--set cannot be combined" in own("tune", "--set", "rag.top_k=3").failed_with(2)
    assert "there is no question set 'es_none'" in own("tune", "es_none").failed_with(1)
