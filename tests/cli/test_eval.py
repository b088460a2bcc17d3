"""The commands for evaluation."""

import json
from pathlib import Path

import pytest

from tests.evaluate.makers import write_answer_set, write_questions, write_set

from .terminal import Call


def test_one_folder_or_ones_own_documents_and_nothing_else(pincite: Call, tmp_path: Path) -> None:
    assert "give one question set, or --auto" in pincite("eval", "run").failed_with(2)
    assert "there is no folder" in pincite("eval", tmp_path / "none").failed_with(1)
    assert "no qrels.tsv" in pincite("eval", tmp_path).failed_with(1)
    assert "give settings with --compare" in pincite("eval", tmp_path, "rag.alpha=1").failed_with(2)
    assert "--keep requires a folder with a question set" in pincite("eval", "--auto", "--keep", tmp_path).failed_with(
        2
    )
    assert "a .md or .json file" in pincite("eval", tmp_path, "--report", "r.txt").failed_with(2)
    assert "no way to make questions 'magic'" in pincite("eval", "--auto", "--by", "magic").failed_with(2)
    assert "no setting 'rag.alfa'" in pincite("eval", tmp_path, "--compare", "rag.alfa=1").failed_with(2)


def test_help_names_the_three_commands(pincite: Call) -> None:
    told = pincite("eval", "--help").out
    assert all(name in told for name in ("run", "list", "show", "pincite eval FILE"))


@pytest.mark.slow
def test_a_set_is_compared_reported_and_its_index_used_again(pincite: Call, tmp_path: Path) -> None:
    folder = write_set(tmp_path / "tiny", packed=True)
    options = ("--keep", tmp_path / "keep", "--set", "rag.use_hybrid_search=true")
    said = pincite("eval", folder, *options, "--compare", "rag.alpha=0", "rag.alpha=.2", "--report", tmp_path / "r.md")
    assert said.code == 0, said.err
    assert "tiny  3 documents, 3 questions" in said.out
    assert "nDCG@10 of rag.alpha=0: 1.0000 [1.000, 1.000]" in said.out
    assert "rag.alpha=.2: " in said.out
    assert "within noise" in said.out
    assert (tmp_path / "r.svg").read_text(encoding="utf-8").startswith("<svg")
    told = pincite("eval", folder, *options, "--json").json
    assert told["questions"] == 3
    assert told["trials"][0]["measures"]["recall@5"]["value"] > 0
    assert pincite("list", "--json").json["items"] is not None  # one's own library never hears of it
    assert not any(one["name"] == "0.md" for one in pincite("list", "--json").json["items"])


