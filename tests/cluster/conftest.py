"""Servers of their own for the tests of many machines."""

from collections.abc import Iterator

import pytest

from benchmarks._machines import Postgres, place


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    """A PostgreSQL server on TCP with an empty database `library`."""
    with place() as folder:
        made = Postgres(folder / "primary")
        try:
            made.make()
            made.run("create database library")
            yield made
        finally:
            made.kill()
