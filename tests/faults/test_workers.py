"""Workers on two machines: separate homes and data folders, one database and one search server."""

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest

from pincite.core.documents.document import Upload
from pincite.core.query.question import Filters, Question
from pincite.engine.app import AsyncPincite
from tests.faults.wholeness import check_whole

FILES, PARTS = 40, 12  # more than two workers claim at once
RUN = "import sys; from pincite.cli import main; sys.exit(main())"
SETTINGS = {
    "PINCITE_EMBEDDING__PROVIDER": "scripted",
    "PINCITE_INGEST__LEASE_S": "2",
    "PINCITE_INGEST__ATTEMPTS": "20",
    "PINCITE_CHUNKING__SIZE": "40",
    "PINCITE_CHUNKING__OVERLAP": "5",
}


def marker(n: int) -> str:
    return f"marker{n:03}"


def text(n: int) -> bytes:
    chosen = random.Random(n)
    parts = [
        f"## Part {k}\n\n{marker(n)} " + " ".join(f"w{chosen.randint(0, 500)}" for _ in range(25)) for k in range(PARTS)
    ]
    return ("# File\n\n" + "\n\n".join(parts)).encode()


@contextmanager
def machine(place: Path, url: str) -> Iterator["subprocess.Popen[str]"]:
    """`pincite worker` with its own home and data folder."""
    place.mkdir(exist_ok=True)
    environment = {"PATH": os.environ["PATH"], "HOME": str(place), "PINCITE_DATA": str(place / "data"), **SETTINGS}
    environment["PINCITE_DATABASE_URL"] = url
    command = [sys.executable, "-c", RUN, "worker", "--workers", "2"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=30)


def ready(process: "subprocess.Popen[str]") -> None:
    """Wait until the worker processes a job."""
    assert process.stdout is not None
    assert "worker" in process.stdout.readline()


def server(place: Path, url: str) -> AsyncPincite:
    """A server that accepts uploads and searches, without workers."""
    settings = {key.removeprefix("PINCITE_").lower().replace("__", "."): value for key, value in SETTINGS.items()}
    return AsyncPincite(settings={"data": place, "database.url": url, **settings, "ingest.workers": 0})


async def seen(pincite: AsyncPincite, n: int, document_id: str) -> int:
    """The number of a document's passages that a search finds."""
    asked = Question(marker(n), filters=Filters(document_ids=(document_id,)), changes=(("rag.top_k", 50),))
    found = await pincite.search(asked)
    return sum(marker(n) in hit.chunk.text for hit in found.hits)


def workers_of(url: str) -> set[str]:
    """The processes that hold a job."""
    with psycopg.connect(url) as connection:
        return {
            str(holder).rsplit(":", 2)[0]
            for (holder,) in connection.execute("select holder from pincite.job where holder is not null")
        }


@pytest.mark.slow
def test_two_machines_share_the_work_and_survive_each_others_death(database_url: str, tmp_path: Path) -> None:
    async def go() -> None:
        async with server(tmp_path / "server", database_url) as pincite:
            added = [await pincite.documents.upload(Upload(f"{n:03}.md", text(n)), start=False) for n in range(FILES)]
            ids = [one.document.id for one in added]
            at_work, scope = set[str](), await pincite.scope()
            with ExitStack() as machines:
                started = [machines.enter_context(machine(tmp_path / name, database_url)) for name in "abc"]
                for process in started:
                    ready(process)
                doomed = started[:2]
                await pincite.services.jobs.start(scope, None)
                while left := (await pincite.services.job_list.summary(scope)).waiting + len(workers_of(database_url)):
                    at_work |= workers_of(database_url)
                    for n in random.sample(range(FILES), 3):
                        assert await seen(pincite, n, ids[n]) in (0, PARTS)
                    if doomed and left < FILES * len(doomed) // 3:
                        doomed.pop().send_signal(signal.SIGKILL)
                await pincite.documents.wait(ids)
            assert doomed == []
            assert len(at_work) >= 2
            assert [(await pincite.get(one)).status for one in ids] == ["completed"] * FILES
            assert [await seen(pincite, n, one) for n, one in enumerate(ids)] == [PARTS] * FILES
        check_whole(database_url, tmp_path / "server", {f"{n:03}.md" for n in range(FILES)})
        assert not list(tmp_path.glob("*/data/files/*/*/*"))

    asyncio.run(go())


@pytest.mark.slow
def test_a_worker_that_is_stopped_returns_its_jobs(database_url: str, tmp_path: Path) -> None:
    async def go() -> None:
        async with server(tmp_path / "server", database_url) as pincite:
            with machine(tmp_path / "a", database_url) as process:
                ready(process)
                process.send_signal(signal.SIGTERM)
                assert await asyncio.to_thread(process.wait, 60) == 0
            added = await pincite.documents.upload(Upload("a.md", text(1)))
            with psycopg.connect(database_url) as connection:
                left = connection.execute("select holder from pincite.job").fetchall()
            assert left == [(None,)]
            assert added.document.status == "pending"

    asyncio.run(go())


@pytest.mark.slow
def test_a_file_uploaded_to_one_server_is_served_by_another(database_url: str, tmp_path: Path) -> None:
    async def go() -> None:
        async with server(tmp_path / "one", database_url) as one, server(tmp_path / "two", database_url) as two:
            added = await one.documents.upload(Upload("a.md", text(3)))
            _, data = await two.services.library.raw(await two.scope(), added.document.id)
            assert data == text(3)
            receipt = await two.remove(added.document.id)
            assert receipt.verified

    asyncio.run(go())
