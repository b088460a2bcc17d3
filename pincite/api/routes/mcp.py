"""The Model Context Protocol over HTTP; `cli/mcp.py` serves it over stdin and stdout."""

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from pincite.api.admission.admission import Admission
from pincite.api.dependencies import AdmissionControl, Engine, Reader
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
async def mcp(request: Request, pincite: Engine, caller: Reader, admission: AdmissionControl) -> Response:
    """Handle one JSON-RPC message of the Model Context Protocol; 202 if it needs no response."""
    version = request.headers.get("mcp-protocol-version", PROTOCOL_VERSIONS[0])
    if version not in PROTOCOL_VERSIONS:
        message = f"this server supports {', '.join(PROTOCOL_VERSIONS)}, not '{version[:40]}'"
        return JSONResponse(error_message(None, INVALID_REQUEST, message), 400)
    body = await request.body()
    backend = _tool_backend(pincite, caller, admission, get_request_id(request.scope))
    response = await until_disconnect(request.receive, handle_message(body, backend))
    if response is None:
        return Response(status_code=202)
    return JSONResponse(response, 400 if response["id"] is None else 200)


def _tool_backend(pincite: AsyncPincite, caller: Caller, admission: Admission, request_id: str) -> ToolBackend:
    """Make the tool backend of a caller, with quotas and admission control."""

    async def search(question: Question) -> SearchResult:
        return await admission.search(caller, lambda: pincite.search(question, caller=caller))

    async def ask(question: Question) -> Answer:
        permitted = while_permitted(pincite, caller, lambda listen: pincite.ask(question, caller=caller, listen=listen))
        return await admission.question(caller, permitted, stream=False, max_tokens=None)(lambda _event: None)

    return ToolBackend(
        search,
        lambda read_request: pincite.documents.read(read_request, caller=caller),
        ask,
        lambda name: pincite.graph.find(name, caller=caller),
        lambda entity: pincite.graph.entity(entity, caller=caller),
        lambda error: to_problem(error, request_id).detail,
    )
