"""The Model Context Protocol: JSON-RPC messages, one answer each, over HTTP here and over stdin on the command line.

Nothing is remembered between messages, so that any process of a service can answer any of them.
"""

import json
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from pincite import __version__
from pincite.api.admission import Admission, Admitted
from pincite.api.callers import Reader
from pincite.api.engine import Engine
from pincite.api.presence import unless_gone
from pincite.api.problems import problem_of, request_id_of
from pincite.api.shapes import Json
from pincite.api.standing import while_readable
from pincite.api.tools import TOOLS, Desk, described, use
from pincite.core.answers import Answer, Question, SearchResult
from pincite.core.callers import Caller
from pincite.engine import AsyncPincite
from pincite.errors import PinciteError

router = APIRouter(tags=["mcp"])

VERSIONS = ("2025-06-18", "2025-03-26", "2024-11-05")
"""Those of the protocol that are spoken, the newest first."""
NO_JSON, NO_REQUEST, NO_METHOD, NO_PARAMS = -32700, -32600, -32601, -32602
INSTRUCTIONS = (
    "Documents of the user's own. Use ask for a cited answer, or rag_search for passages and read_document or"
    " find_in_document to look closer; cite by document and lines."
)


class _Refused(Exception):
    """A message that cannot be answered."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


async def answer(text: bytes | str, desk: Desk, request_id: str) -> Json | None:
    """The answer to one message, None where it wants none."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return _error(None, NO_JSON, "this is not JSON")
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return _error(None, NO_REQUEST, 'send one JSON-RPC 2.0 message, an object with jsonrpc: "2.0"')
    number, method = message.get("id"), message.get("method")
    if not isinstance(method, str):
        return None if "result" in message or "error" in message else _error(number, NO_REQUEST, "there is no method")
    if number is None:  # a notification: nothing here has to hear of it
        return None
    if not isinstance(number, str | int) or isinstance(number, bool):
        return _error(None, NO_REQUEST, "an id is a string or a whole number")
    try:
        return {"jsonrpc": "2.0", "id": number, "result": await _done(method, message.get("params"), desk, request_id)}
    except _Refused as refused:
        return _error(number, refused.code, str(refused))


def _error(number: str | int | None, code: int, message: str) -> Json:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}


async def _done(method: str, params: Any, desk: Desk, request_id: str) -> Json:
    given: Mapping[str, Any] = params if isinstance(params, dict) else {}
    if method == "initialize":
        wished = given.get("protocolVersion")
        return {
            "protocolVersion": wished if wished in VERSIONS else VERSIONS[0],
            "capabilities": {"tools": {"listChanged": False}},
            "serverInfo": {"name": "pincite", "title": "pincite", "version": __version__},
            "instructions": INSTRUCTIONS,
        }
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": described()}
    if method == "tools/call":
        return await _call(given, desk, request_id)
    raise _Refused(
        NO_METHOD, f"there is no method '{method[:100]}'; there are initialize, ping, tools/list, tools/call"
    )


async def _call(given: Mapping[str, Any], desk: Desk, request_id: str) -> Json:
    """What a tool says; what goes wrong is told to the model, which may try otherwise."""
    name, arguments = given.get("name"), given.get("arguments")
    if not isinstance(name, str) or name not in TOOLS:
        raise _Refused(NO_PARAMS, f"there is no tool '{str(name)[:100]}'; there are: {', '.join(TOOLS)}")
    if arguments is not None and not isinstance(arguments, dict):
        raise _Refused(NO_PARAMS, "arguments must be an object")
    try:
        told = await use(desk, name, arguments or {})
    except PinciteError as error:
        said = problem_of(error, request_id).detail
        return {"content": [{"type": "text", "text": said}], "isError": True}
    return {"content": [{"type": "text", "text": told.text}], "structuredContent": told.data, "isError": False}


@router.post("/mcp")
async def mcp(request: Request, pincite: Engine, caller: Reader, admitted: Admitted) -> Response:
    """One JSON-RPC message of the Model Context Protocol, answered as JSON; 202 where it wants no answer."""
    version = request.headers.get("mcp-protocol-version", VERSIONS[0])
    if version not in VERSIONS:
        spoken = f"this server speaks {', '.join(VERSIONS)}, not '{version[:40]}'"
        return JSONResponse(_error(None, NO_REQUEST, spoken), 400)
    body = await request.body()
    desk = _desk(pincite, caller, admitted)
    told = await unless_gone(request.receive, answer(body, desk, request_id_of(request.scope)))
    if told is None:
        return Response(status_code=202)
    return JSONResponse(told, 400 if told["id"] is None else 200)


def _desk(pincite: AsyncPincite, caller: Caller, admitted: Admission) -> Desk:
    """Tools in the name of whoever called, within their limits and in their turn."""

    async def search(question: Question) -> SearchResult:
        return await admitted.search(caller, lambda: pincite.search(question, caller=caller))

    async def ask(question: Question) -> Answer:
        asked = while_readable(pincite, caller, lambda listen: pincite.ask(question, caller=caller, listen=listen))
        return await admitted.question(caller, asked, stream=False, longest=None)(lambda _event: None)

    return Desk(search, lambda reading: pincite.read(reading, caller=caller), ask)
