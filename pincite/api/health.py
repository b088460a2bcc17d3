"""Health: whether the server lives, whether it can work, and for administrators what it is made of."""

import asyncio

from fastapi import APIRouter
from starlette.responses import JSONResponse

from pincite import __version__
from pincite.api import API
from pincite.api.callers import Administrator
from pincite.api.engine import Engine
from pincite.errors import StoreDown
from pincite.store.database import health
from pincite.store.sizes import sizes

router = APIRouter(prefix=f"{API}/health", tags=["health"])

READY_S = 3.0
"""A database that takes longer to say anything counts as down."""


@router.get("/live")
async def live() -> JSONResponse:
    """The process answers."""
    return JSONResponse({"status": "ok"})


@router.get("/ready")
async def ready(pincite: Engine) -> JSONResponse:
    """The database answers too; 503 where it does not."""
    try:
        async with asyncio.timeout(READY_S):
            await health(pincite.database, "")
    except TimeoutError as error:
        raise StoreDown(f"the database did not answer within {READY_S:g} s") from error
    return JSONResponse({"status": "ready"})


@router.get("/details")
async def details(pincite: Engine, caller: Administrator) -> JSONResponse:
    """Versions, models and sizes, and what `/metrics` counts, as JSON."""
    llm = pincite.toolbox.kit(pincite.settings).llm
    return JSONResponse(
        {
            "status": "ok",
            "version": __version__,
            "database": await health(pincite.database, caller.person),
            "embedding": {"model": pincite.embedder.name, "dimensions": pincite.embedder.dimensions},
            "llm": {"model": llm.name, "window": llm.window},
            "reranker": pincite.settings.rag.reranker,
            "stale_documents": await pincite.library.stale(await pincite.scope(caller)),
            "metrics": pincite.metrics.numbers(await sizes(pincite.database)),
        }
    )
