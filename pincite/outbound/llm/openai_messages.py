"""Convert messages, images, tools and stream events to and from OpenAI's format, which most servers use."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pincite.core.query.prompt import Message, Prompt, StreamPart
from pincite.core.query.tools import Tool
from pincite.outbound.llm.parse import piece_of, usage_of
from pincite.outbound.llm.tool_calls import Calls


def messages_of(prompt: Prompt) -> list[dict[str, Any]]:
    """Convert the messages of a prompt."""
    return [_message(message) for message in prompt.messages]


def _message(message: Message) -> dict[str, Any]:
    converted: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.pictures:
        shown = [{"type": "image_url", "image_url": {"url": picture.url}} for picture in message.pictures]
        converted["content"] = [{"type": "text", "text": message.content}, *shown]
    if message.calls:
        converted["content"] = message.content or None
        converted["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ]
    if message.answers:
        converted["tool_call_id"] = message.answers.id
    return converted


def tools_of(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Convert the tools that may be called."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
        }
        for tool in tools
    ]


def response_format(schema: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Convert the JSON schema that the output must follow."""
    if schema is None:
        return None
    return {"type": "json_schema", "json_schema": {"name": "output", "strict": True, "schema": dict(schema)}}


def piece_of_event(event: dict[str, Any], calls: Calls) -> StreamPart:
    """Convert an event to a stream part; tool calls are collected in `calls` and returned with the finish reason."""
    if not event:
        return StreamPart(finish_reason="stop", calls=calls.whole())  # [DONE]; an earlier finish reason has precedence
    choice = (event.get("choices") or [{}])[0]
    usage = event.get("usage")
    counted = (
        usage_of(usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)) if isinstance(usage, dict) else None
    )
    said = choice.get("delta") or choice.get("message") or {}
    for number, call in enumerate(said.get("tool_calls") or ()):
        function = call.get("function") or {}
        calls.add(call.get("index", number), call.get("id"), function.get("name"), function.get("arguments"))
    reason = choice.get("finish_reason")
    thought = said.get("reasoning_content") or said.get("reasoning")
    piece = piece_of(said.get("content"), reason, event.get("model"), counted, thought)
    return replace(piece, calls=calls.whole() if reason else ())
