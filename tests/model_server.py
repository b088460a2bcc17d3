"""A model server in a thread that sends exactly the bytes a test defines, for any provider's protocol."""

import hashlib
import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """A reply: `pieces` of bytes, and then the end, silence (`hangs`), or a closed connection."""

    pieces: Sequence[bytes] = ()
    status: int = 200
    kind: str = "text/event-stream"
    headers: dict[str, str] = field(default_factory=dict)
    hangs: bool = False
    cut: bool = False


def as_json(value: Any, status: int = 200, **headers: str) -> Reply:
    return Reply((json.dumps(value).encode(),), status, "application/json", headers)


def sse(*events: Any) -> bytes:
    said = (event if isinstance(event, str) else json.dumps(event, ensure_ascii=False) for event in events)
    return "".join(f"data: {event}\n\n" for event in said).encode()


def openai_events(*words: str, finish: str | None = "stop") -> list[Any]:
    events: list[Any] = [{"model": "m-1", "choices": [{"delta": {"role": "assistant"}}]}]
    events += [{"model": "m-1", "choices": [{"delta": {"content": word}}]} for word in words]
    if finish:
        events.append({"model": "m-1", "choices": [{"delta": {}, "finish_reason": finish}]})
        usage = {"prompt_tokens": 7, "completion_tokens": len(words)}
        events += [{"model": "m-1", "choices": [], "usage": usage}, "[DONE]"]
    return events


def ollama_lines(*words: str, finish: str | None = "stop") -> bytes:
    lines: list[Any] = [{"model": "m-1", "message": {"content": word}, "done": False} for word in words]
    if finish:
        done = {"model": "m-1", "message": {"content": ""}, "done": True, "done_reason": finish}
        lines.append(done | {"prompt_eval_count": 7, "eval_count": len(words)})
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()


def anthropic_events(*words: str, finish: str | None = "end_turn") -> bytes:
    message = {"model": "m-1", "usage": {"input_tokens": 7}}
    events: list[Any] = [{"type": "message_start", "message": message}, {"type": "ping"}]
    events += [{"type": "content_block_delta", "delta": {"type": "text_delta", "text": word}} for word in words]
    if finish:
        usage = {"output_tokens": len(words)}
        events += [
            {"type": "message_delta", "delta": {"stop_reason": finish}, "usage": usage},
            {"type": "message_stop"},
        ]
    said = ((event["type"], json.dumps(event, ensure_ascii=False)) for event in events)
    return "".join(f"event: {kind}\ndata: {data}\n\n" for kind, data in said).encode()


def vector_of(text: str, dimensions: int) -> list[float]:
    return [1.0 + byte for byte in hashlib.sha256(text.encode()).digest()[:dimensions]]


class ModelServer:
    """The replies by path, the requests received, and whether a client disconnected early."""

    def __init__(self, *words: str) -> None:
        self.replies: dict[str, Reply | Callable[[dict[str, Any]], Reply]] = {
            "/v1/chat/completions": Reply((sse(*openai_events(*words)),)),
            "/v1/models": as_json({"data": [{"id": "m"}]}),
            "/v1/embeddings": self._openai_vectors,
            "/v1/messages": Reply((anthropic_events(*words),)),
            "/api/chat": Reply((ollama_lines(*words),), kind="application/x-ndjson"),
            "/api/tags": as_json({"models": [{"name": "m"}]}),
            "/api/show": as_json({"model_info": {"llama.context_length": 4096}}),
            "/api/embed": self._ollama_vectors,
        }
        self.requests: list[tuple[str, dict[str, Any], dict[str, str]]] = []
        self.left_early = threading.Event()
        self.asked = threading.Event()
        self.url = ""

    def says(self, path: str, *pieces: bytes, **more: Any) -> None:
        """Set the reply of a path."""
        self.replies[path] = Reply(pieces, **more)

    def calls(self, path: str) -> int:
        """Return the number of requests for a path."""
        return sum(asked == path for asked, _, _ in self.requests)

    @staticmethod
    def _openai_vectors(body: dict[str, Any]) -> Reply:
        return as_json({"data": [{"index": n, "embedding": vector_of(t, 8)} for n, t in enumerate(body["input"])]})

    @staticmethod
    def _ollama_vectors(body: dict[str, Any]) -> Reply:
        return as_json({"embeddings": [vector_of(text, 8) for text in body["input"]]})


@contextmanager
def model_server(*words: str) -> Iterator[ModelServer]:
    """Run a server on a free port for the duration of the block; its `url` has no path."""
    model = ModelServer(*words)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["content-length"]))))

        def do_GET(self) -> None:
            self._answer({})

        def _answer(self, body: dict[str, Any]) -> None:
            model.requests.append((self.path, body, {name.lower(): value for name, value in self.headers.items()}))
            found = model.replies.get(self.path, as_json({"error": {"message": "nothing here"}}, 404))
            reply = found(body) if callable(found) else found
            try:
                self._send(reply)
            except OSError:
                model.left_early.set()

        def _send(self, reply: Reply) -> None:
            self.send_response(reply.status)
            for name, value in {"content-type": reply.kind, "connection": "close", **reply.headers}.items():
                self.send_header(name, value)
            if reply.cut:  # more is promised than comes
                self.send_header("content-length", str(sum(map(len, reply.pieces)) + 1))
            self.end_headers()
            for piece in reply.pieces:
                self.wfile.write(piece)
                self.wfile.flush()
            model.asked.set()
            if reply.hangs and self.connection.recv(1) == b"":
                model.left_early.set()
            self.close_connection = True

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    model.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
