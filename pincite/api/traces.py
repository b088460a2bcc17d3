"""Traces: what the caller's own requests did, stage by stage."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import JSONResponse

from pincite.api import API, shapes
from pincite.api.callers import Reader
from pincite.api.engine import Engine

router = APIRouter(prefix=f"{API}/traces", tags=["traces"])


@router.get("")
async def traces(pincite: Engine, caller: Reader, limit: Annotated[int, Query(ge=1, le=1000)] = 100) -> JSONResponse:
    """The newest traces, without their spans."""
    found = await pincite.traces.recent(await pincite.scope(caller), limit)
    return JSONResponse(shapes.page([shapes.trace(one, spans=False) for one in found]))


@router.get("/{trace_id}")
async def trace(trace_id: str, pincite: Engine, caller: Reader) -> JSONResponse:
    """One trace with its spans."""
    found = await pincite.traces.get(await pincite.scope(caller), trace_id)
    return JSONResponse(shapes.trace(found, spans=True))
