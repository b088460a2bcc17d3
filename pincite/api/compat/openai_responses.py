"""OpenAI's Responses API: answers as responses, whole or as a stream of events."""

import json
import time
from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.responses import Response

from pincite.api.compat.openai_answers import (
    AnswerRequest,
    finish_reason,
    rest_of,
    shifted,
    sse_data,
    text_of,
    usage,
)
from pincite.api.compat.openai_requests import (
    MODEL_NAME,
    ClientMessage,
    bad_value,
    ignored_options,
    make_chat,
    refuse_json,
    refuse_tool_choice,
)
from pincite.api.dependencies import Engine, Reader
from pincite.api.routes.chat import ChatBody, make_ask
from pincite.api.routes.query import AnswerFormat, respond
from pincite.api.streaming.answer_streams import StreamEvent
from pincite.config.messages import describe_error
from pincite.serialize.fields import Words
from pincite.serialize.primitives import Json

router = APIRouter(prefix="/v1", tags=["openai"])

_TOOL_ITEMS = ("function_call_output", "custom_tool_call_output", "mcp_call", "computer_call_output")
_SKIPPED_ITEMS = ("reasoning", "function_call", "custom_tool_call", "web_search_call", "file_search_call")
_SENT_AS = {"temperature_override": "temperature", "max_tokens": "max_output_tokens", "messages": "input"}


class ResponseBody(BaseModel):
    """A question or a conversation; options of `POST /chat` are accepted by name, others are ignored with a warning."""

    model_config = ConfigDict(extra="allow", frozen=True, allow_inf_nan=False)

    input: Words | Annotated[list[dict[str, Any]], Field(min_length=1, max_length=500)]
    model: Words = MODEL_NAME
    instructions: Words | None = None
    stream: bool | None = None
    temperature: float | None = None
    max_output_tokens: int | None = None
    previous_response_id: str | None = None
    conversation: Any = None
    text: dict[str, Any] | None = None

    def messages(self) -> list[ClientMessage]:
        """The conversation; items of tools become messages of tools."""
        first = [{"role": "developer", "content": self.instructions}] if self.instructions else []
        items = [{"role": "user", "content": self.input}] if isinstance(self.input, str) else self.input
        messages = []
        for number, item in enumerate([*first, *items], -len(first)):
            kind = item.get("type", "message")
            if kind in _SKIPPED_ITEMS:
                continue
            if kind != "message" and kind not in _TOOL_ITEMS:
                raise bad_value(f"input.{number}.type", f"there is no item '{str(kind)[:40]}' here; send messages")
            try:
                messages.append(ClientMessage.model_validate({"role": "tool"} if kind in _TOOL_ITEMS else item))
            except ValidationError as error:
                first_error = error.errors()[0]
                path = ".".join(str(part) for part in first_error["loc"])
                raise bad_value(f"input.{number}.{path}", describe_error(first_error)) from None
        return messages

    def as_chat(self) -> ChatBody:
        """The equivalent body of `POST /chat`; a request that cannot be fulfilled is refused."""
        for name in ("previous_response_id", "conversation"):
            if getattr(self, name) is not None:
                raise bad_value(name, "responses are not kept here; send the earlier messages in input")
        refuse_json(((self.text or {}).get("format") or {}).get("type"), "text.format")
        more = self.model_extra or {}
        refuse_tool_choice(more.get("tool_choice"))
        options = {
            **more,
            "stream": bool(self.stream),
            "temperature_override": self.temperature,
            "max_tokens": self.max_output_tokens,
        }
        return make_chat(self.messages(), self.model, options, _SENT_AS)


@router.post("/responses")
async def responses(body: ResponseBody, request: Request, pincite: Engine, caller: Reader) -> Response:
    """Answer from the documents as a response; `stream` sends events as it is written."""
    chat = body.as_chat()
    asked = AnswerRequest(
        body.model,
        int(time.time()),
        str(request.base_url),
        chat.max_tokens,
        (),
        tuple(ignored_options(body.model_extra or {}, body.messages())),
    )
    made = ResponseMaker(asked, body)
    answer_format = AnswerFormat(made.whole, ResponseEvents(made))
    return await respond(request, chat, caller, make_ask(chat, pincite, caller), answer_format)


