"""Where the text of a document stands in its file: pages with their words, and places of spans."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import JSONResponse

from pincite.api.dependencies import Engine
from pincite.api.middleware.authenticate import Looker
from pincite.api.paths import API
from pincite.core.documents.pages import Box
from pincite.engine.reader.page_locator import Target
from pincite.errors import Invalid
from pincite.serialize import pages as shapes
from pincite.serialize.fields import Text

router = APIRouter(prefix=f"{API}/documents", tags=["documents"])

VersionId = Annotated[str | None, Query(max_length=100)]
Offset = Annotated[int | None, Query(ge=0, le=2**31 - 1)]


@router.get("/{document_id}/pages/{number}")
async def page(
    document_id: str,
    number: int,
    pincite: Engine,
    caller: Looker,
    version: VersionId = None,
    start: Offset = None,
    end: Offset = None,
) -> JSONResponse:
    """A page, slide, sheet or part of a mail with its words; `start` and `end` leave those that a span touches."""
    scope, span = await pincite.scope(caller), _span(start, end)
    if not 1 <= number < 2**31:
        raise Invalid("pages count from 1")
    found = await pincite.documents.locator.page(scope, document_id, number, version, span)
    return await asyncio.to_thread(lambda: JSONResponse(shapes.shown(found)))  # a sheet may have many cells


@router.get("/{document_id}/places")
async def places(
    document_id: str,
    pincite: Engine,
    caller: Looker,
    version: VersionId = None,
    start: Offset = None,
    end: Offset = None,
    page: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
    name: Annotated[Text | None, Query()] = None,
    ref: Annotated[Text | None, Query()] = None,
    rect: Annotated[str | None, Query(max_length=200)] = None,
) -> JSONResponse:
    """Where a span of the text stands, by `start` and `end`; or the text at a place: `page` or `name`, `ref` or `rect`."""
    scope, span = await pincite.scope(caller), _span(start, end)
    aim = Target(page, name, ref, None if rect is None else _box(rect))
    if (span is None) == (aim == Target()):
        raise Invalid("send either start and end, or a place: page or name, with ref or rect")
    if ref is not None and rect is not None:
        raise Invalid("send either ref or rect")
    if span is not None:
        return JSONResponse(shapes.spot(await pincite.documents.locator.locate(scope, document_id, span, version)))
    return JSONResponse(shapes.spot(await pincite.documents.locator.text_at(scope, document_id, aim, version)))


def _span(start: int | None, end: int | None) -> tuple[int, int] | None:
    if (start is None) != (end is None):
        raise Invalid("start and end go together")
    return None if start is None or end is None else (start, end)


def _box(text: str) -> Box:
    """`left,top,right,bottom` in points."""
    try:
        left, top, right, bottom = (float(edge) for edge in text.split(","))
    except ValueError:
        raise Invalid("rect: send left,top,right,bottom in points from the page's upper left corner") from None
    return left, top, right, bottom
