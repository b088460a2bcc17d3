"""Limits of a connection: timeouts for reading and writing, and the number of open connections."""

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
"""Seconds to receive a request's head, from the connection or the previous response on."""
BODY_TIMEOUT_S = 600.0
"""Seconds to receive a request's body, from its head on."""
WRITE_STALL_TIMEOUT_S = 60.0
"""Seconds after which a client that reads nothing of its response is disconnected."""
BACKOFF_RANGE_S = (0.5, 1.5)
"""Range of the random pause in seconds before a rate-limited client's connection is read again."""
RESERVED_FILES = 128
"""File descriptors kept for other uses than connections: the database, documents, child processes."""
BACK_OFF = "back_off"
"""Key of a request's state that is set when the client was told to retry later."""

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
    """uvicorn's HTTP protocol with timeouts; a connection above the limit is refused with 503 and closed."""

    max_connections = 1000

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._timer: asyncio.TimerHandle | None = None
        self._stall_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timeout for the first request."""
        super().connection_made(transport)
        if len(self.connections) > self.max_connections:
            transport.write(_FULL_RESPONSE)
            transport.close()
            return
        self._close_in(HEAD_TIMEOUT_S)

    def data_received(self, data: bytes) -> None:
        """Process received bytes; a complete request stops the timeout."""
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._close_in(BODY_TIMEOUT_S)
        if self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete:
            self._stop_timer()

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Stop the timeout: a WebSocket has its own."""
        self._stop_timer()
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        """Start the timeout for the next request; pause reading for a client that was told to retry later."""
        super().on_response_complete()
        if self.transport.is_closing():
            return
        self._close_in(HEAD_TIMEOUT_S)
        if self.scope["state"].get(BACK_OFF):
            self.flow.pause_reading()
            self.loop.call_later(random.uniform(*BACKOFF_RANGE_S), self._resume_reading)

    def _resume_reading(self) -> None:
        if not self.transport.is_closing():
            self.flow.resume_reading()

    def pause_writing(self) -> None:
        """Start the stall timeout: the client does not read its response."""
        super().pause_writing()
        self._stall_timer = self.loop.call_later(WRITE_STALL_TIMEOUT_S, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the stall timeout."""
        super().resume_writing()
        self._stop_stall_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all timeouts."""
        self._stop_timer()
        self._stop_stall_timer()
        super().connection_lost(exc)

    def _close_in(self, seconds: float) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(seconds, self.transport.abort)

    def _stop_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _stop_stall_timer(self) -> None:
        if self._stall_timer:
            self._stall_timer.cancel()
            self._stall_timer = None


def connection_class(max_connections: int) -> type[Connection]:
    """A `Connection` class with this limit, lowered to the process's file descriptor limit."""
    if sys.platform != "win32":
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if files != resource.RLIM_INFINITY:
            max_connections = min(max_connections, max(8, files - RESERVED_FILES))
    return type("Connection", (Connection,), {"max_connections": max_connections})
