"""A server that embeds texts for many processes, with the embedder of its settings; see docs/many-machines.md."""

import asyncio
import hmac
import ipaddress
from collections.abc import Callable, Sequence
from typing import Annotated

import uvicorn
from fastapi import FastAPI, Request
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse

from pincite.concurrency import Batcher
from pincite.core.protocols import Embedder
from pincite.errors import Invalid, PinciteError, SettingsError, Unauthorized

MAX_BATCH = 64
"""Texts of all clients together that are embedded in one call."""
MAX_TEXTS = 2048
"""Texts of one request at most."""


class EmbeddingRequest(BaseModel):
    """Texts, the model that the client expects, and whether they are questions."""

    model: str
    input: Annotated[list[str], Field(max_length=MAX_TEXTS)]
    as_query: bool = False


def make_embed_app(embedder: Embedder, key: str) -> FastAPI:
    """Return the application; without a key everyone may use it."""
    app = FastAPI(title="pincite embed-server", openapi_url=None)

    async def compute(items: Sequence[tuple[str, bool]]) -> list[list[float]]:
        """Embed the texts of several clients: passages in one call, questions in another."""
        found: dict[int, list[float]] = {}
        for as_query in (False, True):
            places = [place for place, (_, asks) in enumerate(items) if asks is as_query]
            vectors = await embedder.embed([items[place][0] for place in places], as_query=as_query)
            found.update(zip(places, vectors, strict=True))
        return [found[place] for place in range(len(items))]

    batcher: Batcher[tuple[str, bool], list[float]] = Batcher(compute, max_batch=MAX_BATCH)

    @app.exception_handler(PinciteError)
    async def refuse(_: Request, error: PinciteError) -> JSONResponse:
        return JSONResponse({"error": {"message": str(error), "code": error.code}}, status_code=error.status)

    @app.get("/health/live")
    async def live() -> JSONResponse:
        return JSONResponse({"status": "ok", "model": embedder.name})

    @app.post("/v1/embeddings")
    async def embeddings(body: EmbeddingRequest, request: Request) -> JSONResponse:
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        if key and not hmac.compare_digest(given.encode(), key.encode()):
            raise Unauthorized("the key is not the server's; set embedding.api_key to the same value on both sides")
        if body.model != embedder.name:
            raise Invalid(
                f"this server embeds with '{embedder.name}', not '{body.model}'; use the same version of pincite"
            )
        vectors = await asyncio.gather(*(batcher((text, body.as_query)) for text in body.input))
        data = [{"index": place, "embedding": vector} for place, vector in enumerate(vectors)]
        return JSONResponse({"object": "list", "model": embedder.name, "data": data})

    return app


async def serve_embeddings(embedder: Embedder, key: str, host: str, port: int, ready: Callable[[], None]) -> None:
    """Serve until SIGINT or SIGTERM; beyond this machine only with a key."""
    if not key and not _is_this_machine(host):
        raise SettingsError(f"set PINCITE_EMBEDDING__API_KEY to listen on {host}: others on the network could use it")
    config = uvicorn.Config(make_embed_app(embedder, key), host=host, port=port, log_config=None, access_log=False)
    ready()
    await uvicorn.Server(config).serve()


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
