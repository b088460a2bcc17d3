"""Anthropic's Messages API: streamed completions and the list of models."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from pincite.core.protocols import LLM, ServerModel
from pincite.core.query.prompt import Message, Prompt, StreamPart
from pincite.models.facts import facts_of
from pincite.outbound.client import Server
from pincite.outbound.llm.hosted import CompletionRequest, Options, ServedLLM
from pincite.outbound.llm.parse import piece_of, text_of, usage_of
from pincite.outbound.llm.tool_calls import Calls, arguments_of

__all__ = ["HOME", "Options", "make_llm"]

HOME = "https://api.anthropic.com/v1"
VERSION = "2023-06-01"
_REASONS = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "tool_use": "tool_calls"}
"""Stop reasons, mapped to the finish reasons of the other servers."""


class AnthropicLLM(ServedLLM):
    """Streamed completions."""

    constrains = False

    def __init__(self, options: Options) -> None:
        address = options.base_url or HOME
        super().__init__(options, Server(address, options.section, options.timeout_s, options.api_key))

    async def list_models(self) -> list[ServerModel]:
        """List the models of the server."""
        found = await self._server.get("/models", self._headers())
        try:
            return [ServerModel(text_of(one["id"])) for one in found["data"]]
        except (TypeError, KeyError) as error:
            raise self._server.invalid_answer("an unreadable list of models") from error

    async def _pieces(self, body: dict[str, Any]) -> AsyncGenerator[StreamPart, None]:
        model: object = None
        asked: object = 0
        calls = Calls()
        async with aclosing(self._server.stream("/messages", body, self._headers())) as events:
            async for event in events:
                if event.get("error"):
                    raise self._server.stream_error(event)
                try:
                    if event.get("type") == "message_start":
                        model, asked = event["message"].get("model"), event["message"]["usage"]["input_tokens"]
                    _collect_call(event, calls)
                    piece = _piece(event, model, asked)
                except (TypeError, AttributeError, KeyError) as error:
                    raise self._server.invalid_answer("an event of unknown form") from error
                yield replace(piece, calls=calls.whole()) if piece.finish_reason else piece

    def _headers(self) -> dict[str, str]:
        return {"x-api-key": self._server.key, "anthropic-version": VERSION}

    def _body(self, order: CompletionRequest) -> dict[str, Any]:
        wish = order.prompt.sampling
        tools = [
            {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
            for tool in order.prompt.tools
        ]
        rules = [message.content for message in order.prompt.messages if message.role == "system"]
        chosen = {
            "system": "\n\n".join(rules) or None,
            "tools": tools or None,
            "stop_sequences": list(wish.stop) or None,
            **(self._thinking(order) or self._sampling(order)),
        }
        return {
            "model": order.model,
            "messages": _messages(order.prompt),
            "max_tokens": order.max_tokens,
            "stream": True,
        } | {name: value for name, value in chosen.items() if value is not None}

    def _thinking(self, order: CompletionRequest) -> dict[str, Any]:
        """The parameters of extended thinking, if requested; such requests accept no sampling parameters."""
        way, tokens = facts_of(order.model).thinking, order.prompt.sampling.thinking
        if tokens is None or way not in ("budget", "adaptive"):
            return {}
        by_budget = {"type": "enabled", "budget_tokens": tokens}
        return {"thinking": by_budget if way == "budget" else {"type": "adaptive"}}

    def _sampling(self, order: CompletionRequest) -> dict[str, Any]:
        """The sampling parameters the model accepts: both, one, or none of temperature and top_p.

        A model that accepts one gets the temperature, unless the request sets only top_p.
        """
        wish, accepted = order.prompt.sampling, facts_of(order.model).sampling
        if accepted == "none":
            return {}
        temperature = {"temperature": min(1.0, order.temperature)}
        if accepted == "both":
            return {"top_k": wish.top_k, **temperature, "top_p": order.top_p}
        nucleus = {"top_p": wish.top_p} if wish.top_p is not None and wish.temperature is None else None
        return {"top_k": wish.top_k, **(nucleus or temperature)}


def _messages(prompt: Prompt) -> list[dict[str, Any]]:
    """Convert the messages; the tool results of one turn become one user message."""
    converted: list[dict[str, Any]] = []
    for message in prompt.messages:
        if message.role == "system":
            continue
        role = "assistant" if message.role == "assistant" else "user"
        content = _blocks(message)
        last = converted[-1] if converted else {}
        if message.answers and last.get("role") == "user" and isinstance(last["content"], list):
            last["content"] += content
        else:
            converted.append({"role": role, "content": content})
    return converted


def _blocks(message: Message) -> str | list[dict[str, Any]]:
    """The content of a message: plain text, or blocks if it has images, tool calls or tool results."""
    if message.answers:
        return [{"type": "tool_result", "tool_use_id": message.answers.id, "content": message.content}]
    words = [{"type": "text", "text": message.content}] if message.content else []
    shown = [
        {"type": "image", "source": {"type": "base64", "media_type": picture.mime, "data": picture.base64}}
        for picture in message.pictures
    ]
    called = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments_of(call.arguments)}
        for call in message.calls
    ]
    return [*shown, *words, *called] if shown or called else message.content


def _collect_call(event: dict[str, Any], calls: Calls) -> None:
    """Collect a tool call: its name comes at the start of a block, its arguments as fragments of JSON."""
    block, delta = event.get("content_block") or {}, event.get("delta") or {}
    if block.get("type") == "tool_use":
        calls.add(event.get("index"), block.get("id"), block.get("name"), None)
    elif delta.get("type") == "input_json_delta":
        calls.add(event.get("index"), None, None, delta.get("partial_json"))


def _piece(event: dict[str, Any], model: object, asked: object) -> StreamPart:
    """Convert an event to a stream part."""
    delta = event.get("delta") or {}
    if event.get("type") == "message_delta":
        reason, usage = delta.get("stop_reason"), event.get("usage")
        counted = usage_of(asked, usage.get("output_tokens", 0)) if isinstance(usage, dict) else None
        return piece_of(None, _REASONS.get(reason, reason) if isinstance(reason, str) else None, model, counted)
    said, thought = (delta.get(kind) if delta.get("type") == f"{kind}_delta" else None for kind in ("text", "thinking"))
    return piece_of(said, None, model, thought=thought)


def make_llm(options: Options) -> LLM:
    """Create the language model; called by `plugins.load`."""
    return AnthropicLLM(options)
