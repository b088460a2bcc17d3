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
