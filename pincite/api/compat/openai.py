"""Routes for clients of OpenAI's API: answers as chat completions, their sources as footnotes."""

import base64
import json
import struct
import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.responses import JSONResponse, Response

from pincite.api.dependencies import AdmissionControl, Engine, Reader
from pincite.api.middleware.problems import Problem
from pincite.api.requests import single_value
from pincite.api.routes.chat import ChatBody, make_ask
from pincite.api.routes.embeddings import Embeddable, vectors_of
from pincite.api.routes.query import AnswerFormat, respond
from pincite.api.streaming.answer_streams import StreamEvent
from pincite.api.streaming.disconnect import until_disconnect
from pincite.config.profiles import profiles
from pincite.engine.app import AsyncPincite
from pincite.errors import Invalid, NotFound
from pincite.serialize.answers import footnotes
from pincite.serialize.fields import Words
from pincite.serialize.primitives import Json
from pincite.text.tokens import Tokenizer

router = APIRouter(prefix="/v1", tags=["openai"])

MODEL_NAME = "pincite"
"""The model that answers with the current settings; `pincite:PROFILE` answers with those of a profile."""
EXTRA_FIELDS = ("sources", "citations", "confidence", "suggested_questions", "warnings", "degraded")
"""Fields of an answer that a completion has in addition to OpenAI's."""
_FINISH_REASONS = {
    "length": "length",
    "content_filter": "content_filter",
    "refusal": "content_filter",
    "incomplete": "length",
}
"""OpenAI's finish reasons for answers that are not complete."""
_ROLES = {"developer": "system"}


class Part(BaseModel):
    """One part of a message: text or an image."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    type: str
    text: Words = ""
    image_url: dict[str, Any] = {}


class CompletionMessage(BaseModel):
    """A message of the conversation; messages of the client's own tools are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Words | list[Part] | None = None

    def text(self) -> str:
        """The text of the message."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type in ("text", "input_text"))
        return self.content or ""

    def images(self) -> list[str]:
        """The URLs of the images in the message, as data URLs."""
        parts = self.content if isinstance(self.content, list) else []
        return [str(part.image_url.get("url", "")) for part in parts if part.type == "image_url"]


class StreamOptions(BaseModel):
    """Options of a stream."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    include_usage: bool = False


class CompletionBody(BaseModel):
    """A conversation to answer; options of `POST /chat` are accepted by name, other fields are ignored."""

    model_config = ConfigDict(extra="allow", frozen=True, allow_inf_nan=False)

    messages: Annotated[list[CompletionMessage], Field(min_length=1, max_length=500)]
    model: Words = MODEL_NAME
    n: Literal[1] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None

    def as_chat(self) -> ChatBody:
        """The equivalent body of `POST /chat`."""
        fields = {name: value for name, value in (self.model_extra or {}).items() if name in ChatBody.model_fields}
        name, _, profile = self.model.partition(":")
        fields |= (
            {"profile": profile}
            if name == MODEL_NAME and profile
            else {}
            if name == MODEL_NAME
            else {"model": self.model}
        )
        limit = single_value(max_tokens=self.max_tokens, max_completion_tokens=self.max_completion_tokens)
        messages = [one for one in self.messages if one.role not in ("tool", "function")]
        fields["messages"] = [{"role": _ROLES.get(one.role, one.role), "content": one.text()} for one in messages]
        if messages and (images := messages[-1].images()):
            fields |= {"images": images, "mode": "vision"}
        fields |= {"stream": bool(self.stream), "temperature_override": self.temperature, "max_tokens": limit}
        try:
            return ChatBody.model_validate(fields)
        except ValidationError as error:
            raise RequestValidationError([{**one, "loc": ("body", *one["loc"])} for one in error.errors()]) from None


@router.post("/chat/completions")
async def completions(body: CompletionBody, request: Request, pincite: Engine, caller: Reader) -> Response:
    """Answer the last message from the documents as a chat completion; `stream` sends it as it is written."""
    chat, completion = body.as_chat(), Completion(body.model, int(time.time()))
    with_usage = bool(body.stream_options and body.stream_options.include_usage)
    answer_format = AnswerFormat(completion.whole, CompletionChunks(completion, with_usage=with_usage))
    return await respond(request, chat, caller, make_ask(chat, pincite, caller), answer_format)


