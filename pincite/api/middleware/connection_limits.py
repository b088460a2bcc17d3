"""One connection: it may not keep the server waiting for ever, and nobody has more of them than there is room for."""

import asyncio
import json
import random
import sys
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from pincite.errors import Overloaded

if sys.platform != "win32":
    import resource

HEAD_TIMEOUT_S = 20.0
"""A request's head must be there so long after its connection, or after the answer before it."""
BODY_TIMEOUT_S = 600.0
"""And its body so long after that."""
WRITE_STALL_TIMEOUT_S = 60.0
"""A client that takes nothing of its answer for so long is left."""
BACKOFF_RANGE_S = (0.5, 1.5)
"""Whoever was told to wait is not heard for so long on the same connection, all of them at different times."""
RESERVED_FILES = 128
"""Files a process opens besides connections: the database, documents, child processes."""
BACK_OFF = "heard_later"
"""What a request's state holds when its sender was told to wait."""

_FULL_BODY = json.dumps(
    {
        "type": f"urn:pincite:error:{Overloaded.code}",
        "title": Overloaded.title,
        "status": Overloaded.status,
        "detail": "too many connections are open (server.max_connections); try again shortly",
        "code": Overloaded.code,
        "request_id": "",
    }
).encode()
_FULL_RESPONSE = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nRetry-After: 1\r\n"
    b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(_FULL_BODY)
) + _FULL_BODY


class Connection(H11Protocol):
    """uvicorn's, with an end to its patience. A connection that comes when there are enough is refused and closed."""

    most = 1000

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._timer: asyncio.TimerHandle | None = None
        self._stalling: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request, not for ever."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            transport.write(_FULL_RESPONSE)
            transport.close()
            return
        self._close_in(HEAD_TIMEOUT_S)

    def data_received(self, data: bytes) -> None:
        """Take what came; a request that is whole is waited for no longer."""
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._close_in(BODY_TIMEOUT_S)
        if self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete:
            self._stop_timer()

    def handle_websocket_upgrade(self, event: Any) -> None:
        """A WebSocket minds its own time."""
        self._stop_timer()
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        """Wait for the next request; from a client that was told to come later, not at once."""
        super().on_response_complete()
        if self.transport.is_closing():
            return
        self._close_in(HEAD_TIMEOUT_S)
        if self.scope["state"].get(BACK_OFF):
            self.flow.pause_reading()
            self.loop.call_later(random.uniform(*BACKOFF_RANGE_S), self._hear_again)

    def _hear_again(self) -> None:
        if not self.transport.is_closing():
            self.flow.resume_reading()

    def pause_writing(self) -> None:
        """The client takes nothing for the moment."""
        super().pause_writing()
        self._stalling = self.loop.call_later(WRITE_STALL_TIMEOUT_S, self.transport.abort)

    def resume_writing(self) -> None:
        """The client takes its answer again."""
        super().resume_writing()
        self._stop_stalling()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._stop_timer()
        self._stop_stalling()
        super().connection_lost(exc)

    def _close_in(self, seconds: float) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(seconds, self.transport.abort)

    def _stop_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _stop_stalling(self) -> None:
        if self._stalling:
            self._stalling.cancel()
            self._stalling = None


def connection_class(most: int) -> type[Connection]:
    """Connections of which so many may be open, or as many as the system lets this process open."""
    if sys.platform != "win32":
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if files != resource.RLIM_INFINITY:
            most = min(most, max(8, files - RESERVED_FILES))
    return type("Connection", (Connection,), {"most": most})
