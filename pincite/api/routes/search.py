"""Searches: passages for one query, or for several at once."""

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse

from pincite.api.admission.admission import AdmissionControl
from pincite.api.dependencies import Engine
from pincite.api.middleware.authenticate import Reader
from pincite.api.paths import API
from pincite.api.requests import ManyBody, SearchBody
from pincite.api.streaming.disconnect import until_disconnect
from pincite.serialize.search import search_json

router = APIRouter(prefix=API, tags=["search"])


@router.post("/search")
async def search(
    body: SearchBody, request: Request, pincite: Engine, caller: Reader, admitted: AdmissionControl
) -> JSONResponse:
    """Find passages; `explain` says how each score came about."""
    question = body.question()
    searching = admitted.search(caller, lambda: pincite.search(question, caller=caller))
    result = await until_disconnect(request.receive, searching)
    return JSONResponse(search_json(result, explain=body.explain))


@router.post("/query-many")
async def query_many(
    body: ManyBody, request: Request, pincite: Engine, caller: Reader, admitted: AdmissionControl
) -> JSONResponse:
    """Find passages for up to five queries at once, fused by reciprocal rank."""
    question = body.question()
    searching = admitted.search(caller, lambda: pincite.search(question, caller=caller))
    result = await until_disconnect(request.receive, searching)
    return JSONResponse(search_json(result, explain=body.explain))