class Completion:
    """Converts an answer into a completion of the model with this name."""

    def __init__(self, model: str, created: int) -> None:
        self._head = {"created": created, "model": model}

    def whole(self, answer: Json) -> Json:
        """The whole answer as one completion."""
        message = {"role": "assistant", "content": answer["answer"] + footnotes(answer), "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish_reason(answer)}
        fields = {"choices": [choice], "usage": _usage(answer), **_extras(answer)}
        return {"id": _completion_id(answer["id"]), "object": "chat.completion", **self._head, **fields}

    def chunk(self, answer_id: str, delta: Mapping[str, Any] | None, **more: Any) -> bytes:
        """One chunk of a streamed completion."""
        finish = more.pop("finish_reason", None)
        choices = (
            [] if delta is None else [{"index": 0, "delta": dict(delta), "logprobs": None, "finish_reason": finish}]
        )
        chunk = {
            "id": _completion_id(answer_id),
            "object": "chat.completion.chunk",
            **self._head,
            "choices": choices,
            **more,
        }
        return _sse_data(chunk)


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
            return _sse_data(Problem(*(data[name] for name in names)).to_openai_json())
        return b"data: [DONE]\n\n" if event.event == "done" else b""

    def _end_chunks(self, answer: Json) -> bytes:
        """The rest of the text, the footnotes and the end; citation offsets refer to the field `answer`."""
        chunk, text = self._completion.chunk, answer["answer"]
        rest = text[len(self._sent_text) :] if text.startswith(self._sent_text) else _replacement(answer)
        chunks = chunk(self._id, {"content": rest + footnotes(answer)}) if rest or footnotes(answer) else b""
        chunks += chunk(self._id, {}, finish_reason=_finish_reason(answer), answer=text, **_extras(answer))
        return chunks + (chunk(self._id, None, usage=_usage(answer)) if self._with_usage else b"")


def _replacement(answer: Json) -> str:
    """What follows the streamed text of a model that the answer replaces: the warning and the answer itself."""
    model = answer["metadata"].get("replaced_model")
    warning = next((one for one in answer["warnings"] if model and model in one), "")
    return f"\n\n---\n\n**{warning}**\n\n{answer['answer']}" if warning else ""


def _finish_reason(answer: Json) -> str:
    return _FINISH_REASONS.get(answer["metadata"]["finish_reason"] or "", "stop")


def _usage(answer: Json) -> Json | None:
    """The token usage; zero when no model was used, None when the model did not report it."""
    metadata = answer["metadata"]
    if metadata["usage"] is None and metadata["model"] not in (None, "extractive"):
        return None
    used = metadata["usage"] or {"prompt_tokens": 0, "completion_tokens": 0}
    return {**used, "total_tokens": used["prompt_tokens"] + used["completion_tokens"]}


def _extras(answer: Json) -> Json:
    return {name: answer[name] for name in EXTRA_FIELDS}


def _completion_id(answer_id: str) -> str:
    return f"chatcmpl-{answer_id}"


def _sse_data(value: Json) -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()


# --- models and embeddings ----------------------------------------------------------------------------------


@router.get("/models")
async def models(pincite: Engine, caller: Reader) -> JSONResponse:
    """List the models: the current settings, one per profile, and the embedder."""
    return JSONResponse({"object": "list", "data": [_model_json(name) for name in _model_names(pincite)]})


@router.get("/models/{model_id:path}")
async def model(model_id: str, pincite: Engine, caller: Reader) -> JSONResponse:
    """Show one model."""
    if model_id not in _model_names(pincite):
        raise NotFound(f"there is no model '{model_id[:100]}'; list models with GET /v1/models", code="model_not_found")
    return JSONResponse(_model_json(model_id))


def _model_names(pincite: AsyncPincite) -> list[str]:
    return [MODEL_NAME, *(f"{MODEL_NAME}:{name}" for name in profiles()), pincite.admin.embedder.name]


def _model_json(name: str) -> Json:
    return {"id": name, "object": "model", "created": 0, "owned_by": MODEL_NAME}


class TextsBody(BaseModel):
    """Texts to embed; the embedder of the library is used, whatever `model` says."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    input: Embeddable | Annotated[list[Embeddable], Field(min_length=1, max_length=256)]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None


@router.post("/embeddings")
async def embeddings(
    body: TextsBody, request: Request, pincite: Engine, caller: Reader, admission: AdmissionControl
) -> JSONResponse:
    """Return one unit vector per text, in order, from the embedder of the library."""
    texts, embedder = [body.input] if isinstance(body.input, str) else body.input, pincite.admin.embedder
    if body.dimensions not in (None, embedder.dimensions):
        raise Invalid(
            f"dimensions: the vectors of {embedder.name} have {embedder.dimensions}; leave it out or send that number"
        )
    vectors = await until_disconnect(request.receive, admission.search(caller, lambda: vectors_of(embedder, texts)))
    counted = sum(map(Tokenizer().count, texts))
    data = [
        {"object": "embedding", "index": n, "embedding": _encode_vector(vector, body.encoding_format)}
        for n, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": counted, "total_tokens": counted}
    return JSONResponse({"object": "list", "data": data, "model": embedder.name, "usage": usage})


def _encode_vector(vector: Sequence[float], form: str) -> str | Sequence[float]:
    return vector if form == "float" else base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
