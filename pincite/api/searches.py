"""Searches: passages for one query, or for several at once."""

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse

from pincite.api import API, shapes
from pincite.api.admission import Admitted
from pincite.api.callers import Reader
from pincite.api.engine import Engine
from pincite.api.options import ManyBody, SearchBody
from pincite.api.presence import unless_gone

router = APIRouter(prefix=API, tags=["search"])


@router.post("/search")
async def search(
    body: SearchBody, request: Request, pincite: Engine, caller: Reader, admitted: Admitted
) -> JSONResponse:
    """Find passages; `explain` says how each score came about."""
    question = body.question()
    searching = admitted.search(caller, lambda: pincite.search(question, caller=caller))
    result = await unless_gone(request.receive, searching)
    return JSONResponse(shapes.search_result(result, result.rag, explain=body.explain))


@router.post("/query-many")
async def query_many(
    body: ManyBody, request: Request, pincite: Engine, caller: Reader, admitted: Admitted
) -> JSONResponse:
    """Find passages for up to five queries at once, fused by reciprocal rank."""
    question = body.question()
    searching = admitted.search(caller, lambda: pincite.search(question, caller=caller))
    result = await unless_gone(request.receive, searching)
    return JSONResponse(shapes.search_result(result, result.rag, explain=body.explain))