@pytest.fixture
def own(pincite: Call, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """A library of its own with one of the sample documents."""
    monkeypatch.setenv("PINCITE_DATABASE_URL", database_url)
    monkeypatch.setenv("PINCITE_DATA", str(tmp_path / "data"))
    assert pincite("add", Path(__file__).parents[2] / "examples" / "documents" / "station-handbook.md").code == 0
    return pincite


def test_ones_own_documents_are_measured_and_the_next_run_says_what_changed(own: Call) -> None:
    assert "There is no question set yet" in own("eval", "list").out
    first = own("eval", "--auto", "--questions", "20")
    assert first.code == 0, first.err
    assert "your set 1  20 questions, made by rules" in first.out
    assert "this change" not in first.out
    assert "they measure search only" in first.err
    again = own("eval", "--auto", "--set", "rag.alpha=0.1")
    assert "this change: " in again.out
    assert "rag.alpha  default → 0.1" in again.out
    told = own("eval", "--auto", "--compare", "rag.fusion=rrf", "--json").json
    assert any("they measure search only" in note for note in told["notes"])
    assert [one["name"] for one in told["evaluations"]] == ["as it is", "rag.fusion=rrf"]
    assert told["evaluations"][1]["against"]["id"] == told["evaluations"][0]["id"]
    assert told["evaluations"][0]["against"]["measures"]["nDCG@10"]["verdict"] in ("better", "worse", "within noise")
    assert told["set"]["version"] == 1
    renewed = own("eval", "--auto", "--renew", "--seed", "3", "--questions", "10", "--json").json
    assert (renewed["set"]["version"], renewed["set"]["questions"]) == (2, 10)
    assert "against" not in renewed["evaluations"][0]
    listed = own("eval", "list", "--json").json
    assert [one["version"] for one in listed["sets"]] == [2, 1]
    assert len(listed["evaluations"]["items"]) == 5
    run = listed["evaluations"]["items"][0]["id"]
    assert run in own("eval", "list").out
    shown = own("eval", "show", run[:8])
    assert "nDCG@10" in shown.out
    assert "first passage" in shown.out
    questions = own("eval", "show", run, "--json").json["questions"]
    assert len(questions) == 10
    assert all(one["rank"] is None or one["rank"] >= 1 for one in questions)
    assert json.dumps(questions)


def test_index_settings_cannot_be_compared_on_a_library(own: Call) -> None:
    assert "chunking.size" in own("eval", "--auto", "--set", "chunking.size=100").failed_with(2)
    told = own("eval", "--auto", "--questions", "5", "--compare", "chunking.size=100")
    assert told.code == 2
    assert "affect indexing" in told.err
    assert "there is no evaluation 'ev_nope'" in own("eval", "show", "ev_nope").failed_with(1)


def test_questions_with_expected_answers_are_imported_once_asked_and_judged(own: Call, tmp_path: Path) -> None:
    folder, file = write_answer_set(tmp_path / "set"), write_questions(tmp_path / "mine.jsonl")
    assert own("add", folder / "docs").code == 0
    first = own("eval", file)
    assert first.code == 0, first.err
    assert "your set 1  5 questions, imported" in first.out
    assert "95 % interval" in first.out
    assert "unanswerable" in first.out
    assert "confidence" in first.out
    assert "search only" not in first.err
    told = own("eval", file, "--compare", "rag.top_k=1", "--json").json
    assert (told["set"]["version"], told["set"]["tests"], told["set"]["made_by"]) == (1, "answers", "import")
    unchanged, changed = told["evaluations"]
    assert unchanged["against"]["measures"]["right"]["verdict"] == "within noise"
    assert changed["against"]["id"] == unchanged["id"]
    assert set(unchanged["measures"]) == {"right", "partly", "wrong", "wrongly refused"}
    assert unchanged["answers"]["groups"][0]["questions"] == 5
    again = own("eval", told["set"]["id"], "--json").json
    assert again["set"]["id"] == told["set"]["id"]
    shown = own("eval", "show", unchanged["id"])
    assert "not right; the worst:" in shown.out
    asked = own("eval", "show", unchanged["id"], "--json").json["questions"]
    assert [one["verdict"] for one in asked][:3] == ["right", "partly", "right"]
    assert "answers" in own("eval", "list").out
    assert "there is no question set 'es_none'" in own("eval", "es_none").failed_with(1)
    (tmp_path / "bad.jsonl").write_text('{"q": "x"}', encoding="utf-8")
    assert "question 1: 'gold' is missing" in own("eval", tmp_path / "bad.jsonl").failed_with(2)


@pytest.mark.slow
def test_a_folder_with_questions_and_documents_is_asked_in_a_temporary_library(pincite: Call, tmp_path: Path) -> None:
    folder = write_answer_set(tmp_path / "office")
    said = pincite("eval", folder, "--report", tmp_path / "r.md")
    assert said.code == 0, said.err
    assert "office  3 documents, 5 questions" in said.out
    assert "follow-up" in said.out
    assert "| configuration | right |" in (tmp_path / "r.md").read_text(encoding="utf-8")
    told = pincite("eval", folder, "--compare", "rag.top_k=2", "--json").json
    assert [trial["name"] for trial in told["trials"]] == ["as it is", "rag.top_k=2"]
    assert len(told["trials"][0]["results"]) == 5
    assert told["trials"][1]["against"]["measures"]["right"]["verdict"] == "within noise"
