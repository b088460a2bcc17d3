"""Conversations over a WebSocket: the same questions and events as `POST /chat`, as JSON frames."""

import asyncio
import json
from typing import Any, NoReturn

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.responses import Response
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from pincite.api.admission.admission import Admission, AdmissionControl
from pincite.api.dependencies import Engine
from pincite.api.middleware.authenticate import Reader, wait_until_revoked
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
"""Codes that say why a socket was closed by the server."""


@router.get("/chat/ws", status_code=426)
async def upgrade(request: Request, caller: Reader) -> Response:
    """Ask questions over a WebSocket; anything but a WebSocket is told to become one."""
    problem = Problem(
        426, "upgrade_required", "A WebSocket is needed", "connect with a WebSocket", {"Upgrade": "websocket"}
    )
    return problem.response(request.scope)


@router.websocket("/chat/ws")
async def converse(socket: WebSocket, pincite: Engine, caller: Reader, admitted: AdmissionControl) -> None:
    """One question at a time; a socket that closes stops its answer, unless that is resumable."""
    with admitted.listening(caller):
        await _converse(socket, pincite, caller)


async def _converse(socket: WebSocket, pincite: AsyncPincite, caller: Caller) -> None:
    await socket.accept()
    line = _Socket(socket, pincite, caller)
    try:
        await run_until_error(line.listen(), wait_until_revoked(socket))
    except WebSocketDisconnect:
        pass
    except Unauthorized as error:
        await line.say_problem(error)
        await socket.close(CLOSE_POLICY_VIOLATION)
    except (asyncio.CancelledError, Stopping) as error:
        await line.say_problem(error)
        await socket.close(CLOSE_GOING_AWAY)
    finally:
        await line.end()


class _Socket:
    """One socket: reads what the client sends while an answer is being told."""

    def __init__(self, socket: WebSocket, pincite: AsyncPincite, caller: Caller) -> None:
        self._socket = socket
        self._pincite = pincite
        self._caller = caller
        self._request_id = get_request_id(socket.scope)
        self._stream: Stream | None = None
        self._telling: asyncio.Task[None] | None = None

    async def listen(self) -> NoReturn:
        """Take frame after frame until the client goes away; a bad one is answered and forgotten."""
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                raise WebSocketDisconnect(message.get("code", 1005))
            try:
                await self._take(message.get("text"))
            except (PinciteError, RequestValidationError) as error:
                await self.say_problem(error)

    async def _take(self, text: str | None) -> None:
        data = _parse_frame(text)
        if data.get("cancel") is True and len(data) == 1:
            if self._stream:
                await self._stream.cancel()
            return
        if self._telling and not self._telling.done():
            raise Conflict('one question at a time; wait for its answer or send {"cancel": true}', code="busy")
        body = _validate_body({**data, "stream": True})
        admission: Admission = self._socket.app.state.admission
        ask = while_permitted(self._pincite, self._caller, make_ask(body, self._pincite, self._caller))
        ask = admission.question(self._caller, ask, stream=True, longest=body.max_tokens)
        streams: Streams = self._socket.app.state.streams
        self._stream = streams.open(self._caller.person, ask, self._request_id, resumable=body.resumable)
        self._telling = asyncio.create_task(self._tell(self._stream))

    async def _tell(self, stream: Stream) -> None:
        async with stream.listening():
            try:
                async for told in stream.follow(every_s=KEEP_ALIVE_S):
                    if told:
                        await self._say(told, numbered=stream.id is not None)
            except WebSocketDisconnect:
                return
            except Exception as error:  # it could not be asked, and nothing of it was told
                await self.say_problem(error)

    async def say_problem(self, error: BaseException) -> None:
        """Tell what went wrong."""
        problem = to_problem(error, self._request_id)
        await self._say(StreamEvent.of(0, "error", problem.shape(self._request_id)), numbered=False)

    async def _say(self, told: StreamEvent, *, numbered: bool) -> None:
        if self._socket.application_state is WebSocketState.CONNECTED:
            number = f'"id":{told.number},' if numbered else ""
            await self._socket.send_text(f'{{{number}"event":"{told.event}","data":{told.data}}}')

    async def end(self) -> None:
        """Stop telling; what is not resumable ends with it."""
        if self._telling:
            self._telling.cancel()
            await asyncio.gather(self._telling, return_exceptions=True)


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
