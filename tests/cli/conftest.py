"""The command line called in this process, on a library for the tests of one file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from .terminal import Call, call

HANDBOOK = """---
title: Station Handbook
---

# Station Handbook

## Keys

The key to the generator room hangs behind the blue cup.

## Cat

The cat is called Parallax. She is fed at half past six.
"""
NOTES = "Diesel is ordered when the tank is down to forty percent.\n"


@pytest.fixture(scope="module")
def pincite(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Call]:
    """Calls the command line; each file's tests share one library, which is empty at first."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PINCITE_DATABASE_URL", module_database_url)
        patch.setenv("PINCITE_DATA", str(tmp_path_factory.mktemp("data")))
        patch.setenv("PINCITE_EMBEDDING__PROVIDER", "scripted")
        patch.setenv("COLUMNS", "80")
        yield call


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two documents."""
    folder = tmp_path_factory.mktemp("in") / "papers"
    folder.mkdir()
    (folder / "handbook.md").write_text(HANDBOOK, encoding="utf-8")
    (folder / "notes.txt").write_text(NOTES, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def library(pincite: Call, papers: Path) -> Call:
    """The same, with those documents in it."""
    assert pincite("add", papers).code == 0
    return pincite
