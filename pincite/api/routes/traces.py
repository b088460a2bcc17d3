"""Traces of requests, stage by stage, and their replay; administrators see others' traces without the text."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import JSONResponse

from pincite.api.dependencies import Engine, Reader, ReaderAsOwner
from pincite.api.paths import API
from pincite.api.streaming.disconnect import until_disconnect
from pincite.core.accounts.access import PERMISSIONS, Caller
from pincite.core.times import to_utc
from pincite.core.traces import Kind, TraceFilter
from pincite.serialize.fields import Body, Words
from pincite.serialize.primitives import page_json
from pincite.serialize.traces import replay_json, trace_json

router = APIRouter(prefix=f"{API}/traces", tags=["traces"])


@router.get("")
async def traces(
    pincite: Engine,
    caller: ReaderAsOwner,
    kind: Kind | None = None,
    errors: bool = False,
    degraded: bool = False,
    evaluations: bool = True,
    slower_than_ms: Annotated[float | None, Query(ge=0)] = None,
    since: datetime | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
) -> JSONResponse:
    """List traces without their spans, newest first; filter by kind, failed, degraded, slow, or time.

    Without `evaluations`, the traces of evaluation runs are left out. `document_name` is the file of a trace of the kind
    `ingest`, if the caller may read it.
    """
    start = to_utc(since) if since else None
    wanted = TraceFilter(
        kind,
        errors,
        slower_than_ms,
        start,
        limit,
        cursor,
        everybody=_everybody(caller),
        degraded=degraded,
        evaluations=evaluations,
    )
    found, following = await pincite.questions.traces.list(await pincite.scope(caller), wanted)
    processed = {one.id: str(one.options["document_id"]) for one in found if "document_id" in one.options}
    documents = await pincite.documents.several(list(processed.values()), caller=caller) if processed else []
    names = {document.id: document.name for document in documents}
    items = [
        trace_json(one, spans=False) | ({"document_name": names.get(processed[one.id])} if one.id in processed else {})
        for one in found
    ]
    return JSONResponse(page_json(items, following))


@router.get("/{trace_id}")
async def trace(trace_id: str, pincite: Engine, caller: ReaderAsOwner) -> JSONResponse:
    """Show one trace with its spans."""
    found = await pincite.questions.traces.get(await pincite.scope(caller), trace_id, everybody=_everybody(caller))
    return JSONResponse(trace_json(found, spans=True))


def _everybody(caller: Caller) -> bool:
    return "administer" in PERMISSIONS[caller.role]


class ReplayBody(Body):
    """A profile and settings by dotted key (which win) to replay with, and the question if its text was not stored."""

    profile: Annotated[str | None, Field(max_length=100)] = None
    settings: dict[str, Any] = Field(default={}, max_length=100)
    question: Words | None = None


@router.post("/{trace_id}/replay")
async def replay(
    trace_id: str, request: Request, pincite: Engine, caller: Reader, body: ReplayBody | None = None
) -> JSONResponse:
    """Ask a traced question again with other settings and return what changed; no session is changed."""
    options = body or ReplayBody()
    replaying = pincite.questions.replay(
        trace_id, options.settings, profile=options.profile, question=options.question, caller=caller
    )
    result = await until_disconnect(request.receive, replaying)
    documents = await pincite.documents.several([one.document_id for one in result.passages], caller=caller)
    return JSONResponse(replay_json(result, {one.id: one.title for one in documents}))
