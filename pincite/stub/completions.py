"""Completions in OpenAI's format, whole or streamed, with injected faults."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pincite.stub.faults import Fault
from pincite.stub.script import Reply
from pincite.stub.wire import Wire, apply_wire_fault, encode_event

ENDLESS_TEXT = " and so on"
HTML_PAGE = b"<!doctype html><title>Sign in</title><p>Please sign in to this network."
STREAM_HEADERS = {"content-type": "text/event-stream", "cache-control": "no-cache", "transfer-encoding": "chunked"}
ERROR_EVENT = {"error": {"message": "the stub was told to fail", "type": "stub_fault"}}
INVALID_PAYLOADS: Mapping[str, Any] = {
    "malformed": '{"choices": [{"del',
    "shape": {"choices": "none"},
    "error": ERROR_EVENT,
}
"""Payload that replaces the rest of a reply, by fault."""

TRUNCATING_FAULTS = ("hang", "cut", "eof", *INVALID_PAYLOADS)
"""Faults that truncate a stream."""


class ConnectionBroken(Exception):
    """The connection was broken by a fault."""


@dataclass(frozen=True, slots=True)
class Completion:
    """Sends one completion; `count` is called with the number of sent tokens."""

    wire: Wire
    body: Mapping[str, Any]
    reply: Reply
    count: Callable[[int], None]

    async def send(self) -> None:
        """Send the completion, whole or streamed as requested."""
        await (self._send_stream() if self.body.get("stream") else self._send_whole())

    async def _send_stream(self) -> None:
        await self.wire.head(200, STREAM_HEADERS)
        first = True
        async for data in self._events():
            for part in apply_wire_fault(data, self.reply.fault.name, first=first):
                await self.wire.chunk(part)
            first = False
        if self.reply.fault.name in ("hang", "cut"):
            await break_connection(self.wire, self.reply.fault)
        await self.wire.chunk(b"")

    async def _events(self) -> AsyncIterator[bytes]:
        """Yield the events of the stream with delays, up to a fault."""
        reply, fault = self.reply, self.reply.fault
        pieces: Iterable[str] = reply.pieces
        if fault.name == "endless":
            pieces = itertools.chain(pieces, itertools.repeat(ENDLESS_TEXT))
        elif fault.name in TRUNCATING_FAULTS:
            pieces = itertools.islice(pieces, int(fault.value))
        for number, piece in enumerate(pieces):
            await asyncio.sleep((reply.token_ms if number else reply.first_token_ms) / 1000)
            yield encode_event(self._delta({"content": piece}))
            self.count(number + 1)
        if fault.name in INVALID_PAYLOADS:
            yield encode_event(INVALID_PAYLOADS[fault.name])
        if fault.name in TRUNCATING_FAULTS:
            return
        if reply.tools:
            yield encode_event(self._delta({"tool_calls": self._tools()}))
        yield encode_event(self._delta({}, reply.finish))
        if (self.body.get("stream_options") or {}).get("include_usage"):
            yield encode_event(self._frame(object="chat.completion.chunk", choices=[], usage=self._usage()))
        yield encode_event("[DONE]")

    async def _send_whole(self) -> None:
        reply = self.reply
        await asyncio.sleep((reply.first_token_ms + reply.token_ms * max(0, len(reply.pieces) - 1)) / 1000)
        message: dict[str, Any] = {"role": "assistant", "content": "".join(reply.pieces) or None}
        if reply.tools:
            message["tool_calls"] = self._tools()
        choice = {"index": 0, "message": message, "finish_reason": reply.finish}
        await send_body(
            self.wire, self._frame(object="chat.completion", choices=[choice], usage=self._usage()), reply.fault
        )
        self.count(len(reply.pieces))

    def _frame(self, **more: Any) -> dict[str, Any]:
        return {"id": "chatcmpl-stub", "created": 0, "model": self.body.get("model") or "", **more}

    def _delta(self, delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return self._frame(object="chat.completion.chunk", choices=[choice])

    def _tools(self) -> list[dict[str, Any]]:
        return [
            {
                "index": n,
                "id": f"call_{n}",
                "type": "function",
                "function": {"name": tool.name, "arguments": _encode_arguments(tool.arguments)},
            }
            for n, tool in enumerate(self.reply.tools)
        ]

    def _usage(self) -> dict[str, int]:
        prompt, answer = len(json.dumps(self.body.get("messages") or "").split()), len(self.reply.pieces)
        return {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}


def _encode_arguments(arguments: Mapping[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(dict(arguments))


async def send_fault(wire: Wire, fault: Fault) -> bool:
    """Send a fault that replaces the reply; False if the fault is of another kind."""
    if fault.name == "silent":
        await asyncio.Event().wait()
    if fault.name == "reset":
        await break_connection(wire, fault)
    if fault.name == "html":
        await wire.body(200, HTML_PAGE, {"content-type": "text/html"})
    elif fault.status is not None:
        later = {"retry-after": f"{fault.value:g}"} if fault.status in (429, 503) else {}
        message = {"message": f"the stub was told to answer {fault.status}", "type": "stub_fault"}
        await wire.body(fault.status, {"error": message}, later)
    return fault.name == "html" or fault.status is not None


async def send_body(wire: Wire, value: Any, fault: Fault) -> None:
    """Send a whole reply, with its fault."""
    if fault.name in ("hang", "cut", "eof"):
        await wire.head(200, {"content-type": "application/json", "content-length": "100000"})
        await wire.send(b'{"object": ')
        await break_connection(wire, fault)
    if fault.name == "endless":
        await wire.head(200, {"content-type": "application/json", "transfer-encoding": "chunked"})
        await wire.chunk(b'{"object": "')
        while True:
            await wire.chunk(ENDLESS_TEXT.encode() * 100)
    rubbish = INVALID_PAYLOADS.get(fault.name)
    await wire.body(200, value if rubbish is None else rubbish.encode() if isinstance(rubbish, str) else rubbish)


async def break_connection(wire: Wire, fault: Fault) -> None:
    """Hang forever, or end the connection by a reset or in good order."""
    if fault.name == "hang":
        await asyncio.Event().wait()
    if fault.name == "cut":
        await asyncio.sleep(0.05)  # a reset discards unread data, so let the sent data arrive
    if fault.name != "eof":
        wire.reset()
    raise ConnectionBroken
