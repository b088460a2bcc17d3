"""The queue and those who work it off: jobs, worker."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from pincite.cli.command import CommandContext, command
from pincite.cli.output import print_json

if TYPE_CHECKING:
    from pincite.core.documents.jobs import QueuedJob, QueueSummary
    from pincite.engine.app import AsyncPincite

SHOWN = 1000
"""Jobs that are told one by one; the rest is in the summary."""
WATCH_S = 1.0
"""How often the queue is shown anew."""


def register(app: typer.Typer) -> None:
    """Make these the commands of `app`."""
    command(app, "jobs", until_stopped=True)(jobs)
    command(app, "worker", until_stopped=True)(worker)


async def jobs(
    door: CommandContext,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show it anew every second, until nothing waits or Ctrl-C.")
    ] = False,
    ended: Annotated[bool, typer.Option("--ended", help="Those of the last day that are done instead.")] = False,
    cancel: Annotated[
        int | None, typer.Option("--cancel", metavar="ID", min=1, help="Take this one out of the queue.")
    ] = None,
) -> None:
    """Show what waits to be processed, how far it is and how long it will take."""
    from pincite.cli.view.jobs import print_cancelled, print_jobs, print_past
    from pincite.cli.view.screen import Screen
    from pincite.serialize import jobs as shapes
    from pincite.serialize.answers import page

    async with door.open() as pincite:
        if cancel is not None:
            cancelled = await pincite.documents.cancel(cancel)
            if door.json:
                print_json(shapes.cancelled_job(cancelled))
            else:
                print_cancelled(Screen(), cancelled)
            return
        if ended:
            past, _ = await pincite.documents.jobs.past(await pincite.scope(), limit=SHOWN)
            if door.json:
                print_json(page([shapes.past_job(job) for job in past]))
            else:
                print_past(Screen(), past)
            return
        while True:
            found, summary = await _look(pincite)
            if door.json:
                listed = page([shapes.job(job) for job in found])
                print_json(listed | {"summary": shapes.queue(summary)})
            else:
                print_jobs(Screen(), found, summary)
            if not watch or not summary.running + summary.waiting:
                return
            await asyncio.sleep(WATCH_S)


async def _look(pincite: "AsyncPincite") -> "tuple[list[QueuedJob], QueueSummary]":
    scope = await pincite.scope()
    found, _ = await pincite.documents.jobs.page(scope, limit=SHOWN)
    return found, await pincite.documents.jobs.summary(scope)


async def worker(
    door: CommandContext,
    workers: Annotated[
        int | None,
        typer.Option("--workers", metavar="N", min=1, max=64, help="Documents processed at the same time."),
    ] = None,
) -> None:
    """Process documents until stopped, beside the server or on another machine; Ctrl-C ends it.

    On another machine, PINCITE_DATABASE_URL names the database that the server uses, and --data a folder of its own.
    """
    from pincite.cli.view.jobs import print_worker
    from pincite.cli.view.screen import Screen
    from pincite.tracing import logs

    count = workers or max(1, door.settings.ingest.workers)
    door = door.choosing({"ingest.workers": count})
    async with door.open() as pincite, _told_to_stop() as stopped:
        with logs.configure_logging(door.settings.logs):
            pincite.admin.start_workers()
            if door.json:
                print_json({"worker": pincite.admin.worker, "workers": count})
            else:
                print_worker(Screen(), pincite.admin.worker, count)
            await stopped.wait()


@asynccontextmanager
async def _told_to_stop() -> AsyncIterator[asyncio.Event]:
    """Set when the process is told to end: what is in hand is given back before it does."""
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    with suppress(NotImplementedError, RuntimeError):  # not everywhere, and only in the main thread
        loop.add_signal_handler(signal.SIGTERM, stopped.set)
    try:
        yield stopped
    finally:
        with suppress(NotImplementedError, RuntimeError):
            loop.remove_signal_handler(signal.SIGTERM)
