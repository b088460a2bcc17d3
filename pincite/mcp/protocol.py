"""JSON-RPC messages of the Model Context Protocol: one answer each, whatever the transport.

Nothing is remembered between messages, so any process of a service can answer any of them.
"""

import json
from collections.abc import Mapping
from typing import Any

from pincite import __version__
from pincite.errors import PinciteError
from pincite.mcp.tools import TOOLS, ToolBackend, call_tool, tool_descriptions
from pincite.serialize.primitives import Json

PROTOCOL_VERSIONS = ("2025-06-18", "2025-03-26", "2024-11-05")
"""Those of the protocol that are spoken, the newest first."""
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
INSTRUCTIONS = (
    "Documents of the user's own. Use ask for a cited answer, or rag_search for passages and read_document or"
    " find_in_document to look closer; cite by document and lines."
)


class _ProtocolError(Exception):
    """A message that cannot be answered."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


async def handle_message(text: bytes | str, backend: ToolBackend) -> Json | None:
    """The answer to one message, None where it wants none."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return error_message(None, PARSE_ERROR, "this is not JSON")
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return error_message(None, INVALID_REQUEST, 'send one JSON-RPC 2.0 message, an object with jsonrpc: "2.0"')
    number, method = message.get("id"), message.get("method")
    if not isinstance(method, str):
        return (
            None
            if "result" in message or "error" in message
            else error_message(number, INVALID_REQUEST, "there is no method")
        )
    if number is None:  # a notification: nothing here has to hear of it
        return None
    if not isinstance(number, str | int) or isinstance(number, bool):
        return error_message(None, INVALID_REQUEST, "an id is a string or a whole number")
    try:
        return {"jsonrpc": "2.0", "id": number, "result": await _dispatch(method, message.get("params"), backend)}
    except _ProtocolError as refused:
        return error_message(number, refused.code, str(refused))


def error_message(number: str | int | None, code: int, message: str) -> Json:
    """A JSON-RPC error."""
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}


async def _dispatch(method: str, params: Any, backend: ToolBackend) -> Json:
    given: Mapping[str, Any] = params if isinstance(params, dict) else {}
    if method == "initialize":
        wished = given.get("protocolVersion")
        return {
            "protocolVersion": wished if wished in PROTOCOL_VERSIONS else PROTOCOL_VERSIONS[0],
            "capabilities": {"tools": {"listChanged": False}},
            "serverInfo": {"name": "pincite", "title": "pincite", "version": __version__},
            "instructions": INSTRUCTIONS,
        }
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": tool_descriptions()}
    if method == "tools/call":
        return await _call_tool(given, backend)
    raise _ProtocolError(
        METHOD_NOT_FOUND, f"there is no method '{method[:100]}'; there are initialize, ping, tools/list, tools/call"
    )


async def _call_tool(given: Mapping[str, Any], backend: ToolBackend) -> Json:
    """What a tool says; what goes wrong is told to the model, which may try otherwise."""
    name, arguments = given.get("name"), given.get("arguments")
    if not isinstance(name, str) or name not in TOOLS:
        raise _ProtocolError(INVALID_PARAMS, f"there is no tool '{str(name)[:100]}'; there are: {', '.join(TOOLS)}")
    if arguments is not None and not isinstance(arguments, dict):
        raise _ProtocolError(INVALID_PARAMS, "arguments must be an object")
    try:
        told = await call_tool(backend, name, arguments or {})
    except PinciteError as error:
        return {"content": [{"type": "text", "text": backend.describe_error(error)}], "isError": True}
    return {"content": [{"type": "text", "text": told.text}], "structuredContent": told.data, "isError": False}
