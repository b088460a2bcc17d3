"""Commands for the processing queue: jobs, worker."""

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

MAX_LISTED_JOBS = 1000
"""Jobs listed individually; the rest is in the summary."""
WATCH_INTERVAL_S = 1.0
"""Seconds between updates of --watch."""


def register(app: typer.Typer) -> None:
    """Register these commands with `app`."""
    command(app, "jobs", until_stopped=True)(jobs)
    command(app, "worker", until_stopped=True)(worker)


async def jobs(
    context: CommandContext,
    watch: Annotated[
        bool, typer.Option("--watch", help="Update every second until the queue is empty, or Ctrl-C.")
    ] = False,
    ended: Annotated[
        bool, typer.Option("--ended", help="List the jobs that ended within the last day instead.")
    ] = False,
    cancel: Annotated[int | None, typer.Option("--cancel", metavar="ID", min=1, help="Cancel this job.")] = None,
) -> None:
    """Show the processing queue: progress and remaining time of each job."""
    from pincite.cli.view.jobs import print_cancelled, print_jobs, print_past
    from pincite.cli.view.screen import Screen
    from pincite.serialize.jobs import cancelled_job_json, job_json, past_job_json, queue_json
    from pincite.serialize.primitives import page_json

    async with context.open() as pincite:
        if cancel is not None:
            cancelled = await pincite.documents.cancel(cancel)
            if context.json:
                print_json(cancelled_job_json(cancelled))
            else:
                print_cancelled(Screen(), cancelled)
            return
        if ended:
            past, _ = await pincite.documents.jobs.past(await pincite.scope(), limit=MAX_LISTED_JOBS)
            if context.json:
                print_json(page_json([past_job_json(job) for job in past]))
            else:
                print_past(Screen(), past)
            return
        while True:
            found, summary = await _read_queue(pincite)
            if context.json:
                listed = page_json([job_json(job) for job in found])
                print_json(listed | {"summary": queue_json(summary)})
            else:
                print_jobs(Screen(), found, summary)
            if not watch or not summary.running + summary.waiting:
                return
            await asyncio.sleep(WATCH_INTERVAL_S)


async def _read_queue(pincite: "AsyncPincite") -> "tuple[list[QueuedJob], QueueSummary]":
    scope = await pincite.scope()
    found, _ = await pincite.documents.jobs.page(scope, limit=MAX_LISTED_JOBS)
    return found, await pincite.documents.jobs.summary(scope)


async def worker(
    context: CommandContext,
    workers: Annotated[
        int | None,
        typer.Option("--workers", metavar="N", min=1, max=64, help="Number of documents processed at the same time."),
    ] = None,
) -> None:
    """Process queued documents until Ctrl-C, in addition to the server or on another machine.

    On another machine, set PINCITE_DATABASE_URL to the server's database, and --data to a folder of that machine.
    """
    from pincite.cli.view.jobs import print_worker
    from pincite.cli.view.screen import Screen
    from pincite.tracing import logs

    count = workers or max(1, context.settings.ingest.workers)
    context = context.with_settings({"ingest.workers": count})
    async with context.open() as pincite, _stop_event() as stopped:
        with logs.configure_logging(context.settings.logs):
            pincite.admin.start_workers()
            if context.json:
                print_json({"worker": pincite.admin.worker, "workers": count})
            else:
                print_worker(Screen(), pincite.admin.worker, count)
            await stopped.wait()


@asynccontextmanager
async def _stop_event() -> AsyncIterator[asyncio.Event]:
    """An event that SIGTERM sets; running jobs then return to the queue before the process exits."""
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    with suppress(NotImplementedError, RuntimeError):  # not on every platform, and only in the main thread
        loop.add_signal_handler(signal.SIGTERM, stopped.set)
    try:
        yield stopped
    finally:
        with suppress(NotImplementedError, RuntimeError):
            loop.remove_signal_handler(signal.SIGTERM)
