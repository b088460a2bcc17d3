"""Jobs: list the processing queue, follow its progress, cancel a job."""

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from dataclasses import astuple, replace
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import JSONResponse, Response

from pincite.api.dependencies import AdmissionControl, Engine, Reader, Writer
from pincite.api.middleware.authenticate import wait_until_revoked
from pincite.api.paths import API
from pincite.api.streaming.answer_streams import StreamEvent
from pincite.api.streaming.sse import KEEP_ALIVE_S, EventStream
from pincite.core.accounts.access import Caller
from pincite.core.documents.jobs import EndedJob, JobFilter, QueuedJob, QueueSummary
from pincite.engine.app import AsyncPincite
from pincite.errors import NotFound
from pincite.serialize.jobs import cancelled_job_json, ended_job_json, job_json, past_job_json, queue_json
from pincite.serialize.primitives import Json, page_json

router = APIRouter(prefix=f"{API}/jobs", tags=["jobs"])

POLL_INTERVAL_S = 0.5
"""Seconds between reads of the queue for a followed event stream."""
MAX_FOLLOWED_JOBS = 200
"""Jobs reported individually: running ones and the next waiting ones; the rest is in the summary."""


@router.get("")
async def jobs(
    pincite: Engine,
    caller: Reader,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
    state: JobFilter | None = None,
) -> JSONResponse:
    """List the caller's jobs: running, then waiting in order, then held.

    `state` keeps only jobs of that state; `ended` lists the jobs that ended within the last day, newest first.
    """
    scope = await pincite.scope(caller)
    if state == "ended":
        past, following = await pincite.documents.jobs.past(scope, limit=limit, cursor=cursor)
        items = [past_job_json(one) for one in past]
    else:
        found, following = await pincite.documents.jobs.page(scope, limit=limit, cursor=cursor, state=state)
        items = [job_json(one) for one in found]
    summary = queue_json(await pincite.documents.jobs.summary(scope))
    return JSONResponse({**page_json(items, following), "summary": summary})


@router.get("/events")
async def events(request: Request, pincite: Engine, caller: Reader, admission: AdmissionControl) -> Response:
    """Follow the queue as events: `snapshot`, then `job`, `ended` and `summary`, until the client disconnects."""

    async def counted_events() -> AsyncGenerator[StreamEvent | None]:
        with admission.listening(caller):
            async with aclosing(follow(pincite, caller)) as followed:
                async for event in followed:
                    yield event

    return EventStream(counted_events(), wait_until_revoked(request))


@router.delete("/{job_id}")
async def cancel(job_id: str, pincite: Engine, caller: Writer) -> JSONResponse:
    """Cancel a job, waiting or running."""
    if not (job_id.isascii() and job_id.isdecimal() and len(job_id) < 19):
        raise NotFound(f"there is no job '{job_id}'; list jobs with GET /jobs")
    return JSONResponse(cancelled_job_json(await pincite.documents.cancel(int(job_id), caller=caller)))


async def follow(
    pincite: AsyncPincite, caller: Caller, *, every_s: float = POLL_INTERVAL_S, silence_s: float = KEEP_ALIVE_S
) -> AsyncGenerator[StreamEvent | None]:
    """Yield the events of the queue, and None after every `silence_s` seconds without one."""
    known: dict[int, QueuedJob] | None = None
    before: QueueSummary | None = None
    number, sent_at = 0, time.monotonic()
    while True:
        scope = await pincite.scope(caller)
        found, _ = await pincite.documents.jobs.page(scope, limit=MAX_FOLLOWED_JOBS)
        summary, now = await pincite.documents.jobs.summary(scope), {job.id: job for job in found}
        if known is None or before is None:
            snapshot = {**page_json([job_json(job) for job in found]), "summary": queue_json(summary)}
            events = [("snapshot", snapshot)]
        else:
            left = [job for job in known.values() if job.id not in now]
            ended = await pincite.documents.jobs.ended(scope, left) if left else []
            events = [*_job_events(known, now), *_ended_events(ended), *_summary_events(before, summary)]
        known, before = now, summary
        for event, data in events:
            number, sent_at = number + 1, time.monotonic()
            yield StreamEvent.of(number, event, data)
        if time.monotonic() - sent_at >= silence_s:
            sent_at = time.monotonic()
            yield None
        await asyncio.sleep(every_s)


def _job_events(known: Mapping[int, QueuedJob], now: Mapping[int, QueuedJob]) -> Iterator[tuple[str, Json]]:
    """Events of new and changed jobs; a changed estimate of the remaining time alone is not reported."""
    for job in now.values():
        before = known.get(job.id)
        if before is None or replace(before, remaining_s=None) != replace(job, remaining_s=None):
            yield "job", job_json(job)


def _ended_events(ended: list[EndedJob]) -> Iterator[tuple[str, Json]]:
    for job in ended:
        yield "ended", ended_job_json(job)


def _summary_events(before: QueueSummary, summary: QueueSummary) -> Iterator[tuple[str, Json]]:
    """The event of a changed summary; changed rates alone are not reported."""
    if astuple(before)[:4] != astuple(summary)[:4]:
        yield "summary", queue_json(summary)
