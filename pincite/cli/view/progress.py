"""Progress and results of adding files in a terminal."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from pincite.cli.output import one_line, print_note
from pincite.cli.view.jobs import format_duration
from pincite.cli.view.screen import Screen, shorten, styled
from pincite.core.documents.document import AddedAll, Document
from pincite.core.documents.document import Progress as Step
from pincite.text.units import count

LINE_INTERVAL_S = 5.0
"""Seconds between progress lines when there is no terminal for a bar."""
MAX_SKIPPED_LINES = 20
"""Maximum number of skipped files that are printed."""
MAX_NOTE_CHARS = 40
"""Maximum characters of the note beside the bar."""


class _CountColumn(ProgressColumn):
    """`12/200 files  3.4/s  embedding`: done and total, rate, and current stage."""

    def render(self, task: Task) -> Text:
        speed = f"  {task.speed:.1f}/s" if task.speed else ""
        note = f"  {shorten(one_line(task.fields['note']), MAX_NOTE_CHARS)}" if task.fields["note"] else ""
        return styled(f"{int(task.completed)}/{int(task.total or 0)} {task.fields['of']}s{speed}{note}", "dim")


@contextmanager
def progress(*, quiet: bool = False) -> Iterator[Callable[[Step], None]]:
    """A progress reporter: a bar on a terminal, else a line every few seconds; nothing if `quiet`."""
    screen = Screen(stderr=True)
    if quiet:
        yield lambda _step: None
        return
    if not screen.is_terminal:
        yield _line_reporter()
        return
    bar = BarColumn(bar_width=None, complete_style="cyan", finished_style="cyan")
    columns = (SpinnerColumn(), TextColumn("{task.description}"), bar, _CountColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True) as bar_view:
        yield _bar_reporter(bar_view)


def _bar_reporter(bar_view: Progress) -> Callable[[Step], None]:
    tasks: dict[str, TaskID] = {}

    def report(step: Step) -> None:
        if not step.total:
            return
        if step.stage not in tasks:
            for old in tasks.values():
                bar_view.remove_task(old)
            tasks.clear()
            tasks[step.stage] = bar_view.add_task(step.stage, total=step.total, of=step.of, note=step.note)
        bar_view.update(tasks[step.stage], completed=step.done + step.in_hand, total=step.total, note=step.note)

    return report


def _line_reporter() -> Callable[[Step], None]:
    last, stage, began = time.monotonic(), "", (0.0, 0.0)

    def report(step: Step) -> None:
        nonlocal last, stage, began
        now, done = time.monotonic(), step.done + step.in_hand
        if step.stage != stage:
            stage, began = step.stage, (now, done)
        if now - last >= LINE_INTERVAL_S:
            last = now
            parts = [f"{step.stage}: {step.done:,} of {count(step.total, step.of)}", one_line(step.note)]
            rate = (done - began[1]) / (now - began[0]) if now > began[0] else 0.0
            if rate > 0:
                parts += [f"{rate:.1f}/s", f"about {format_duration((step.total - done) / rate)} left"]
            print_note(", ".join(part for part in parts if part))

    return report


def print_added(screen: Screen, result: AddedAll) -> None:
    """Print each failed and each skipped file with the reason, then a summary."""
    for path, error in result.refused:
        _print_failure(screen, path, str(error))
    for document in failed_documents(result):
        assert document.error is not None
        _print_failure(screen, document.path, document.error.message)
    for path, reason in result.skipped[:MAX_SKIPPED_LINES]:
        screen.print_wrapped(styled(f"skipped {one_line(path)}: {reason}", "dim"))
    if len(result.skipped) > MAX_SKIPPED_LINES:
        screen.print_line(styled(f"skipped {len(result.skipped) - MAX_SKIPPED_LINES:,} more; --json lists all", "dim"))
    screen.print_wrapped(styled(format_summary(result)))


def failed_documents(result: AddedAll) -> list[Document]:
    """The accepted documents whose processing failed."""
    return [added.document for added in result.added if added.document.error]


def format_summary(result: AddedAll) -> str:
    """Format `12 added, 3 new versions, 200 unchanged, 1 failed, 4 skipped`."""
    outcomes = Counter(added.outcome for added in result.added if not added.document.error)
    failures = len(result.refused) + len(failed_documents(result))
    parts = [
        f"{outcomes['new']:,} added",
        count(outcomes["new_version"], "new version") if outcomes["new_version"] else "",
        f"{outcomes['again']:,} indexed again" if outcomes["again"] else "",
        f"{outcomes['unchanged']:,} unchanged" if outcomes["unchanged"] else "",
        f"{failures:,} failed" if failures else "",
        f"{len(result.skipped):,} skipped" if result.skipped else "",
    ]
    return ", ".join(part for part in parts if part)


def _print_failure(screen: Screen, name: str, reason: str) -> None:
    """Print a failed file: wrapped on a terminal, else on one line for other tools."""
    message, lead = one_line(reason if name in reason else f"{name}: {reason}"), styled("failed", "red")
    if screen.is_terminal:
        screen.print_wrapped(styled(message), indent=8, lead=lead)
    else:
        screen.print_line(lead, "  ", message)
