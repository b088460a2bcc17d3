"""Versions compared, documents indexed anew, and the index that is built beside the one that is searched."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import JSONResponse

from pincite.api.dependencies import Engine
from pincite.api.middleware.authenticate import Administrator, Looker, Writer
from pincite.api.paths import API
from pincite.engine.reader.diff import CONTEXT_LINES
from pincite.evaluate.compare_indexes import compare_indexes
from pincite.evaluate.report import comparison_json
from pincite.serialize import versions as shapes
from pincite.serialize.fields import Body, DocumentIds, Name

router = APIRouter(prefix=API, tags=["versions"])

VersionId = Annotated[str | None, Query(max_length=100)]


@router.get("/documents/{document_id}/diff")
async def diff(
    document_id: str,
    pincite: Engine,
    caller: Looker,
    before: Annotated[str | None, Query(alias="from", max_length=100)] = None,
    to: VersionId = None,
    context: Annotated[int, Query(ge=0, le=1000)] = CONTEXT_LINES,
) -> JSONResponse:
    """What changed between two versions; between the last two unless told otherwise."""
    found = await pincite.documents.difference(document_id, before, to, context=context, caller=caller)
    return JSONResponse(shapes.difference(found))


class ReindexBody(Body):
    """Which documents; all unless told otherwise. `hold` waits for a word before what was built is searched."""

    document_ids: DocumentIds | None = None
    stale: bool = False
    hold: bool = False


@router.post("/documents/reindex")
async def reindex(body: ReindexBody, pincite: Engine, caller: Writer) -> JSONResponse:
    """Index documents anew in the background, from the files as they came in; search goes on meanwhile."""
    queued = await pincite.admin.reindex(body.document_ids, stale=body.stale, hold=body.hold, caller=caller)
    return JSONResponse({"documents": queued, "index": shapes.indexes(await pincite.admin.index.status())}, 202)


class SwitchBody(Body):
    """`anyway`: although some documents could not be built; these stay as they are, found by their words alone."""

    anyway: bool = False


@router.get("/index")
async def index(pincite: Engine, caller: Administrator) -> JSONResponse:
    """The index that is searched, the one that is built, and those that stand by."""
    return JSONResponse(shapes.indexes(await pincite.admin.index.status()))


class CompareBody(Body):
    """Which of one's own question sets to ask; the newest unless named."""

    set_id: Annotated[Name | None, Field(max_length=100)] = None


@router.post("/index/compare")
async def compare(pincite: Engine, caller: Administrator, body: CompareBody | None = None) -> JSONResponse:
    """Ask one's question set of the index that is searched and of the one beside it; answers when all are asked."""
    questions = await pincite.questions.evaluations.get_set(await pincite.scope(caller), body.set_id if body else None)
    found = await compare_indexes(pincite, questions, caller=caller, report=lambda _progress: None)
    return JSONResponse(comparison_json(found))


@router.post("/index/switch")
async def switch(body: SwitchBody, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Search the index that was built, from now on and in every process."""
    await pincite.admin.switch_index(anyway=body.anyway, caller=caller)
    return JSONResponse(shapes.indexes(await pincite.admin.index.status()))


@router.post("/index/rollback")
async def rollback(pincite: Engine, caller: Administrator) -> JSONResponse:
    """Return to the index that was searched before; documents that came since are built first."""
    await pincite.admin.roll_back_index(caller=caller)
    return JSONResponse(shapes.indexes(await pincite.admin.index.status()), 202)


@router.delete("/index")
async def discard(pincite: Engine, caller: Administrator) -> JSONResponse:
    """Let go of the index that is being built, or else of those that stand by."""
    return JSONResponse({"discarded": await pincite.admin.discard_index(caller=caller)})
