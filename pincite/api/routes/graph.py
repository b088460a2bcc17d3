"""The knowledge graph: entities by name, one entity, and the path between two."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import JSONResponse

from pincite.api.dependencies import Engine, Reader
from pincite.api.paths import API
from pincite.serialize.search import entity_json, node_json, path_json

router = APIRouter(prefix=f"{API}/graph", tags=["graph"])

EntityName = Annotated[str, Query(min_length=1, max_length=200)]


@router.get("/entities")
async def entities(
    pincite: Engine,
    caller: Reader,
    q: Annotated[str, Query(max_length=200)] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> JSONResponse:
    """Find entities by a part of their name, the most mentioned first; without `q`, those of the newest documents.

    `build` is the setting `graph.build`.
    """
    found = await pincite.graph.find(q, limit=limit, caller=caller)
    return JSONResponse({"items": [node_json(one) for one in found], "build": pincite.settings.graph.build})


@router.get("/entities/{entity}")
async def entity(pincite: Engine, caller: Reader, entity: str) -> JSONResponse:
    """Show an entity by its id or name: its facts, where it is mentioned, and its neighbours within two hops."""
    return JSONResponse(entity_json(await pincite.graph.entity(entity[:200], caller=caller)))


@router.get("/path")
async def path(
    pincite: Engine,
    caller: Reader,
    start: Annotated[EntityName, Query(alias="from")],
    end: Annotated[EntityName, Query(alias="to")],
) -> JSONResponse:
    """Find the shortest path between two entities, each given by id or name, with what states each step."""
    return JSONResponse(path_json(await pincite.graph.path(start, end, caller=caller)))
