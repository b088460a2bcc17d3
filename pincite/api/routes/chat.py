"""Conversations: answer a message in a stored session, or after the messages that the client sends."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Literal, Self

from fastapi import APIRouter, Header, Request
from pydantic import BaseModel, ConfigDict, Field, model_validator
from starlette.responses import JSONResponse, Response

from pincite.api.dependencies import Engine, Reader
from pincite.api.middleware.authenticate import wait_until_revoked
from pincite.api.paths import API
from pincite.api.requests import AnswerOptions
from pincite.api.routes.query import respond
from pincite.api.streaming.answer_streams import Ask, Streams
from pincite.api.streaming.revalidate import check_readable
from pincite.api.streaming.sse import AnswerStream
from pincite.core.accounts.access import Caller, Scope
from pincite.core.query.answer import Answer
from pincite.core.query.question import Exchange, Question
from pincite.core.run import Event
from pincite.engine.app import AsyncPincite
from pincite.errors import Invalid, PinciteError
from pincite.serialize.fields import Name, Words

log = logging.getLogger(__name__)
router = APIRouter(prefix=f"{API}/chat", tags=["chat"])

CLEANUP_TIMEOUT_S = 5.0
"""Seconds that a failed question waits for the removal of its empty session."""


class ChatMessage(BaseModel):
    """One message of a conversation."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    role: Literal["system", "user", "assistant"]
    content: Annotated[Words, Field(max_length=100_000)]


class ChatBody(AnswerOptions):
    """A message in a session, or a whole conversation kept by the client, and the options of its answer."""

    message: Words | None = None
    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=500)] | None = None
    session_id: Annotated[Name, Field(min_length=1, max_length=100)] | None = None
    replaces: Annotated[Name, Field(min_length=1, max_length=100)] | None = None

    @model_validator(mode="after")
    def _one_conversation(self) -> Self:
        if (self.message is None) == (self.messages is None):
            raise ValueError("send either 'message' or 'messages'")
        if self.messages is not None and self.session_id is not None:
            raise ValueError(
                "'messages' is a conversation kept by you and 'session_id' one kept here; send 'message' with a session"
            )
        if self.replaces is not None and self.session_id is None:
            raise ValueError("'replaces' names a turn of a session; send 'session_id' as well")
        if self.messages is not None and self.messages[-1].role != "user":
            raise ValueError("the last of 'messages' must have the role user")
        if self._system() and self.system_prompt:
            raise ValueError("send the system prompt once: as a message or as 'system_prompt'")
        return self

    def question(self) -> Question:
        """The engine's question, with the earlier messages if the client keeps the conversation."""
        if self.messages is None:
            question = self.to_question(self.message or "")
            return replace(question, session_id=self.session_id, replaces=self.replaces)
        question = replace(self.to_question(self.messages[-1].content), conversation=tuple(self._turns()))
        if not (system := self._system()):
            return question
        return replace(question, sampling=replace(question.sampling, system_prompt=system))

    def _system(self) -> str:
        return "\n\n".join(message.content for message in self.messages or () if message.role == "system")

    def _turns(self) -> list[Exchange]:
        """The turns before the last message; messages before the first question are left out."""
        turns: list[Exchange] = []
        for message in (self.messages or [])[:-1]:
            if not message.content.strip():
                continue
            if message.role == "user":
                turns.append(Exchange(message.content, message.content, ""))
            elif message.role == "assistant" and turns:
                answer = f"{turns[-1].answer}\n\n{message.content}".strip()
                turns[-1] = replace(turns[-1], answer=answer)
        return turns


def make_ask(body: ChatBody, pincite: AsyncPincite, caller: Caller) -> Ask:
    """Make the function that asks a message: in its session, in a new one, or without one if the client keeps it."""
    question = body.question()
    if body.messages is not None or body.session_id is not None:
        return lambda listen: pincite.ask(question, caller=caller, listen=listen)

    async def ask_in_new_session(listen: Callable[[Event], None]) -> Answer:
        scope = await pincite.scope(caller)
        session = await pincite.questions.sessions.create(scope)
        try:
            return await pincite.ask(replace(question, session_id=session.id), caller=caller, listen=listen)
        except BaseException:  # refused, failed or cancelled before a turn was stored
            await _remove_if_empty(pincite, scope, session.id)
            raise

    return ask_in_new_session


async def _remove_if_empty(pincite: AsyncPincite, scope: Scope, session_id: str) -> None:
    """Remove a session without turns; a failure is logged, so that it does not hide the question's error."""
    try:
        async with asyncio.timeout(CLEANUP_TIMEOUT_S):
            await pincite.questions.sessions.remove_if_empty(scope, session_id)
    except (PinciteError, TimeoutError) as error:
        log.warning("an empty session could not be removed: %s", error or type(error).__name__)


@router.post("")
async def chat(body: ChatBody, request: Request, pincite: Engine, caller: Reader) -> Response:
    """Answer a message in its session; without one, create a session and return its id in the answer."""
    return await respond(request, body, caller, make_ask(body, pincite, caller))


@router.get("/streams/{stream_id}")
async def follow(
    stream_id: str,
    request: Request,
    pincite: Engine,
    caller: Reader,
    last_event_id: Annotated[str, Header(max_length=20)] = "0",
) -> Response:
    """Resume a stream after the last received event; 204 if that was the last one."""
    streams: Streams = request.app.state.streams
    stream = streams.get(caller.person, stream_id)
    if not (last_event_id.isascii() and last_event_id.isdecimal()) or int(last_event_id) > stream.last:
        raise Invalid(f"Last-Event-ID must be the number of an event of this stream: 0 to {stream.last}")
    await check_readable(pincite, caller, stream.documents)
    if stream.ended and 0 < stream.last == int(last_event_id):
        return Response(status_code=204)
    return AnswerStream(stream, wait_until_revoked(request), after=int(last_event_id))


@router.delete("/streams/{stream_id}")
async def cancel(stream_id: str, request: Request, caller: Reader) -> JSONResponse:
    """Cancel a resumable stream and remove it."""
    streams: Streams = request.app.state.streams
    return JSONResponse({"id": stream_id, "cancelled": await streams.cancel(caller.person, stream_id)})
