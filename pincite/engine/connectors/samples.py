"""The sample documents and their questions, from the installed package or a checkout."""

import json
from dataclasses import dataclass
from pathlib import Path

from pincite.errors import DataFolderError

DEMO = "demo"
"""The name of the demo's API keys, and of the folder with the sample documents."""
_PACKAGE = Path(__file__).parents[2]
_SAMPLE_FOLDERS = (_PACKAGE / "samples", _PACKAGE.parent / "examples")
"""The folder of the installed package, then that of a checkout."""


@dataclass(frozen=True, slots=True)
class SampleQuestion:
    """A question that the sample documents answer."""

    question: str
    language: str


@dataclass(frozen=True, slots=True)
class Samples:
    """The documents and the question of the demo, and further questions."""

    documents: tuple[Path, ...]
    question: str
    questions: tuple[SampleQuestion, ...] = ()


def find_samples(folders: tuple[Path, ...] = _SAMPLE_FOLDERS) -> Samples:
    """Return the samples of the first folder that has them."""
    for folder in folders:
        if (folder / "questions.json").is_file() and (folder / "documents").is_dir():
            known = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
            [question] = [entry["question"] for entry in known if entry.get("demo")]
            answered = (entry for entry in known if entry.get("answerable"))
            return Samples(
                documents=tuple(sorted(path for path in (folder / "documents").iterdir() if path.is_file())),
                question=question,
                questions=tuple(SampleQuestion(entry["question"], entry["language"]) for entry in answered),
            )
    raise DataFolderError("the sample documents are missing from this installation; install pincite again")
