"""The commands for flows."""

import json
from pathlib import Path

import pytest

from pincite.cli.flow import load_flow_file
from pincite.errors import Invalid
from tests.cli.terminal import Call

FLOW = {
    "nodes": [{"id": "docs", "type": "rag"}, {"id": "answer", "type": "completion"}],
    "edges": [{"from": "docs", "to": "answer"}],
    "input": "What is the cat called?",
}
TOML = 'input = "x"\n[[nodes]]\nid = "answer"\ntype = "completion"\n'
YAML = "input: x\nnodes:\n  - {id: answer, type: completion}\n"


def test_a_flow_is_run_from_its_file(pincite: Call, papers: Path, tmp_path: Path) -> None:
    pincite("add", papers)
    (tmp_path / "cat.json").write_text(json.dumps(FLOW))
    said = pincite("flow", "run", tmp_path / "cat.json", "--json")
    assert "Parallax" in said.json["answer"]
    other = pincite("flow", "run", tmp_path / "cat.json", "--input", "Where does the key to the generator room hang?")
    assert "blue cup" in other.words


@pytest.mark.parametrize(("name", "text"), [("f.toml", TOML), ("f.yaml", YAML), ("f.json", json.dumps(FLOW))])
def test_a_file_is_read_by_its_ending(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert load_flow_file(tmp_path / name)["nodes"][-1] == {"id": "answer", "type": "completion"}


@pytest.mark.parametrize(
    ("name", "text"), [("f.toml", "="), ("f.yaml", "{"), ("f.json", "{"), ("f.json", "[" * 100_000)]
)
def test_an_invalid_flow_file_is_reported(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(Invalid, match="is not valid"):
        load_flow_file(tmp_path / name)


def test_a_missing_flow_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="cannot be read"):
        load_flow_file(tmp_path / "none.json")


def test_a_flow_is_stored_listed_shown_run_and_removed(pincite: Call, papers: Path, tmp_path: Path) -> None:
    assert "There are no stored flows" in pincite("flow", "list").words
    pincite("add", papers)
    (tmp_path / "cat.json").write_text(json.dumps(FLOW))
    assert "cat is stored as version 1" in pincite("flow", "save", "cat", tmp_path / "cat.json").words
    (tmp_path / "cat.json").write_text(json.dumps({**FLOW, "profile": "default"}))
    assert pincite("flow", "save", "cat", tmp_path / "cat.json", "--json").json["version"] == 2
    [listed] = pincite("flow", "list", "--json").json["flows"]
    assert (listed["name"], listed["version"], listed["nodes"]) == ("cat", 2, 2)
    assert "cat" in pincite("flow", "list").words
    shown = pincite("flow", "show", "cat").words
    assert "version 2 of 2" in shown
    assert "versions: 2 (" in shown
    assert pincite("flow", "show", "cat", "--version", "1", "--json").json["definition"] == FLOW
    assert "Parallax" in pincite("flow", "run", "cat", "--version", "1", "--json").json["answer"]
    other = pincite("flow", "run", "cat", "--input", "Where does the key to the generator room hang?")
    assert "blue cup" in other.words
    assert "cat is removed, with 2 versions" in pincite("flow", "remove", "cat").words
    assert "there is no flow 'cat'" in pincite("flow", "run", "cat").err
