"""Metrics: what this process has done and how much there is, as Prometheus reads it."""

from fastapi import APIRouter
from starlette.responses import Response

from pincite.api import API
from pincite.api.callers import Measurer
from pincite.api.engine import Engine
from pincite.metrics import CONTENT_TYPE
from pincite.store.sizes import sizes

router = APIRouter(prefix=API, tags=["health"])


@router.get("/metrics")
async def metrics(pincite: Engine, caller: Measurer) -> Response:
    """Counters and durations of this process since it started, and the library's sizes now."""
    return Response(pincite.metrics.text(await sizes(pincite.database)), media_type=CONTENT_TYPE)
