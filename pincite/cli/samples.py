"""The sample documents and the question the demo asks, wherever this package came from."""

import json
from dataclasses import dataclass
from pathlib import Path

from pincite.errors import DataFolderError

_PACKAGE = Path(__file__).parents[1]
_HOMES = (_PACKAGE / "samples", _PACKAGE.parent / "examples")
"""An installed package's, then a checkout's."""


@dataclass(frozen=True, slots=True)
class Samples:
    """What the demo adds and asks."""

    documents: tuple[Path, ...]
    question: str


def find_samples(homes: tuple[Path, ...] = _HOMES) -> Samples:
    """The samples of the first place that has them."""
    for home in homes:
        if (home / "questions.json").is_file() and (home / "documents").is_dir():
            questions = json.loads((home / "questions.json").read_text(encoding="utf-8"))
            [question] = [entry["question"] for entry in questions if entry.get("demo")]
            return Samples(tuple(sorted(path for path in (home / "documents").iterdir() if path.is_file())), question)
    raise DataFolderError("the sample documents are missing from this installation; install pincite again")
