"""Conversations over a WebSocket: the same questions and events as `POST /chat`, as JSON frames."""

import asyncio
import json
from typing import Any, NoReturn

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.responses import Response
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from pincite.api.admission.admission import Admission
from pincite.api.dependencies import AdmissionControl, Engine, Reader
from pincite.api.middleware.authenticate import wait_until_revoked
from pincite.api.middleware.problems import Problem, get_request_id, to_problem
from pincite.api.paths import API
from pincite.api.routes.chat import ChatBody, make_ask
from pincite.api.streaming.answer_streams import Stream, StreamEvent, Streams
from pincite.api.streaming.disconnect import run_until_error
from pincite.api.streaming.revalidate import while_permitted
from pincite.api.streaming.sse import KEEP_ALIVE_S
from pincite.core.accounts.access import Caller
from pincite.engine.app import AsyncPincite
from pincite.errors import Conflict, Invalid, PinciteError, Stopping, Unauthorized

router = APIRouter(prefix=API, tags=["chat"])

CLOSE_POLICY_VIOLATION, CLOSE_GOING_AWAY = 1008, 1001
"""WebSocket close codes used by the server."""


@router.get("/chat/ws", status_code=426)
async def upgrade(request: Request, caller: Reader) -> Response:
    """Ask questions over a WebSocket; a plain HTTP request is refused with 426."""
    problem = Problem(
        426, "upgrade_required", "A WebSocket is required", "connect with a WebSocket", {"Upgrade": "websocket"}
    )
    return problem.response(request.scope)


@router.websocket("/chat/ws")
async def converse(socket: WebSocket, pincite: Engine, caller: Reader, admission: AdmissionControl) -> None:
    """Answer one question at a time; closing the socket cancels its answer unless it is resumable."""
    with admission.listening(caller):
        await _converse(socket, pincite, caller)


async def _converse(socket: WebSocket, pincite: AsyncPincite, caller: Caller) -> None:
    await socket.accept()
    session = _Socket(socket, pincite, caller)
    try:
        await run_until_error(session.listen(), wait_until_revoked(socket))
    except WebSocketDisconnect:
        pass
    except Unauthorized as error:
        await session.send_problem(error)
        await socket.close(CLOSE_POLICY_VIOLATION)
    except (asyncio.CancelledError, Stopping) as error:
        await session.send_problem(error)
        await socket.close(CLOSE_GOING_AWAY)
    finally:
        await session.end()


class _Socket:
    """One socket: reads frames of the client while an answer is being sent."""

    def __init__(self, socket: WebSocket, pincite: AsyncPincite, caller: Caller) -> None:
        self._socket = socket
        self._pincite = pincite
        self._caller = caller
        self._request_id = get_request_id(socket.scope)
        self._stream: Stream | None = None
        self._sending: asyncio.Task[None] | None = None

    async def listen(self) -> NoReturn:
        """Handle frames until the client disconnects; an invalid frame gets an error event."""
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                raise WebSocketDisconnect(message.get("code", 1005))
            try:
                await self._handle_frame(message.get("text"))
            except (PinciteError, RequestValidationError) as error:
                await self.send_problem(error)

    async def _handle_frame(self, text: str | None) -> None:
        data = _parse_frame(text)
        if data.get("cancel") is True and len(data) == 1:
            if self._stream:
                await self._stream.cancel()
            return
        if self._sending and not self._sending.done():
            raise Conflict('one question at a time; wait for its answer or send {"cancel": true}', code="busy")
        body = _validate_body({**data, "stream": True})
        admission: Admission = self._socket.app.state.admission
        ask = while_permitted(self._pincite, self._caller, make_ask(body, self._pincite, self._caller))
        ask = admission.question(self._caller, ask, stream=True, max_tokens=body.max_tokens)
        streams: Streams = self._socket.app.state.streams
        self._stream = streams.open(self._caller.person, ask, self._request_id, resumable=body.resumable)
        self._sending = asyncio.create_task(self._send_stream(self._stream))

    async def _send_stream(self, stream: Stream) -> None:
        async with stream.listening():
            try:
                async for event in stream.follow(every_s=KEEP_ALIVE_S):
                    if event:
                        await self._send(event, numbered=stream.id is not None)
            except WebSocketDisconnect:
                return
            except Exception as error:  # it failed before its first event
                await self.send_problem(error)

    async def send_problem(self, error: BaseException) -> None:
        """Send an error event."""
        problem = to_problem(error, self._request_id)
        await self._send(StreamEvent.of(0, "error", problem.to_json(self._request_id)), numbered=False)

    async def _send(self, event: StreamEvent, *, numbered: bool) -> None:
        if self._socket.application_state is WebSocketState.CONNECTED:
            number = f'"id":{event.number},' if numbered else ""
            await self._socket.send_text(f'{{{number}"event":"{event.event}","data":{event.data}}}')

    async def end(self) -> None:
        """Stop sending; an answer that is not resumable is cancelled."""
        if self._sending:
            self._sending.cancel()
            await asyncio.gather(self._sending, return_exceptions=True)


def _parse_frame(text: str | None) -> dict[str, Any]:
    try:
        data = json.loads(text or "")
    except (ValueError, RecursionError):
        raise Invalid('send a JSON object as text, with the body of POST /chat or {"cancel": true}') from None
    if not isinstance(data, dict):
        raise Invalid("send a JSON object")
    return data


def _validate_body(data: dict[str, Any]) -> ChatBody:
    try:
        return ChatBody.model_validate(data)
    except ValidationError as error:
        raise RequestValidationError([{**one, "loc": ("body", *one["loc"])} for one in error.errors()]) from None
