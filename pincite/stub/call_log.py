"""The stub's log: who asked what, what was sent, and whether the client stayed to hear it."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    """One call under /v1; `began` and `ended` are on the clock of `time.monotonic`."""

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
        """The model asked for."""
        return str(self.body.get("model") or "")

    @property
    def stream(self) -> bool:
        """Whether the reply was to be streamed."""
        return bool(self.body.get("stream"))

    @property
    def prompt(self) -> str:
        """All messages of the call, one after the other; of an embedding or a reranking, its texts."""
        texts = self.body.get("input") or self.body.get("texts") or self.body.get("documents") or ()
        parts = [texts] if isinstance(texts, str) else list(texts)
        parts += [text_of(message) for message in self.body.get("messages") or ()]
        return "\n\n".join(map(str, parts))

    def shown(self) -> dict[str, Any]:
        """What `/stub/calls` tells; the key is left out."""
        lasted = None if self.ended is None else round(self.ended - self.began, 4)
        return {
            "number": self.number, "path": self.path, "model": self.model, "stream": self.stream, "fault": self.fault,
            "tokens": self.tokens, "ended_after_s": lasted, "client_left": self.left,
            "request_id": self.headers.get("x-request-id"), "prompt": self.prompt, "body": dict(self.body),
        }  # fmt: skip


class Calls:
    """All calls in the order they came in; safe to read from any thread."""

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._changed = threading.Condition()

    def open(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> Call:
        """A call has come in."""
        with self._changed:
            call = Call(len(self._calls) + 1, path, body, headers, time.monotonic())
            self._calls.append(call)
            self._changed.notify_all()
            return call

    def update(self, call: Call, **changes: Any) -> Call:
        """Note something about a call; one forgotten meanwhile stays forgotten."""
        with self._changed:
            changed = replace(call, **changes)
            for place, known in enumerate(self._calls):
                if known.began == call.began and known.number == call.number:
                    self._calls[place] = changed = replace(known, **changes)
            self._changed.notify_all()
            return changed

    def all(self) -> list[Call]:
        """The calls so far."""
        with self._changed:
            return list(self._calls)

    def reset(self) -> None:
        """Forget them: the next call is the first again."""
        with self._changed:
            self._calls.clear()

    def wait_for(self, condition: Callable[[list[Call]], bool], timeout_s: float) -> bool:
        """Wait until the calls are as wished; False where that did not happen in time."""
        with self._changed:
            return self._changed.wait_for(lambda: condition(list(self._calls)), timeout_s)


def text_of(message: Any) -> str:
    """The words of a chat message, whether its content is a text or a list of parts."""
    content = message.get("content") if isinstance(message, Mapping) else message
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return str(content or "")
