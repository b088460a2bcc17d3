"""One server for all API tests; each test uses its own folders."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import httpx2
import psycopg
import pytest
from psycopg import sql

from tests.api.live_server import LiveServer
from tests.reading import read_by_the_tests

__all__ = ["read_by_the_tests"]


@pytest.fixture(scope="session")
def live_server(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A server on a database of its own; its tests together make more anonymous requests than the default allows."""
    name = f"api_{secrets.token_hex(6)}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    url = psycopg.conninfo.make_conninfo(postgres, dbname=name)
    settings = {"database.url": url, "limits.anonymous_per_minute": 100_000}
    with LiveServer(tmp_path_factory.mktemp("api") / "data", **settings) as live_server:
        yield live_server


@pytest.fixture
def client(live_server: LiveServer) -> Iterator[httpx2.Client]:
    """An administrator."""
    with live_server.client() as client:
        yield client


@pytest.fixture
def reader(live_server: LiveServer) -> Iterator[httpx2.Client]:
    """Someone who may only read."""
    with live_server.client("reader") as client:
        yield client


@pytest.fixture
def anyone(live_server: LiveServer) -> Iterator[httpx2.Client]:
    """Someone without a key."""
    with live_server.client(None) as client:
        yield client


@pytest.fixture
def folder() -> str:
    """A folder nobody else uses."""
    return f"f{secrets.token_hex(4)}"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder nobody else uses."""
    return tmp_path / "data"
