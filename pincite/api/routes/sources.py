"""Sources that documents are synchronised with; for administrators."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import JSONResponse, Response

from pincite.api.dependencies import Administrator, Engine
from pincite.api.paths import API
from pincite.core.documents.sources import NewSource, SourceKind
from pincite.engine.connectors.source_sync import Sources
from pincite.serialize.fields import Body
from pincite.serialize.jobs import source_json, source_result_json
from pincite.serialize.primitives import page_json

router = APIRouter(prefix=f"{API}/sources", tags=["sources"])


class SourceBody(Body):
    """A source: its kind, its URL, the folder of its documents, and the variable with its credentials."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    kind: SourceKind
    url: Annotated[str, Field(min_length=1, max_length=2000)]
    folder: Annotated[str, Field(max_length=1000)] = ""
    options: dict[str, Annotated[str, Field(max_length=10_000)]] = Field(default_factory=dict, max_length=10)
    secret_env: Annotated[str, Field(max_length=200)] = ""
    every_minutes: Annotated[int, Field(ge=0, le=525_600)] = 0


@router.get("")
async def sources(pincite: Engine, caller: Administrator) -> JSONResponse:
    """List your sources with the result of their last synchronisation."""
    found = await Sources(pincite, caller).all()
    return JSONResponse(page_json([source_json(one) for one in found]))


@router.post("", status_code=201)
async def add(body: SourceBody, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Store a source; its documents are private to you unless its folder is shared."""
    stored = await Sources(pincite, caller).add(NewSource(**body.model_dump()))
    return JSONResponse(source_json(stored), status_code=201)


@router.get("/{source_id}")
async def source(source_id: str, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Show a source."""
    return JSONResponse(source_json(await Sources(pincite, caller).get(source_id)))


@router.post("/{source_id}/sync")
async def sync(source_id: str, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Synchronise a source now, and wait until its documents are indexed."""
    return JSONResponse(source_result_json(await Sources(pincite, caller).sync(source_id)))


@router.delete("/{source_id}", status_code=204)
async def remove(
    source_id: str, pincite: Engine, caller: Administrator, documents: Annotated[bool, Query()] = False
) -> Response:
    """Remove a source; with `documents=true`, its documents too."""
    await Sources(pincite, caller).remove(source_id, documents=documents)
    return Response(status_code=204)
