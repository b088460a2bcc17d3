"""The commands jobs and worker."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pincite.core.documents.document import Upload
from pincite.engine.app import AsyncPincite

from .terminal import Call


@pytest.fixture
def job(pincite: Call, library_settings: dict[str, str]) -> int:
    """A document that is held back."""

    async def hold() -> int:
        async with AsyncPincite() as engine:
            for document in await engine.documents.all():
                if document.name == "held.md":
                    await engine.remove(document.id)
            await engine.documents.upload(Upload("held.md", b"Words that wait.", "queue"), start=False)
            jobs, _ = await engine.services.job_list.page(await engine.scope(), limit=10)
            return next(job.id for job in jobs if job.name == "held.md")

    return asyncio.run(hold())


def test_the_queue_is_shown_with_its_numbers(pincite: Call, job: int) -> None:
    told = pincite("jobs").out
    assert "queue/held.md" in told
    assert "held" in told
    assert "0 running, 0 waiting, 1 held" in told


def test_the_queue_speaks_json(pincite: Call, job: int) -> None:
    told = pincite("jobs", "--json").json
    assert [one["id"] for one in told["items"]] == [job]
    assert (told["next_cursor"], told["summary"]["held"]) == (None, 1)


def test_watching_ends_when_nothing_waits(pincite: Call, job: int) -> None:
    assert pincite("jobs", "--watch").out.count("queue/held.md") == 1


def test_a_job_is_cancelled_once(pincite: Call, job: int) -> None:
    assert pincite("jobs", "--cancel", job).out == f"cancelled {job} (held.md), which was held; it is not searchable\n"
    assert pincite("jobs").out == "The queue is empty.\n"
    assert f"there is no job '{job}'" in pincite("jobs", "--cancel", job).failed_with(1)


def test_a_cancelled_job_speaks_json(pincite: Call, job: int) -> None:
    told = pincite("jobs", "--cancel", job, "--json").json
    assert (told["id"], told["was"], told["cancelled"]) == (job, "held", True)
    [ended, *_] = pincite("jobs", "--ended", "--json").json["items"]
    assert (ended["id"], ended["status"]) == (job, "error")
    assert "queue/held.md" in pincite("jobs", "--ended").out


@pytest.mark.slow
def test_a_worker_prints_its_name_and_ends_on_a_signal(library_settings: dict[str, str], tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; from pincite.cli import main; sys.exit(main())", "worker", "--json"]
    environment = {**library_settings, "PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    said = ""
    while not said.endswith("}\n"):
        said += process.stdout.readline()
    assert json.loads(said)["workers"] == 1
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 0


def test_a_worker_needs_a_positive_number(pincite: Call) -> None:
    assert "--workers" in pincite("worker", "--workers", "0").failed_with(2)