class ResponseMaker:
    """Converts an answer into a response of the model that was asked for."""

    def __init__(self, asked: AnswerRequest, body: ResponseBody) -> None:
        self.asked = asked
        self._body = body

    def whole(self, answer: Json) -> Json:
        """The whole answer as one response."""
        return self.ended(answer, text_of(answer), self.asked.annotations(answer))

    def started(self, answer_id: str) -> Json:
        """The response before its first word."""
        body = self._body
        return {
            "id": f"resp_{answer_id}",
            "object": "response",
            "created_at": self.asked.created,
            "status": "in_progress",
            "error": None,
            "incomplete_details": None,
            "instructions": body.instructions,
            "max_output_tokens": body.max_output_tokens,
            "metadata": {},
            "model": self.asked.model,
            "output": [],
            "parallel_tool_calls": False,
            "previous_response_id": None,
            "reasoning": {"effort": None, "summary": None},
            "store": False,
            "temperature": body.temperature,
            "text": {"format": {"type": "text"}},
            "tool_choice": "auto",
            "tools": [],
            "top_p": None,
            "truncation": "disabled",
            "usage": None,
            "user": None,
        }

    def ended(self, answer: Json, text: str, annotations: list[Json]) -> Json:
        """The response with its text and its citations."""
        complete = finish_reason(answer) == "stop"
        reasons = {"length": "max_output_tokens", "content_filter": "content_filter"}
        return self.started(answer["id"]) | {
            "status": "completed" if complete else "incomplete",
            "incomplete_details": None if complete else {"reason": reasons[finish_reason(answer)]},
            "model": self.asked.model_of(answer),
            "output": [message(answer["id"], [output_text(text, annotations)], done=True)],
            "usage": _usage(answer),
            **self.asked.extras(answer),
        }


def output_text(text: str, annotations: list[Json]) -> Json:
    """A text of a response with its citations."""
    return {"type": "output_text", "text": text, "annotations": annotations, "logprobs": []}


def message(answer_id: str, content: list[Json], *, done: bool) -> Json:
    """The message of a response."""
    status = "completed" if done else "in_progress"
    return {"id": f"msg_{answer_id}", "type": "message", "status": status, "role": "assistant", "content": content}


def _usage(answer: Json) -> Json | None:
    used = usage(answer)
    return used and {
        "input_tokens": used["prompt_tokens"],
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": used["completion_tokens"],
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": used["total_tokens"],
    }


class ResponseEvents:
    """Converts the events of one answer into those of a response."""

    def __init__(self, maker: ResponseMaker) -> None:
        self._maker = maker
        self._number = 0
        self._id = ""
        self._sent_text = ""

    def __call__(self, event: StreamEvent) -> bytes:
        """The events of the response for one event of the answer; empty for an event without an equivalent."""
        data = json.loads(event.data)
        if event.event == "start":
            self._id = data["id"]
            return b"".join(self._begin())
        if event.event == "token":
            return self._delta(data["text"])
        if event.event == "answer":
            return b"".join(self._end(data))
        if event.event == "error":
            return self._send("error", code=data["code"], message=data["detail"], param=None)
        return b""

    def _begin(self) -> Iterator[bytes]:
        response = self._maker.started(self._id)
        yield self._send("response.created", response=response)
        yield self._send("response.in_progress", response=response)
        yield self._send("response.output_item.added", output_index=0, item=message(self._id, [], done=False))
        yield self._part("response.content_part.added", part=output_text("", []))

    def _end(self, answer: Json) -> Iterator[bytes]:
        annotations = shifted(self._maker.asked.annotations(answer), answer, self._sent_text)
        if rest := rest_of(answer, self._sent_text):
            yield self._delta(rest)
        for number, one in enumerate(annotations):
            yield self._part("response.output_text.annotation.added", annotation_index=number, annotation=one)
        part = output_text(self._sent_text, annotations)
        yield self._part("response.output_text.done", text=self._sent_text, logprobs=[])
        yield self._part("response.content_part.done", part=part)
        item = message(self._id, [part], done=True)
        yield self._send("response.output_item.done", output_index=0, item=item)
        response = self._maker.ended(answer, self._sent_text, annotations)
        yield self._send(f"response.{response['status']}", response=response)

    def _delta(self, text: str) -> bytes:
        self._sent_text += text
        return self._part("response.output_text.delta", delta=text, logprobs=[])

    def _part(self, kind: str, **fields: Any) -> bytes:
        return self._send(kind, item_id=f"msg_{self._id}", output_index=0, content_index=0, **fields)

    def _send(self, kind: str, **fields: Any) -> bytes:
        event = {"type": kind, "sequence_number": self._number, **fields}
        self._number += 1
        return sse_data(event, kind)
