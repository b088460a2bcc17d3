"""The command line called in this process, on one shared library."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import psycopg
import psycopg.conninfo
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


@pytest.fixture(scope="session")
def library_settings(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a library that all these tests share: opening one is what takes time."""
    name = f"cli_{secrets.token_hex(6)}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f'create database "{name}"')
        yield {
            "PINCITE_DATABASE_URL": psycopg.conninfo.make_conninfo(postgres, dbname=name),
            "PINCITE_DATA": str(tmp_path_factory.mktemp("data")),
            "PINCITE_EMBEDDING__PROVIDER": "scripted",
            "PINCITE_INGEST__WORKERS": "1",
            "COLUMNS": "80",
        }
        connection.execute(f'drop database if exists "{name}" with (force)')


@pytest.fixture
def pincite(library_settings: dict[str, str], monkeypatch: pytest.MonkeyPatch, read_here: None) -> Call:
    """Calls the command line on that library."""
    for name, value in library_settings.items():
        monkeypatch.setenv(name, value)
    return call


@pytest.fixture(scope="session")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two documents."""
    folder = tmp_path_factory.mktemp("in") / "papers"
    folder.mkdir()
    (folder / "handbook.md").write_text(HANDBOOK, encoding="utf-8")
    (folder / "notes.txt").write_text(NOTES, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def _filled(library_settings: dict[str, str], papers: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in library_settings.items():
            patch.setenv(name, value)
        assert call("add", papers).code == 0


@pytest.fixture
def library(pincite: Call, _filled: None) -> Call:
    """The same, with those documents in it."""
    return pincite
