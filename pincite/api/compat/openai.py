"""Chat completions for clients of OpenAI's API: answers with their sources as footnotes and as annotations."""

import json
import time
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from pincite.api.compat.openai_answers import (
    AnswerRequest,
    finish_reason,
    nested,
    rest_of,
    shifted,
    sse_data,
    text_of,
    usage,
)
from pincite.api.compat.openai_requests import (
    MODEL_NAME,
    ClientMessage,
    ignored_options,
    make_chat,
    refuse_json,
    refuse_tool_choice,
)
from pincite.api.dependencies import Engine, Reader
from pincite.api.middleware.problems import Problem
from pincite.api.requests import single_value
from pincite.api.routes.chat import ChatBody, make_ask
from pincite.api.routes.query import AnswerFormat, respond
from pincite.api.streaming.answer_streams import StreamEvent
from pincite.serialize.fields import Words
from pincite.serialize.primitives import Json

router = APIRouter(prefix="/v1", tags=["openai"])


class StreamOptions(BaseModel):
    """Options of a stream."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    include_usage: bool = False


class CompletionBody(BaseModel):
    """A conversation to answer; options of `POST /chat` are accepted by name, other fields are ignored with a warning."""

    model_config = ConfigDict(extra="allow", frozen=True, allow_inf_nan=False)

    messages: Annotated[list[ClientMessage], Field(min_length=1, max_length=500)]
    model: Words = MODEL_NAME
    n: Literal[1] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    response_format: dict[str, Any] | None = None

    def as_chat(self) -> ChatBody:
        """The equivalent body of `POST /chat`; a request that cannot be fulfilled is refused."""
        more = self.model_extra or {}
        refuse_json((self.response_format or {}).get("type"), "response_format")
        refuse_tool_choice(more.get("tool_choice", more.get("function_call")))
        limit = single_value(max_tokens=self.max_tokens, max_completion_tokens=self.max_completion_tokens)
        options = {
            **more,
            "stream": bool(self.stream),
            "temperature_override": self.temperature,
            "max_tokens": limit,
        }
        sent_as = {"temperature_override": "temperature"}
        if self.max_tokens is None:
            sent_as["max_tokens"] = "max_completion_tokens"
        return make_chat(self.messages, self.model, options, sent_as)


@router.post("/chat/completions")
async def completions(body: CompletionBody, request: Request, pincite: Engine, caller: Reader) -> Response:
    """Answer the last message from the documents as a chat completion; `stream` sends it as it is written."""
    chat = body.as_chat()
    asked = AnswerRequest(
        body.model,
        int(time.time()),
        str(request.base_url),
        chat.max_tokens,
        chat.question().sampling.stop,
        tuple(ignored_options(body.model_extra or {}, body.messages)),
    )
    completion = Completion(asked)
    with_usage = bool(body.stream_options and body.stream_options.include_usage)
    answer_format = AnswerFormat(completion.whole, CompletionChunks(completion, with_usage=with_usage))
    return await respond(request, chat, caller, make_ask(chat, pincite, caller), answer_format)


class Completion:
    """Converts an answer into a completion of the model that was asked for."""

    def __init__(self, asked: AnswerRequest) -> None:
        self.asked = asked

    def whole(self, answer: Json) -> Json:
        """The whole answer as one completion."""
        message = {
            "role": "assistant",
            "content": text_of(answer),
            "refusal": None,
            "annotations": nested(self.asked.annotations(answer)),
        }
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish_reason(answer)}
        return {
            "id": _completion_id(answer["id"]),
            "object": "chat.completion",
            "created": self.asked.created,
            "model": self.asked.model_of(answer),
            "choices": [choice],
            "usage": usage(answer),
            **self.asked.extras(answer),
        }

    def chunk(self, answer_id: str, delta: Mapping[str, Any] | None, **more: Any) -> bytes:
        """One chunk of a streamed completion."""
        finish = more.pop("finish_reason", None)
        choices = (
            [] if delta is None else [{"index": 0, "delta": dict(delta), "logprobs": None, "finish_reason": finish}]
        )
        chunk = {
            "id": _completion_id(answer_id),
            "object": "chat.completion.chunk",
            "created": self.asked.created,
            "model": self.asked.model,
            "choices": choices,
            **more,
        }
        return sse_data(chunk)


class CompletionChunks:
    """Converts the events of one answer into chunks: the text, the footnotes, then the end with the sources."""

    def __init__(self, completion: Completion, *, with_usage: bool) -> None:
        self._completion = completion
        self._with_usage = with_usage
        self._id = ""
        self._sent_text = ""

    def __call__(self, event: StreamEvent) -> bytes:
        """The chunks of one event; empty for an event without an equivalent."""
        data = json.loads(event.data)
        if event.event == "start":
            self._id = data["id"]
            return self._completion.chunk(self._id, {"role": "assistant", "content": ""})
        if event.event == "token":
            self._sent_text += data["text"]
            return self._completion.chunk(self._id, {"content": data["text"]})
        if event.event == "answer":
            return self._end_chunks(data)
        if event.event == "error":
            names = ("status", "code", "title", "detail")
            return sse_data(Problem(*(data[name] for name in names)).to_openai_json())
        return b"data: [DONE]\n\n" if event.event == "done" else b""

    def _end_chunks(self, answer: Json) -> bytes:
        """The rest of the text, the annotations and the end; citation offsets refer to the field `answer`."""
        chunk, asked, rest = self._completion.chunk, self._completion.asked, rest_of(answer, self._sent_text)
        chunks = chunk(self._id, {"content": rest}) if rest else b""
        annotations = nested(shifted(asked.annotations(answer), answer, self._sent_text))
        if annotations:
            chunks += chunk(self._id, {"annotations": annotations})
        extras = {"answer": answer["answer"], **asked.extras(answer), "model": asked.model_of(answer)}
        chunks += chunk(self._id, {}, finish_reason=finish_reason(answer), **extras)
        return chunks + (chunk(self._id, None, usage=usage(answer)) if self._with_usage else b"")


def _completion_id(answer_id: str) -> str:
    return f"chatcmpl-{answer_id}"
