"""The Model Context Protocol over HTTP; `cli/mcp.py` speaks it over stdin and stdout."""

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from pincite.api.admission.admission import Admission, AdmissionControl
from pincite.api.dependencies import Engine
from pincite.api.middleware.authenticate import Reader
from pincite.api.middleware.problems import get_request_id, to_problem
from pincite.api.streaming.disconnect import until_disconnect
from pincite.api.streaming.revalidate import while_permitted
from pincite.core.accounts.access import Caller
from pincite.core.query.answer import Answer, SearchResult
from pincite.core.query.question import Question
from pincite.engine.app import AsyncPincite
from pincite.mcp.protocol import INVALID_REQUEST, PROTOCOL_VERSIONS, error_message, handle_message
from pincite.mcp.tools import ToolBackend

router = APIRouter(tags=["mcp"])


@router.post("/mcp")
async def mcp(request: Request, pincite: Engine, caller: Reader, admitted: AdmissionControl) -> Response:
    """One JSON-RPC message of the Model Context Protocol, answered as JSON; 202 where it wants no answer."""
    version = request.headers.get("mcp-protocol-version", PROTOCOL_VERSIONS[0])
    if version not in PROTOCOL_VERSIONS:
        spoken = f"this server speaks {', '.join(PROTOCOL_VERSIONS)}, not '{version[:40]}'"
        return JSONResponse(error_message(None, INVALID_REQUEST, spoken), 400)
    body = await request.body()
    backend = _tool_backend(pincite, caller, admitted, get_request_id(request.scope))
    told = await until_disconnect(request.receive, handle_message(body, backend))
    if told is None:
        return Response(status_code=202)
    return JSONResponse(told, 400 if told["id"] is None else 200)


def _tool_backend(pincite: AsyncPincite, caller: Caller, admitted: Admission, request_id: str) -> ToolBackend:
    """Tools in the name of whoever called, within their limits and in their turn."""

    async def search(question: Question) -> SearchResult:
        return await admitted.search(caller, lambda: pincite.search(question, caller=caller))

    async def ask(question: Question) -> Answer:
        asked = while_permitted(pincite, caller, lambda listen: pincite.ask(question, caller=caller, listen=listen))
        return await admitted.question(caller, asked, stream=False, longest=None)(lambda _event: None)

    return ToolBackend(
        search,
        lambda reading: pincite.documents.read(reading, caller=caller),
        ask,
        lambda error: to_problem(error, request_id).detail,
    )
