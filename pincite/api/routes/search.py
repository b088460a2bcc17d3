"""Searches: passages for one query, or for several fused queries."""

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse

from pincite.api.admission.admission import Admission
from pincite.api.dependencies import AdmissionControl, Engine, Reader
from pincite.api.paths import API
from pincite.api.requests import ManyBody, SearchBody
from pincite.api.streaming.disconnect import until_disconnect
from pincite.core.accounts.access import Caller
from pincite.engine.app import AsyncPincite
from pincite.serialize.search import search_json

router = APIRouter(prefix=API, tags=["search"])


@router.post("/search")
async def search(
    body: SearchBody, request: Request, pincite: Engine, caller: Reader, admission: AdmissionControl
) -> JSONResponse:
    """Find passages; `explain` shows how each score was computed."""
    return await _search(body, request, pincite, caller, admission)


@router.post("/query-many")
async def query_many(
    body: ManyBody, request: Request, pincite: Engine, caller: Reader, admission: AdmissionControl
) -> JSONResponse:
    """Find passages for up to five queries at once, fused by reciprocal rank."""
    return await _search(body, request, pincite, caller, admission)


async def _search(
    body: SearchBody | ManyBody, request: Request, pincite: AsyncPincite, caller: Caller, admission: Admission
) -> JSONResponse:
    """Run a search once it is admitted; cancel it when the client disconnects."""
    question = body.question()
    search = admission.search(caller, lambda: pincite.search(question, caller=caller))
    result = await until_disconnect(request.receive, search)
    return JSONResponse(search_json(result, explain=body.explain))
