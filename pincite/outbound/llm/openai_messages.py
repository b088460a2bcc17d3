"""OpenAI's way of putting messages, pictures and tools, which most servers understand, and of telling an answer."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pincite.core.query.prompt import Message, Prompt, StreamPart
from pincite.core.query.tools import Tool
from pincite.outbound.llm.parse import piece_of, usage_of
from pincite.outbound.llm.tool_calls import Calls


def messages_of(prompt: Prompt) -> list[dict[str, Any]]:
    """The messages of a prompt."""
    return [_message(message) for message in prompt.messages]


def _message(message: Message) -> dict[str, Any]:
    told: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.pictures:
        shown = [{"type": "image_url", "image_url": {"url": picture.url}} for picture in message.pictures]
        told["content"] = [{"type": "text", "text": message.content}, *shown]
    if message.calls:
        told["content"] = message.content or None
        told["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ]
    if message.answers:
        told["tool_call_id"] = message.answers.id
    return told


def tools_of(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """The tools that may be called."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
        }
        for tool in tools
    ]


def piece_of_event(event: dict[str, Any], calls: Calls) -> StreamPart:
    """What an event of a stream says; calls of tools are put together in `calls` and told with the end."""
    if not event:
        return StreamPart(finish_reason="stop", calls=calls.whole())  # [DONE]; what was said before counts more
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
