"""Anthropic's messages API: completions, streamed, and the list of its models."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from pincite.core.answers import Piece
from pincite.core.protocols import LLM, Offered
from pincite.models import facts_of
from pincite.outside.heard import piece_of, text_of, usage_of
from pincite.outside.served import Options, Order, ServedLLM, messages_of
from pincite.outside.server import Server

__all__ = ["HOME", "Options", "make_llm"]

HOME = "https://api.anthropic.com/v1"
VERSION = "2023-06-01"
_REASONS = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "tool_use": "tool_calls"}
"""Why it stopped, in the words of the other servers."""


class AnthropicLLM(ServedLLM):
    """Completions, streamed as named events."""

    def __init__(self, options: Options) -> None:
        address = options.base_url or HOME
        super().__init__(options, Server(address, options.section, options.timeout_s, options.api_key))

    async def list_models(self) -> list[Offered]:
        """What the server has."""
        found = await self._server.get("/models", self._headers())
        try:
            return [Offered(text_of(one["id"])) for one in found["data"]]
        except (TypeError, KeyError) as error:
            raise self._server.rubbish("no list of models that can be read") from error

    async def _pieces(self, body: dict[str, Any]) -> AsyncGenerator[Piece, None]:
        model: object = None
        asked: object = 0
        async with aclosing(self._server.stream("/messages", body, self._headers())) as events:
            async for event in events:
                if event.get("error"):
                    raise self._server.reported(event)
                try:
                    if event.get("type") == "message_start":
                        model, asked = event["message"].get("model"), event["message"]["usage"]["input_tokens"]
                    piece = _piece(event, model, asked)
                except (TypeError, AttributeError, KeyError) as error:
                    raise self._server.rubbish("an event that cannot be understood") from error
                yield piece

    def _headers(self) -> dict[str, str]:
        return {"x-api-key": self._server.key, "anthropic-version": VERSION}

    def _body(self, order: Order) -> dict[str, Any]:
        wish = order.prompt.sampling
        messages = messages_of(order.prompt)
        chosen = {
            "system": "\n\n".join(one["content"] for one in messages if one["role"] == "system") or None,
            "stop_sequences": list(wish.stop) or None,
            **(self._thinking(order) or self._sampling(order)),
        }
        return {
            "model": order.model,
            "messages": [one for one in messages if one["role"] != "system"],
            "max_tokens": order.max_tokens,
            "stream": True,
        } | {name: value for name, value in chosen.items() if value is not None}

    def _thinking(self, order: Order) -> dict[str, Any]:
        """How to think before the answer, where that is asked for; whoever does so takes no wishes for sampling."""
        way, tokens = facts_of(order.model).thinking, order.prompt.sampling.thinking
        if tokens is None or way not in ("budget", "adaptive"):
            return {}
        by_budget = {"type": "enabled", "budget_tokens": tokens}
        return {"thinking": by_budget if way == "budget" else {"type": "adaptive"}}

    def _sampling(self, order: Order) -> dict[str, Any]:
        """Newer models take one of temperature and top_p, the newest neither; one means the temperature, unless only
        the other was asked for."""
        wish, taken = order.prompt.sampling, facts_of(order.model).sampling
        if taken == "none":
            return {}
        warmth = {"temperature": min(1.0, order.temperature)}
        if taken == "both":
            return {"top_k": wish.top_k, **warmth, "top_p": order.top_p}
        nucleus = {"top_p": wish.top_p} if wish.top_p is not None and wish.temperature is None else None
        return {"top_k": wish.top_k, **(nucleus or warmth)}


def _piece(event: dict[str, Any], model: object, asked: object) -> Piece:
    """What an event says; tools' arguments are neither text nor thought."""
    delta = event.get("delta") or {}
    if event.get("type") == "message_delta":
        reason, usage = delta.get("stop_reason"), event.get("usage")
        counted = usage_of(asked, usage.get("output_tokens", 0)) if isinstance(usage, dict) else None
        return piece_of(None, _REASONS.get(reason, reason) if isinstance(reason, str) else None, model, counted)
    said, thought = (delta.get(kind) if delta.get("type") == f"{kind}_delta" else None for kind in ("text", "thinking"))
    return piece_of(said, None, model, thought=thought)


def make_llm(options: Options) -> LLM:
    """Called by `plugins.load`."""
    return AnthropicLLM(options)
