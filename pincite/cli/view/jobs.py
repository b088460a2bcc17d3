"""The processing queue in a terminal."""

from collections.abc import Sequence

from rich.text import Text

from pincite.cli.view.screen import Screen, make_table, shorten, styled
from pincite.core.documents.jobs import CancelledJob, PastJob, QueuedJob, QueueSummary
from pincite.text.units import count

_STATE_STYLES = {"running": "cyan", "waiting": "", "held": "dim"}
_STATUS_STYLES = {"completed": "green", "error": "red", "overtaken": "dim"}


def print_jobs(screen: Screen, jobs: Sequence[QueuedJob], summary: QueueSummary) -> None:
    """Print a line per job, running ones first, and a summary of the queue."""
    if not jobs:
        screen.print_line("The queue is empty.")
        return
    table = make_table("id", "document", "state", "done", "left", "tries", "")
    room = max(16, screen.columns // 3)
    for job in jobs:
        path = f"{job.folder}/{job.name}" if job.folder else job.name
        table.add_row(
            str(job.id),
            Text(shorten(path, room)),
            styled(job.state, _STATE_STYLES[job.state]),
            f"{job.progress:.0%}",
            format_duration(job.remaining_s),
            str(job.attempts),
            styled(shorten(_job_note(job), room), "dim"),
        )
    screen.print_table(table, drop_first=("tries", "left"))
    screen.print_line(styled(format_queue(summary), "dim"))


def format_queue(summary: QueueSummary) -> str:
    """Format a summary: `2 running, 40 waiting, 3.4 documents/s, about 12 s left`."""
    parts = [
        f"{summary.running:,} running",
        f"{summary.waiting:,} waiting",
        f"{summary.stalled:,} of them for a service that is down" if summary.stalled else "",
        f"{summary.held:,} held" if summary.held else "",
        f"{summary.documents_per_s:.1f} documents/s" if summary.documents_per_s else "",
        f"{summary.passages_per_s:.1f} passages/s" if summary.passages_per_s else "",
        f"about {format_duration(summary.remaining_s)} left" if summary.remaining_s is not None else "",
    ]
    return ", ".join(part for part in parts if part)


def format_duration(seconds: float | None) -> str:
    """Format a duration: `40 s`, `12 min`, `3.5 h`; empty if unknown."""
    if seconds is None:
        return ""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def print_past(screen: Screen, jobs: Sequence[PastJob]) -> None:
    """Print a line per ended job, newest first."""
    if not jobs:
        screen.print_line("No job ended within the last day.")
        return
    table = make_table("id", "document", "ended as", "at", "")
    room = max(16, screen.columns // 3)
    for job in jobs:
        path = f"{job.folder}/{job.name}" if job.folder else job.name
        note = shorten(job.error.message, room) if job.error else ""
        table.add_row(
            str(job.id),
            Text(shorten(path, room)),
            styled(job.status, _STATUS_STYLES[job.status]),
            f"{job.ended_at:%Y-%m-%d %H:%M:%S}",
            styled(note, "dim"),
        )
    screen.print_table(table)


def print_cancelled(screen: Screen, job: CancelledJob) -> None:
    """Print that a job was cancelled, and whether its document is still searchable."""
    after = "its earlier version is still searchable" if job.serving else "it is not searchable"
    screen.print_line(f"cancelled {job.id} ({job.name}), which was {job.was}; {after}")


def print_worker(screen: Screen, name: str, workers: int) -> None:
    """Print that a worker has started."""
    screen.print_line(
        ("pincite", "bold"), f" worker {name} processes {count(workers, 'document')} at a time; Ctrl-C stops it"
    )


def _job_note(job: QueuedJob) -> str:
    """The current stage of a job, and the error of its last attempt unless it is running."""
    error = job.error.message if job.error and job.state != "running" else ""
    return ": ".join(part for part in (job.stage or "", error) if part)
