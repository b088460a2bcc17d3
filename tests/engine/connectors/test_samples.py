"""The sample documents, in a checkout and in an installed package."""

import tomllib
from pathlib import Path

import pytest

from pincite.engine.connectors.samples import SampleQuestion, find_samples
from pincite.errors import DataFolderError

ROOT = Path(__file__).parents[3]


def test_a_checkout_has_samples() -> None:
    samples = find_samples()
    assert {path.name for path in samples.documents} >= {"station-handbook.md", "annual-report-2023.pdf"}
    assert samples.question.startswith("How much did the recoating")
    assert samples.questions[0] == SampleQuestion(samples.question, "en")
    assert {one.language for one in samples.questions} == {"en", "de"}
    assert not any("salary" in one.question for one in samples.questions), "the documents do not answer that"


def test_an_installed_package_has_samples(tmp_path: Path) -> None:
    home = tmp_path / "samples"
    (home / "documents").mkdir(parents=True)
    (home / "documents" / "b.md").write_text("b")
    (home / "documents" / "a.md").write_text("a")
    (home / "questions.json").write_text('[{"question": "No?"}, {"question": "Yes?", "demo": true}]')
    samples = find_samples((tmp_path / "nothing", home))
    assert [path.name for path in samples.documents] == ["a.md", "b.md"]
    assert samples.question == "Yes?"


def test_the_wheel_contains_the_samples() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included == {
        "examples/documents": "pincite/samples/documents",
        "examples/questions.json": "pincite/samples/questions.json",
    }
    assert all((ROOT / source).exists() for source in included)


def test_missing_samples_are_reported(tmp_path: Path) -> None:
    with pytest.raises(DataFolderError, match="install pincite again"):
        find_samples((tmp_path,))
