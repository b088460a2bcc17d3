"""An OpenAI-compatible HTTP server with scripted replies."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Stub:
    """The reply to send, and the requests received."""

    def __init__(self) -> None:
        self.status = 200
        self.body: Any = None
        self.events: list[str | float] = []
        self.requests: list[tuple[str, dict[str, Any], dict[str, str]]] = []
        self.closed_early = threading.Event()
        self.url = ""

    def says(self, *words: str, finish: str | None = "stop") -> None:
        """Return a completion stream of these words."""
        self.events = [json.dumps({"model": "stub-1", "choices": [{"delta": {"content": word}}]}) for word in words]
        if finish:
            self.events.append(json.dumps({"model": "stub-1", "choices": [{"delta": {}, "finish_reason": finish}]}))
            usage = {"prompt_tokens": 7, "completion_tokens": len(words)}
            self.events += [json.dumps({"model": "stub-1", "choices": [], "usage": usage}), "[DONE]"]


@contextmanager
def stub_server() -> Iterator[Stub]:
    """Run a server on a free port for the duration of the block."""
    stub = Stub()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            stub.requests.append((self.path, body, dict(self.headers)))
            self.send_response(stub.status)
            self.send_header("content-type", "text/event-stream" if stub.events else "application/json")
            self.end_headers()
            try:
                if not stub.events:
                    answer = stub.body(body) if callable(stub.body) else stub.body
                    self.wfile.write(answer if isinstance(answer, bytes) else json.dumps(answer).encode())
                for event in stub.events:
                    if isinstance(event, float):
                        time.sleep(event)
                        continue
                    self.wfile.write(f"data: {event}\n\n".encode())
                    self.wfile.flush()
            except OSError:
                stub.closed_early.set()

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stub.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
