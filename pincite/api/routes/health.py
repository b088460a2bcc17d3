"""Health checks, server details, and metrics for Prometheus."""

import asyncio

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from pincite import __version__
from pincite.api.dependencies import Administrator, Engine, MetricsReader
from pincite.api.paths import API
from pincite.errors import StoreDown, StoreReadOnly
from pincite.tracing.metrics import CONTENT_TYPE

router = APIRouter(prefix=API, tags=["health"])

DATABASE_TIMEOUT_S = 3.0
"""Seconds after which a database that does not respond counts as down."""


@router.get("/health/live")
async def live() -> JSONResponse:
    """Liveness: the process responds."""
    return JSONResponse({"status": "ok"})


@router.get("/health/ready")
async def ready(pincite: Engine) -> JSONResponse:
    """Readiness: the database responds too and can be written; 503 if not."""
    try:
        async with asyncio.timeout(DATABASE_TIMEOUT_S):
            if (await pincite.admin.health())["read_only"]:
                raise StoreReadOnly("the database is read-only, as a replica is; requests that write are refused")
    except TimeoutError as error:
        raise StoreDown(f"the database did not respond within {DATABASE_TIMEOUT_S:g} s") from error
    return JSONResponse({"status": "ready"})


@router.get("/health/details")
async def details(pincite: Engine, caller: Administrator) -> JSONResponse:
    """Versions, models and sizes, and the metrics of `/metrics`, as JSON."""
    llm = pincite.admin.kit().llm
    return JSONResponse(
        {
            "status": "ok",
            "version": __version__,
            "database": await pincite.admin.health(caller),
            "embedding": {"model": pincite.admin.embedder.name, "dimensions": pincite.admin.embedder.dimensions},
            "llm": {"model": llm.name, "window": llm.window},
            "reranker": pincite.settings.rag.reranker,
            "stale_documents": await pincite.documents.stale(caller=caller),
            "metrics": pincite.admin.metrics.numbers(await pincite.admin.sizes()),
        }
    )


@router.get("/metrics")
async def metrics(pincite: Engine, caller: MetricsReader) -> Response:
    """Counters and durations of this process since its start, and the library's current sizes."""
    return Response(pincite.admin.metrics.text(await pincite.admin.sizes()), media_type=CONTENT_TYPE)
