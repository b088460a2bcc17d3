"""Builds the knowledge graph of a library in a process that kills itself at a step."""

import asyncio
from pathlib import Path
from typing import Any

from psycopg import AsyncCursor

from pincite.engine.app import AsyncPincite
from pincite.ingest.engines.builder import EngineWorker
from pincite.ingest.graph.builder import GraphBuilder
from pincite.store.engines.builds import EngineBuilds
from pincite.store.engines.graph_rows import GraphRows
from tests.faults.dying import Say, die_at

STEPS: dict[str, tuple[Any, str]] = {
    "claim": (EngineBuilds, "claim"),
    "source": (EngineBuilds, "source"),
    "build": (GraphBuilder, "build"),
    "rows": (AsyncCursor, "executemany"),
    "write": (GraphRows, "write"),
    "publish": (EngineBuilds, "publish"),
}
POINTS = [
    *(f"{when}:{step}:1" for step in ("claim", "source", "build", "write", "publish") for when in ("before", "after")),
    "after:rows:1",  # within the transaction, after the mentions
    "after:rows:2",
    "before:publish:2",  # between two documents
]


def build(say: Say, data: str, url: str, point: str) -> None:
    """Build what is missing, to the end or up to the step."""
    asyncio.run(_build(say, data, url, point))


async def _build(say: Say, data: str, url: str, point: str) -> None:
    settings = {"data": Path(data), "database.url": url, "embedding.provider": "scripted", "graph.build": "rules"}
    async with AsyncPincite(settings=settings) as pincite:
        if point:
            die_at(point, STEPS)
        services = pincite.services
        await EngineWorker(lambda: services.engine_builds, services.builders).work(lambda: False)
        say("done")
