"""The call log of the stub: requests, sent tokens, and whether the client disconnected."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    """One call under /v1; `began` and `ended` are values of `time.monotonic`."""

    number: int
    path: str
    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(repr=False)
    began: float
    fault: str = ""
    tokens: int = 0
    ended: float | None = None
    left: bool = False

    @property
    def model(self) -> str:
        """The requested model."""
        return str(self.body.get("model") or "")

    @property
    def stream(self) -> bool:
        """Whether a streamed reply was requested."""
        return bool(self.body.get("stream"))

    @property
    def prompt(self) -> str:
        """All messages of the call, or the texts of an embedding or rerank request."""
        texts = self.body.get("input") or self.body.get("texts") or self.body.get("documents") or ()
        parts = [texts] if isinstance(texts, str) else list(texts)
        parts += [text_of(message) for message in self.body.get("messages") or ()]
        return "\n\n".join(map(str, parts))

    def to_json(self) -> dict[str, Any]:
        """Return the entry of `/stub/calls`, without the API key."""
        duration = None if self.ended is None else round(self.ended - self.began, 4)
        return {
            "number": self.number,
            "path": self.path,
            "model": self.model,
            "stream": self.stream,
            "fault": self.fault,
            "tokens": self.tokens,
            "ended_after_s": duration,
            "client_left": self.left,
            "request_id": self.headers.get("x-request-id"),
            "prompt": self.prompt,
            "body": dict(self.body),
        }


class Calls:
    """All calls in order of arrival; thread-safe."""

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._changed = threading.Condition()

    def open(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> Call:
        """Add a new call."""
        with self._changed:
            call = Call(len(self._calls) + 1, path, body, headers, time.monotonic())
            self._calls.append(call)
            self._changed.notify_all()
            return call

    def update(self, call: Call, **changes: Any) -> Call:
        """Update a call; a call removed by `reset` is not added again."""
        with self._changed:
            changed = replace(call, **changes)
            for place, known in enumerate(self._calls):
                if known.began == call.began and known.number == call.number:
                    self._calls[place] = changed = replace(known, **changes)
            self._changed.notify_all()
            return changed

    def all(self) -> list[Call]:
        """Return all calls."""
        with self._changed:
            return list(self._calls)

    def reset(self) -> None:
        """Remove all calls; the next call has number 1."""
        with self._changed:
            self._calls.clear()

    def wait_for(self, condition: Callable[[list[Call]], bool], timeout_s: float) -> bool:
        """Wait until the calls satisfy a condition; False on timeout."""
        with self._changed:
            return self._changed.wait_for(lambda: condition(list(self._calls)), timeout_s)


def text_of(message: Any) -> str:
    """Return the text of a chat message, whose content is a text or a list of parts."""
    content = message.get("content") if isinstance(message, Mapping) else message
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return str(content or "")
