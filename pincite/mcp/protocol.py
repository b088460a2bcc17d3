"""JSON-RPC messages of the Model Context Protocol, independent of the transport.

The protocol is stateless here: any process of a service can answer any message.
"""

import json
from collections.abc import Mapping
from typing import Any

from pincite import __version__
from pincite.errors import PinciteError
from pincite.mcp.tools import TOOLS, ToolBackend, call_tool, tool_descriptions
from pincite.serialize.primitives import Json

PROTOCOL_VERSIONS = ("2025-06-18", "2025-03-26", "2024-11-05")
"""Supported protocol versions, newest first."""
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
INSTRUCTIONS = (
    "Documents of the user's own. Use ask for a cited answer, or rag_search for passages and read_document or"
    " find_in_document to look closer; cite by document and lines."
)


class _ProtocolError(Exception):
    """A message that is answered with a JSON-RPC error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


async def handle_message(text: bytes | str, backend: ToolBackend) -> Json | None:
    """Return the response to one message, or None for a notification or a response."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return error_message(None, PARSE_ERROR, "the message is not valid JSON")
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return error_message(None, INVALID_REQUEST, 'send one JSON-RPC 2.0 message, an object with jsonrpc: "2.0"')
    number, method = message.get("id"), message.get("method")
    if not isinstance(method, str):
        return (
            None
            if "result" in message or "error" in message
            else error_message(number, INVALID_REQUEST, "the message has no method")
        )
    if number is None:  # a notification needs no response
        return None
    if not isinstance(number, str | int) or isinstance(number, bool):
        return error_message(None, INVALID_REQUEST, "the id must be a string or an integer")
    try:
        return {"jsonrpc": "2.0", "id": number, "result": await _dispatch(method, message.get("params"), backend)}
    except _ProtocolError as error:
        return error_message(number, error.code, str(error))


def error_message(number: str | int | None, code: int, message: str) -> Json:
    """A JSON-RPC error response."""
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}


async def _dispatch(method: str, params: Any, backend: ToolBackend) -> Json:
    parameters: Mapping[str, Any] = params if isinstance(params, dict) else {}
    if method == "initialize":
        requested = parameters.get("protocolVersion")
        return {
            "protocolVersion": requested if requested in PROTOCOL_VERSIONS else PROTOCOL_VERSIONS[0],
            "capabilities": {"tools": {"listChanged": False}},
            "serverInfo": {"name": "pincite", "title": "pincite", "version": __version__},
            "instructions": INSTRUCTIONS,
        }
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": tool_descriptions()}
    if method == "tools/call":
        return await _call_tool(parameters, backend)
    raise _ProtocolError(
        METHOD_NOT_FOUND,
        f"there is no method '{method[:100]}'; there are initialize, ping, tools/list, tools/call",
    )


async def _call_tool(parameters: Mapping[str, Any], backend: ToolBackend) -> Json:
    """Call a tool; an error becomes part of the result, so that the model can try again."""
    name, arguments = parameters.get("name"), parameters.get("arguments")
    if not isinstance(name, str) or name not in TOOLS:
        raise _ProtocolError(INVALID_PARAMS, f"there is no tool '{str(name)[:100]}'; there are: {', '.join(TOOLS)}")
    if arguments is not None and not isinstance(arguments, dict):
        raise _ProtocolError(INVALID_PARAMS, "arguments must be an object")
    try:
        result = await call_tool(backend, name, arguments or {})
    except PinciteError as error:
        return {"content": [{"type": "text", "text": backend.describe_error(error)}], "isError": True}
    return {"content": [{"type": "text", "text": result.text}], "structuredContent": result.data, "isError": False}
