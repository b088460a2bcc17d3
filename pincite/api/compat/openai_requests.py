"""Requests of OpenAI's clients: their messages and options as a body of `POST /chat`, and what of them is ignored."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, ValidationError

from pincite.api.routes.chat import ChatBody
from pincite.serialize.fields import Words

MODEL_NAME = "pincite"
"""The model that answers with the current settings; `pincite:PROFILE` answers with those of a profile."""
_ROLES = {"developer": "system"}
_TEXT_PARTS = ("text", "input_text", "output_text")
_HARMLESS = frozenset(
    {
        "background", "include", "metadata", "parallel_tool_calls", "prompt_cache_key", "safety_identifier",
        "service_tier", "store", "truncation", "user", "stream_options",
    }
)  # fmt: skip
"""Options without an effect on an answer: nobody has to be told that they are ignored."""


class Part(BaseModel):
    """One part of a message: text or an image."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    type: str
    text: Words = ""
    image_url: dict[str, Any] | str = ""

    def image(self) -> str:
        """The URL of the image; empty for text."""
        url = self.image_url if isinstance(self.image_url, str) else self.image_url.get("url", "")
        return str(url) if self.type in ("image_url", "input_image") else ""


class ClientMessage(BaseModel):
    """A message of the conversation; messages of the client's own tools are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Words | list[Part] | None = None

    def text(self) -> str:
        """The text of the message."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type in _TEXT_PARTS)
        return self.content or ""

    def images(self) -> list[str]:
        """The URLs of the images in the message, as data URLs."""
        parts = self.content if isinstance(self.content, list) else []
        return [url for part in parts if (url := part.image())]

    def is_of_tools(self) -> bool:
        """Whether it is the result of a tool of the client."""
        return self.role in ("tool", "function")


def bad_value(name: str, message: str) -> RequestValidationError:
    """The error of one field, by the name that the client sent."""
    error = {"type": "value_error", "loc": ("body", *name.split(".")), "msg": message, "input": None}
    return RequestValidationError([error])


def make_chat(
    messages: Sequence[ClientMessage], model: str, options: Mapping[str, Any], sent_as: Mapping[str, str]
) -> ChatBody:
    """The equivalent body of `POST /chat`; `sent_as` are the client's names of options that have another name here."""
    fields = {name: value for name, value in options.items() if name in ChatBody.model_fields and value is not None}
    name, _, profile = model.partition(":")
    if name != MODEL_NAME:
        fields["model"] = model
    elif profile:
        fields["profile"] = profile
    kept = _without_tools(messages)
    fields["messages"] = [{"role": _ROLES.get(one.role, one.role), "content": one.text()} for one in kept]
    if kept and (images := kept[-1].images()):
        fields |= {"images": images, "mode": "vision"}
    try:
        return ChatBody.model_validate(fields)
    except ValidationError as error:
        raise RequestValidationError(
            [{**one, "loc": ("body", *(sent_as.get(str(part), part) for part in one["loc"]))} for one in error.errors()]
        ) from None


def _without_tools(messages: Sequence[ClientMessage]) -> list[ClientMessage]:
    """The messages without results of tools, and without the calls of tools that ended the conversation."""
    kept = [one for one in messages if not one.is_of_tools()]
    while kept and kept[-1].role == "assistant" and not kept[-1].text() and kept[-1] is not messages[-1]:
        kept.pop()
    return kept


def refuse_tool_choice(choice: object) -> None:
    """Refuse a request that is only fulfilled by a call of a tool."""
    if choice not in (None, "auto", "none"):
        raise bad_value("tool_choice", "pincite answers from the documents and calls no tools; send auto or none")


def refuse_json(kind: object, name: str) -> None:
    """Refuse a request for JSON: an answer is prose with citations."""
    if kind not in (None, "text"):
        raise bad_value(name, f"an answer is text with citations, never {str(kind)[:40]}; leave {name} out")


def ignored_options(options: Mapping[str, Any], messages: Sequence[ClientMessage]) -> list[str]:
    """Warnings about what a request asks for and an answer does not have."""
    warnings = []
    if options.get("tools") or options.get("functions"):
        warnings.append("tools: pincite answers from the documents and calls no tools of the client")
    if any(one.is_of_tools() for one in messages):
        warnings.append("messages: the results of tools are not used; the answer is from the documents")
    known = {*ChatBody.model_fields, *_HARMLESS, "tools", "functions", "tool_choice", "function_call"}
    others = sorted(name for name, value in options.items() if name not in known and value not in (None, {}, [], False))
    if others:
        warnings.append(f"these options are ignored: {', '.join(name[:40] for name in others[:20])}")
    return warnings
