"""The Model Context Protocol over streamable HTTP; `cli/mcp.py` serves it over stdin and stdout.

Clients of the revision 2026-07-28 send self-contained requests. Those of earlier revisions have a session, which lives in
the memory of this process and belongs to the key that began it.
"""

from typing import Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from pincite.api.admission.admission import Admission
from pincite.api.dependencies import Engine, Reader
from pincite.api.middleware.problems import get_request_id, to_problem
from pincite.api.streaming.disconnect import until_disconnect
from pincite.api.streaming.revalidate import while_permitted
from pincite.core import request_context
from pincite.core.accounts.access import Caller
from pincite.core.query.answer import Answer, SearchResult
from pincite.core.query.question import Question
from pincite.engine.app import AsyncPincite
from pincite.errors import Cancelled, NotAllowed
from pincite.mcp.server import Listen, make_server
from pincite.mcp.tools import ToolBackend

router = APIRouter(tags=["mcp"])

MAX_SESSIONS = 1000
"""Sessions of clients of earlier revisions."""
SESSION_IDLE_S = 1800.0
"""Seconds without a request after which a session ends."""


def make_sessions(pincite: AsyncPincite, admission: Admission) -> StreamableHTTPSessionManager:
    """Make what answers the requests to `/mcp`; it runs while the application does."""

    def backend_for(request: Any, listen: Listen) -> ToolBackend:
        return _tool_backend(pincite, admission, request, listen)

    return StreamableHTTPSessionManager(
        make_server(backend_for), session_idle_timeout=SESSION_IDLE_S, max_sessions=MAX_SESSIONS
    )


@router.post("/mcp")
async def mcp(request: Request, pincite: Engine, caller: Reader) -> Response:
    """Handle one JSON-RPC message of the Model Context Protocol; the response is JSON or a stream of events."""
    _check_origin(request, pincite)
    return _Transport(request.app.state.mcp_sessions, caller)


@router.delete("/mcp")
async def end_session(request: Request, pincite: Engine, caller: Reader) -> Response:
    """End a session of the Model Context Protocol."""
    _check_origin(request, pincite)
    return _Transport(request.app.state.mcp_sessions, caller)


def _check_origin(request: Request, pincite: AsyncPincite) -> None:
    """Refuse a request of another site's page, which could have found the key or an open port (DNS rebinding)."""
    origin = request.headers.get("origin", "").lower()
    if not origin or origin in {one.lower() for one in pincite.settings.server.allowed_origins}:
        return
    if urlsplit(origin).netloc != request.headers.get("host", "").lower():
        raise NotAllowed("pages of this origin may not use /mcp (server.allowed_origins)", code="wrong_origin")


class _Transport(Response):
    """A response that the library writes itself."""

    def __init__(self, sessions: StreamableHTTPSessionManager, caller: Caller) -> None:
        super().__init__()
        self._sessions = sessions
        self._owner = AccessToken(token="", client_id=f"{caller.person} {caller.key_id}", scopes=[])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the library answer; a session is only found by the key that began it."""
        await self._sessions.handle_request({**scope, "user": AuthenticatedUser(self._owner)}, receive, send)


def _tool_backend(pincite: AsyncPincite, admission: Admission, request: Request, listen: Listen) -> ToolBackend:
    """Make the tool backend of a request, with quotas and admission control."""
    caller: Caller = request.state.caller
    request_context.key_id.set(caller.key_id)

    async def search(question: Question) -> SearchResult:
        return await admission.search(caller, lambda: pincite.search(question, caller=caller))

    async def ask(question: Question) -> Answer:
        permitted = while_permitted(pincite, caller, lambda hear: pincite.ask(question, caller=caller, listen=hear))
        admitted = admission.question(caller, permitted, stream=False, max_tokens=None)
        try:
            return await until_disconnect(request.receive, admitted(listen))
        except ClientDisconnect:
            raise Cancelled("the client went away") from None

    return ToolBackend(
        search,
        lambda read_request: pincite.documents.read(read_request, caller=caller),
        ask,
        lambda listing: pincite.documents.page(listing, caller=caller),
        lambda name: pincite.graph.find(name, caller=caller),
        lambda entity: pincite.graph.entity(entity, caller=caller),
        lambda error: to_problem(error, get_request_id(request.scope)).detail,
    )
