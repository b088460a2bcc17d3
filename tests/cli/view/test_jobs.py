"""The processing queue in a terminal."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from pincite.cli.view.jobs import format_duration, format_queue, print_cancelled, print_jobs, print_past
from pincite.cli.view.screen import Screen
from pincite.core.documents.document import Failure
from pincite.core.documents.jobs import CancelledJob, PastJob, QueuedJob, QueueSummary

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
JOB = QueuedJob(
    id=7,
    document_id="d",
    name="a.md",
    folder="hr",
    version="v",
    state="running",
    stage="embedding",
    progress=0.25,
    priority=0,
    attempts=1,
    error=None,
    worker="host:1:0",
    created_at=NOON,
    started_at=NOON,
    not_before=None,
    remaining_s=30.0,
)
SUMMARY = QueueSummary(1, 12, 0, 0, 3.44, 21.0, 3.8)


def test_each_job_has_a_line_and_the_queue_one(capsys: pytest.CaptureFixture[str]) -> None:
    failed = Failure("provider_busy", "cannot be reached")
    waits = replace(JOB, id=8, state="waiting", stage="waiting for the embedder", progress=0.0, error=failed)
    print_jobs(Screen(), [JOB, waits], SUMMARY)
    told = capsys.readouterr().out.splitlines()
    assert told[1].split() == ["7", "hr/a.md", "running", "25%", "30", "s", "1", "embedding"]
    assert "waiting for the embedder: cannot be reached" in told[2]
    assert told[3] == "1 running, 12 waiting, 3.4 documents/s, 21.0 passages/s, about 4 s left"


def test_jobs_that_have_ended_say_how(capsys: pytest.CaptureFixture[str]) -> None:
    done = PastJob(7, "d", "a.md", "hr", "v", "completed", None, 1, NOON, NOON, NOON)
    print_past(Screen(), [done, replace(done, id=8, status="error", error=Failure("broken", "cannot be read"))])
    told = capsys.readouterr().out.splitlines()
    assert told[1].split() == ["7", "hr/a.md", "completed", "2026-01-01", "12:00:00"]
    assert told[2].split() == ["8", "hr/a.md", "error", "2026-01-01", "12:00:00", "cannot", "be", "read"]
    print_past(Screen(), [])
    assert capsys.readouterr().out == "No job ended within the last day.\n"


def test_stalled_and_held_jobs_are_counted() -> None:
    told = format_queue(
        replace(SUMMARY, stalled=2, held=3, documents_per_s=None, passages_per_s=None, remaining_s=None)
    )
    assert told == "1 running, 12 waiting, 2 of them for a service that is down, 3 held"


@pytest.mark.parametrize(
    ("seconds", "told"), [(None, ""), (0.0, "0 s"), (89.0, "89 s"), (120.0, "2 min"), (7200.0, "2.0 h")]
)
def test_durations_are_readable(seconds: float | None, told: str) -> None:
    assert format_duration(seconds) == told


def test_a_cancelled_job_says_what_is_still_searched(capsys: pytest.CaptureFixture[str]) -> None:
    print_cancelled(Screen(), CancelledJob(7, "d", "a.md", "running", serving=True))
    told = capsys.readouterr().out
    assert told == "cancelled 7 (a.md), which was running; its earlier version is still searchable\n"
