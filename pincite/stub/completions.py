"""Completions as OpenAI's API sends them, whole or in a stream, and the faults that can lie in them."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pincite.stub.faults import Fault
from pincite.stub.script import Reply
from pincite.stub.wire import Wire, dressed, event

ENDLESS = " and so on"
PAGE = b"<!doctype html><title>Sign in</title><p>Please sign in to this network."
STREAM = {"content-type": "text/event-stream", "cache-control": "no-cache", "transfer-encoding": "chunked"}
REPORT = {"error": {"message": "the stub was told to fail", "type": "stub_fault"}}
RUBBISH: Mapping[str, Any] = {"malformed": '{"choices": [{"del', "shape": {"choices": "none"}, "error": REPORT}
"""What stands in a reply in place of its rest."""
BREAKS = ("hang", "cut", "eof", *RUBBISH)
"""Faults that end a stream before its time."""


class BrokenOff(Exception):
    """The fault has happened and the connection is of no more use."""


@dataclass(frozen=True, slots=True)
class Completion:
    """One completion on its way to the client; `count` hears of every token sent."""

    wire: Wire
    body: Mapping[str, Any]
    reply: Reply
    count: Callable[[int], None]

    async def send(self) -> None:
        """Whole or streamed, as asked."""
        await (self._send_stream() if self.body.get("stream") else self._send_whole())

    async def _send_stream(self) -> None:
        await self.wire.head(200, STREAM)
        first = True
        async for data in self._events():
            for part in dressed(data, self.reply.fault.name, first=first):
                await self.wire.chunk(part)
            first = False
        if self.reply.fault.name in ("hang", "cut"):
            await break_off(self.wire, self.reply.fault)
        await self.wire.chunk(b"")

    async def _events(self) -> AsyncIterator[bytes]:
        """The stream's events with their pauses, up to where a fault ends it."""
        reply, fault = self.reply, self.reply.fault
        pieces: Iterable[str] = reply.pieces
        if fault.name == "endless":
            pieces = itertools.chain(pieces, itertools.repeat(ENDLESS))
        elif fault.name in BREAKS:
            pieces = itertools.islice(pieces, int(fault.value))
        for number, piece in enumerate(pieces):
            await asyncio.sleep((reply.token_ms if number else reply.first_token_ms) / 1000)
            yield event(self._delta({"content": piece}))
            self.count(number + 1)
        if fault.name in RUBBISH:
            yield event(RUBBISH[fault.name])
        if fault.name in BREAKS:
            return
        if reply.tools:
            yield event(self._delta({"tool_calls": self._tools()}))
        yield event(self._delta({}, reply.finish))
        if (self.body.get("stream_options") or {}).get("include_usage"):
            yield event(self._frame(object="chat.completion.chunk", choices=[], usage=self._usage()))
        yield event("[DONE]")

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
            {"index": n, "id": f"call_{n}", "type": "function",
             "function": {"name": tool.name, "arguments": _written(tool.arguments)}}
            for n, tool in enumerate(self.reply.tools)
        ]  # fmt: skip

    def _usage(self) -> dict[str, int]:
        asked, said = len(json.dumps(self.body.get("messages") or "").split()), len(self.reply.pieces)
        return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def _written(arguments: Mapping[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(dict(arguments))


async def refuse(wire: Wire, fault: Fault) -> bool:
    """Go wrong before anything is said; False where the fault is of another kind."""
    if fault.name == "silent":
        await asyncio.Event().wait()
    if fault.name == "reset":
        await break_off(wire, fault)
    if fault.name == "html":
        await wire.body(200, PAGE, {"content-type": "text/html"})
    elif fault.status is not None:
        later = {"retry-after": f"{fault.value:g}"} if fault.status in (429, 503) else {}
        message = {"message": f"the stub was told to answer {fault.status}", "type": "stub_fault"}
        await wire.body(fault.status, {"error": message}, later)
    return fault.name == "html" or fault.status is not None


async def send_body(wire: Wire, value: Any, fault: Fault) -> None:
    """A reply in one piece, with what can go wrong in one."""
    if fault.name in ("hang", "cut", "eof"):
        await wire.head(200, {"content-type": "application/json", "content-length": "100000"})
        await wire.send(b'{"object": ')
        await break_off(wire, fault)
    if fault.name == "endless":
        await wire.head(200, {"content-type": "application/json", "transfer-encoding": "chunked"})
        await wire.chunk(b'{"object": "')
        while True:
            await wire.chunk(ENDLESS.encode() * 100)
    rubbish = RUBBISH.get(fault.name)
    await wire.body(200, value if rubbish is None else rubbish.encode() if isinstance(rubbish, str) else rubbish)


async def break_off(wire: Wire, fault: Fault) -> None:
    """Say nothing more for ever, or end the connection, by force or in good order."""
    if fault.name == "hang":
        await asyncio.Event().wait()
    if fault.name == "cut":
        await asyncio.sleep(0.05)  # a reset throws away what has not been read yet: let what was sent arrive
    if fault.name != "eof":
        wire.reset()
    raise BrokenOff
