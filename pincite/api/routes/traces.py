"""Traces: what requests did, stage by stage, and asking them again; administrators see others' without their words."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import JSONResponse

from pincite.api.dependencies import Engine
from pincite.api.middleware.authenticate import Looker, Reader
from pincite.api.paths import API
from pincite.api.streaming.disconnect import until_disconnect
from pincite.core.accounts.access import PERMISSIONS, Caller
from pincite.core.times import to_utc
from pincite.core.traces import Kind, TraceFilter
from pincite.serialize import traces as shapes
from pincite.serialize.answers import page
from pincite.serialize.fields import Body, Words

router = APIRouter(prefix=f"{API}/traces", tags=["traces"])


@router.get("")
async def traces(
    pincite: Engine,
    caller: Looker,
    kind: Kind | None = None,
    errors: bool = False,
    degraded: bool = False,
    slower_than_ms: Annotated[float | None, Query(ge=0)] = None,
    since: datetime | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
) -> JSONResponse:
    """Traces without their spans, newest first; of one kind, only failed, reduced or slow ones, or since a time."""
    start = to_utc(since) if since else None
    wanted = TraceFilter(
        kind, errors, slower_than_ms, start, limit, cursor, everybody=_everybody(caller), degraded=degraded
    )
    found, following = await pincite.questions.traces.list(await pincite.scope(caller), wanted)
    return JSONResponse(page([shapes.trace(one, spans=False) for one in found], following))


@router.get("/{trace_id}")
async def trace(trace_id: str, pincite: Engine, caller: Looker) -> JSONResponse:
    """One trace with its spans."""
    found = await pincite.questions.traces.get(await pincite.scope(caller), trace_id, everybody=_everybody(caller))
    return JSONResponse(shapes.trace(found, spans=True))


def _everybody(caller: Caller) -> bool:
    return "administer" in PERMISSIONS[caller.role]


class ReplayBody(Body):
    """What to change, a profile and settings by dotted key (which win), and the question's words where they were not kept."""

    profile: Annotated[str | None, Field(max_length=100)] = None
    settings: dict[str, Any] = Field(default={}, max_length=100)
    question: Words | None = None


@router.post("/{trace_id}/replay")
async def replay(
    trace_id: str, request: Request, pincite: Engine, caller: Reader, body: ReplayBody | None = None
) -> JSONResponse:
    """Ask a traced question again with other settings, and tell what changed; no conversation hears of it."""
    wish = body or ReplayBody()
    asking = pincite.questions.replay(
        trace_id, wish.settings, profile=wish.profile, question=wish.question, caller=caller
    )
    result = await until_disconnect(request.receive, asking)
    documents = await pincite.documents.several([one.document_id for one in result.passages], caller=caller)
    return JSONResponse(shapes.replay(result, {one.id: one.title for one in documents}))
