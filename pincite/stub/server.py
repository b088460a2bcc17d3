"""The HTTP server of the stub: routes of OpenAI's API, the call log, and the script."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from typing import Any

from pincite.errors import SettingsError
from pincite.providers.scripted import Options, make_embedder, make_reranker
from pincite.stub.call_log import Call, Calls
from pincite.stub.completions import Completion, ConnectionBroken, send_body, send_fault
from pincite.stub.script import Player, Script, read_script
from pincite.stub.wire import BadRequestLine, Request, Wire

LOCAL = "127.0.0.1"


class StubServer:
    """Listens on localhost, from `start` to `stop`."""

    def __init__(self, script: Script | None = None, port: int = 0) -> None:
        self.calls = Calls()
        self.play(script or Script())
        self._port = port
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """The value for `llm.base_url`."""
        return f"http://{LOCAL}:{self._port}/v1"

    def play(self, script: Script) -> None:
        """Start a script; the next call has number 1."""
        self.calls.reset()
        self._player = Player(script)

    async def start(self) -> None:
        """Start listening; port 0 chooses a free port."""
        try:
            self._server = await asyncio.start_server(self._serve, LOCAL, self._port)
        except OSError as error:
            raise SettingsError(f"cannot listen on port {self._port} ({error.strerror}); choose another") from None
        self._port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop listening and cancel running replies."""
        if self._server is not None:
            self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Handle the requests of one connection."""
        task, wire = asyncio.current_task(), Wire(reader, writer)
        assert task is not None
        self._open.add(task)
        try:
            while request := await wire.request():
                await self._route(wire, request)
        except BadRequestLine as error:
            await wire.body(400, {"error": {"message": str(error)}}, {"connection": "close"})
        except (ConnectionBroken, ConnectionError, asyncio.CancelledError):
            pass  # broken by a fault, disconnected or stopped
        finally:
            self._open.discard(task)
            wire.close()

    async def _route(self, wire: Wire, request: Request) -> None:
        routes: dict[tuple[str, str], Callable[[Wire, Call], Awaitable[None]]] = {
            ("POST", "/v1/chat/completions"): self._complete,
            ("POST", "/v1/embeddings"): self._embed,
            ("POST", "/v1/rerank"): self._rerank,
            ("GET", "/v1/models"): self._models,
        }
        if request.path.startswith("/stub/"):
            await self._control(wire, request)
        elif reply := routes.get((request.method, request.path)):
            body = request.json()
            call = self.calls.open(request.path, body if isinstance(body, dict) else {}, request.headers)
            await self._watched(wire, call, reply)
        else:
            message = f"there is no {request.method} {request.path}; the base URL is {self.url}"
            await wire.body(404, {"error": {"message": message}})

    async def _watched(self, wire: Wire, call: Call, reply: Callable[[Wire, Call], Awaitable[None]]) -> None:
        """Reply unless the client disconnects first; the log records which."""
        replying = asyncio.ensure_future(reply(wire, call))
        leaving = asyncio.ensure_future(wire.gone())
        left = True
        try:
            await asyncio.wait((replying, leaving), return_when=asyncio.FIRST_COMPLETED)
            left = not replying.done() or isinstance(replying.exception(), ConnectionError)
        finally:
            self.calls.update(call, ended=time.monotonic(), left=left)
            for task in (replying, leaving):
                task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await leaving
        if left:
            raise ConnectionResetError
        replying.result()

    async def _complete(self, wire: Wire, call: Call) -> None:
        reply = self._player.reply(call.number, call.body)
        self.calls.update(call, fault=reply.fault.name)
        if reply.fault.name == "notools" and call.body.get("tools"):
            await wire.body(400, {"error": {"message": f"{call.model or 'the stub'} does not support tools"}})
        elif reply.fault.name == "noschema" and call.body.get("response_format"):
            await wire.body(400, {"error": {"message": "'response_format' is not supported"}})
        elif not await send_fault(wire, reply.fault):
            await Completion(wire, call.body, reply, lambda tokens: self._count(call, tokens)).send()

    def _count(self, call: Call, tokens: int) -> None:
        self.calls.update(call, tokens=tokens)

    async def _embed(self, wire: Wire, call: Call) -> None:
        fault = self._player.fault(call.number)
        self.calls.update(call, fault=fault.name)
        if await send_fault(wire, fault):
            return
        given = call.body.get("input") or []
        texts = [given] if isinstance(given, str) else list(map(str, given))
        size = call.body.get("dimensions") or self._player.script.dimensions
        vectors = await make_embedder(Options(dimensions=size)).embed(texts, as_query=False)
        data = [{"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(vectors)]
        usage = {"prompt_tokens": sum(len(text.split()) for text in texts)}
        await send_body(wire, {"object": "list", "data": data, "model": call.model, "usage": usage}, fault)

    async def _rerank(self, wire: Wire, call: Call) -> None:
        """Rerank, best first: in the format of TEI for `texts`, otherwise of Cohere and Jina."""
        fault = self._player.fault(call.number)
        self.calls.update(call, fault=fault.name)
        if await send_fault(wire, fault):
            return
        tei = "texts" in call.body
        given = list(map(str, call.body.get("texts" if tei else "documents") or []))
        scores = await make_reranker(Options()).score(str(call.body.get("query") or ""), given)
        ranked = sorted(enumerate(scores), key=lambda pair: -pair[1])[: call.body.get("top_n")]
        rows = [{"index": place, "score" if tei else "relevance_score": score} for place, score in ranked]
        await send_body(wire, rows if tei else {"id": "rerank-stub", "model": call.model, "results": rows}, fault)

    async def _models(self, wire: Wire, call: Call) -> None:
        fault = self._player.fault(call.number)
        self.calls.update(call, fault=fault.name)
        if not await send_fault(wire, fault):
            model = {"id": self._player.script.model, "object": "model", "owned_by": "pincite"}
            await send_body(wire, {"object": "list", "data": [model]}, fault)

    async def _control(self, wire: Wire, request: Request) -> None:
        """Return or clear the log, or start another script."""
        answer: Any = {}
        match request.method, request.path:
            case "GET", "/stub/calls":
                shown = [call.to_json() for call in self.calls.all()]
                answer = {"count": len(shown), "calls": shown}
            case "DELETE", "/stub/calls":
                self.calls.reset()
            case "PUT", "/stub/script":
                try:
                    self.play(read_script(request.json()))
                except SettingsError as error:
                    await wire.body(422, {"error": {"message": str(error)}})
                    return
            case _:
                await wire.body(
                    404, {"error": {"message": "there are GET and DELETE /stub/calls and PUT /stub/script"}}
                )
                return
        await wire.body(200, answer)
