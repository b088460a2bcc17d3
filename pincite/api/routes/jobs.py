"""Jobs: what waits to be processed, how far it is, and how to have it left."""

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from dataclasses import astuple, replace
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import JSONResponse, Response

from pincite.api.admission.admission import Admitted
from pincite.api.dependencies import Engine
from pincite.api.middleware.authenticate import Reader, Writer, unwelcome
from pincite.api.paths import API
from pincite.api.streaming.answer_streams import StreamEvent
from pincite.api.streaming.sse import KEEP_ALIVE_S, EventStream
from pincite.core.accounts.access import Caller
from pincite.core.documents.jobs import EndedJob, JobFilter, QueuedJob, QueueSummary
from pincite.engine.app import AsyncPincite
from pincite.errors import NotFound
from pincite.serialize import jobs as shapes
from pincite.serialize.answers import Json, page

router = APIRouter(prefix=f"{API}/jobs", tags=["jobs"])

EVERY_S = 0.5
"""How often the queue is looked at for those who follow it."""
SHOWN = 200
"""Jobs that are followed one by one: those in hand and those that come next; the rest is in the summary."""


@router.get("")
async def jobs(
    pincite: Engine,
    caller: Reader,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
    state: JobFilter | None = None,
) -> JSONResponse:
    """One's own documents that are not done yet: those in hand, those that wait in their turn, those held back.

    With `state`, those alone; `ended` are the jobs of the last day that are done, the last one first.
    """
    scope = await pincite.scope(caller)
    if state == "ended":
        past, following = await pincite.documents.jobs.past(scope, limit=limit, cursor=cursor)
        items = [shapes.past_job(one) for one in past]
    else:
        found, following = await pincite.documents.jobs.page(scope, limit=limit, cursor=cursor, state=state)
        items = [shapes.job(one) for one in found]
    summary = shapes.queue(await pincite.documents.jobs.summary(scope))
    return JSONResponse({**page(items, following), "summary": summary})


@router.get("/events")
async def events(request: Request, pincite: Engine, caller: Reader, admitted: Admitted) -> Response:
    """The same as it changes: `snapshot`, then `job`, `ended` and `summary`, until the client leaves."""

    async def admitted_ones() -> AsyncGenerator[StreamEvent | None]:
        with admitted.listening(caller):
            async with aclosing(follow(pincite, caller)) as followed:
                async for told in followed:
                    yield told

    return EventStream(admitted_ones(), unwelcome(request))


@router.delete("/{job_id}")
async def cancel(job_id: str, pincite: Engine, caller: Writer) -> JSONResponse:
    """Take a document out of the queue, or from the hands of the worker that has it."""
    if not (job_id.isascii() and job_id.isdecimal() and len(job_id) < 19):
        raise NotFound(f"there is no job '{job_id}'")
    return JSONResponse(shapes.cancelled_job(await pincite.documents.cancel(int(job_id), caller=caller)))


async def follow(
    pincite: AsyncPincite, caller: Caller, *, every_s: float = EVERY_S, silence_s: float = KEEP_ALIVE_S
) -> AsyncGenerator[StreamEvent | None]:
    """What happens in the queue, event by event, and None whenever nothing did for so long."""
    known: dict[int, QueuedJob] | None = None
    before: QueueSummary | None = None
    number, told_at = 0, time.monotonic()
    while True:
        scope = await pincite.scope(caller)
        found, _ = await pincite.documents.jobs.page(scope, limit=SHOWN)
        summary, now = await pincite.documents.jobs.summary(scope), {job.id: job for job in found}
        if known is None or before is None:
            shown = {**page([shapes.job(job) for job in found]), "summary": shapes.queue(summary)}
            news = [("snapshot", shown)]
        else:
            left = [job for job in known.values() if job.id not in now]
            ended = await pincite.documents.jobs.ended(scope, left) if left else []
            news = [*_changes(known, now), *_ends(ended), *_numbers(before, summary)]
        known, before = now, summary
        for event, data in news:
            number, told_at = number + 1, time.monotonic()
            yield StreamEvent.of(number, event, data)
        if time.monotonic() - told_at >= silence_s:
            told_at = time.monotonic()
            yield None
        await asyncio.sleep(every_s)


def _changes(known: Mapping[int, QueuedJob], now: Mapping[int, QueuedJob]) -> Iterator[tuple[str, Json]]:
    """What is new or has moved on; a guess at the time that is left is no news."""
    for job in now.values():
        before = known.get(job.id)
        if before is None or replace(before, remaining_s=None) != replace(job, remaining_s=None):
            yield "job", shapes.job(job)


def _ends(ended: list[EndedJob]) -> Iterator[tuple[str, Json]]:
    for job in ended:
        yield "ended", shapes.ended_job(job)


def _numbers(before: QueueSummary, summary: QueueSummary) -> Iterator[tuple[str, Json]]:
    """How many there are of each kind, when that has changed; rates alone are no news."""
    if astuple(before)[:4] != astuple(summary)[:4]:
        yield "summary", shapes.queue(summary)
