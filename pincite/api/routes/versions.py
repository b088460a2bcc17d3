"""Diffs of versions, reindexing, and switching between the active index and a new one."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import JSONResponse

from pincite.api.dependencies import Administrator, Engine, ReaderAsOwner, Writer
from pincite.api.paths import API
from pincite.core.engines import BuiltEngine
from pincite.engine.reader.diff import CONTEXT_LINES
from pincite.evaluate.compare_indexes import compare_indexes
from pincite.evaluate.report import comparison_json
from pincite.serialize.fields import Body, DocumentIds, Name
from pincite.serialize.versions import difference_json, indexes_json

router = APIRouter(prefix=API, tags=["versions"])

VersionId = Annotated[str | None, Query(max_length=100)]


@router.get("/documents/{document_id}/diff")
async def diff(
    document_id: str,
    pincite: Engine,
    caller: ReaderAsOwner,
    before: Annotated[str | None, Query(alias="from", max_length=100)] = None,
    to: VersionId = None,
    context: Annotated[int, Query(ge=0, le=1000)] = CONTEXT_LINES,
) -> JSONResponse:
    """Show the difference between two versions, by default the last two."""
    found = await pincite.documents.difference(document_id, before, to, context=context, caller=caller)
    return JSONResponse(difference_json(found))


class ReindexBody(Body):
    """The documents to reindex, by default all. With `hold`, the new index waits for `POST /index/switch`.

    With `engine`, nothing is indexed again: only the data of that engine is built.
    """

    document_ids: DocumentIds | None = None
    stale: bool = False
    hold: bool = False
    engine: BuiltEngine | None = None


@router.post("/documents/reindex")
async def reindex(body: ReindexBody, pincite: Engine, caller: Writer) -> JSONResponse:
    """Reindex documents from their original files in the background; search continues meanwhile."""
    if body.engine is not None:
        return JSONResponse(
            {"documents": await pincite.admin.build(body.engine, body.document_ids, caller=caller)}, 202
        )
    queued = await pincite.admin.reindex(body.document_ids, stale=body.stale, hold=body.hold, caller=caller)
    return JSONResponse({"documents": queued, "index": indexes_json(await pincite.admin.index.status())}, 202)


class SwitchBody(Body):
    """`anyway` switches although some documents failed; these are found by lexical search only."""

    anyway: bool = False


@router.get("/index")
async def index(pincite: Engine, caller: Administrator) -> JSONResponse:
    """Show the active index, the one being built, and the standby ones."""
    return JSONResponse(indexes_json(await pincite.admin.index.status()))


class CompareBody(Body):
    """The question set to use, by default the newest."""

    set_id: Annotated[Name | None, Field(max_length=100)] = None


@router.post("/index/compare")
async def compare(pincite: Engine, caller: Administrator, body: CompareBody | None = None) -> JSONResponse:
    """Run a question set on the active and on the new index; responds when all questions are done."""
    questions = await pincite.questions.evaluations.get_set(await pincite.scope(caller), body.set_id if body else None)
    found = await compare_indexes(pincite, questions, caller=caller, report=lambda _progress: None)
    return JSONResponse(comparison_json(found))


@router.post("/index/switch")
async def switch(body: SwitchBody, pincite: Engine, caller: Administrator) -> JSONResponse:
    """Switch every process to the new index."""
    await pincite.admin.switch_index(anyway=body.anyway, caller=caller)
    return JSONResponse(indexes_json(await pincite.admin.index.status()))


@router.post("/index/rollback")
async def rollback(pincite: Engine, caller: Administrator) -> JSONResponse:
    """Switch back to the previous index; documents added since are built first."""
    await pincite.admin.roll_back_index(caller=caller)
    return JSONResponse(indexes_json(await pincite.admin.index.status()), 202)


@router.delete("/index")
async def discard(pincite: Engine, caller: Administrator) -> JSONResponse:
    """Discard the index being built, or else the standby ones."""
    return JSONResponse({"discarded": await pincite.admin.discard_index(caller=caller)})
