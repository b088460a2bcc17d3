"""The sample documents and the questions that go with them, wherever this package came from."""

import json
from dataclasses import dataclass
from pathlib import Path

from pincite.errors import DataFolderError

DEMO = "demo"
"""Name of the demo's keys, and of the folder the sample documents go to."""
_PACKAGE = Path(__file__).parents[2]
_HOMES = (_PACKAGE / "samples", _PACKAGE.parent / "examples")
"""An installed package's, then a checkout's."""


@dataclass(frozen=True, slots=True)
class SampleQuestion:
    """Something the sample documents answer."""

    question: str
    language: str


@dataclass(frozen=True, slots=True)
class Samples:
    """What the demo adds and asks, and what else may be asked."""

    documents: tuple[Path, ...]
    question: str
    questions: tuple[SampleQuestion, ...] = ()


def find_samples(homes: tuple[Path, ...] = _HOMES) -> Samples:
    """The samples of the first place that has them."""
    for home in homes:
        if (home / "questions.json").is_file() and (home / "documents").is_dir():
            known = json.loads((home / "questions.json").read_text(encoding="utf-8"))
            [question] = [entry["question"] for entry in known if entry.get("demo")]
            answered = (entry for entry in known if entry.get("answerable"))
            return Samples(
                documents=tuple(sorted(path for path in (home / "documents").iterdir() if path.is_file())),
                question=question,
                questions=tuple(SampleQuestion(entry["question"], entry["language"]) for entry in answered),
            )
    raise DataFolderError("the sample documents are missing from this installation; install pincite again")
