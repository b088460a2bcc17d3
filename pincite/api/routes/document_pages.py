"""Where a document's text is in its file: pages with their words, and places of text spans."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import JSONResponse

from pincite.api.dependencies import Engine, ReaderAsOwner
from pincite.api.paths import API
from pincite.core.documents.pages import Box
from pincite.engine.reader.page_locator import Target
from pincite.errors import Invalid
from pincite.serialize.fields import Text
from pincite.serialize.pages import location_json, page_view_json

router = APIRouter(prefix=f"{API}/documents", tags=["documents"])

VersionId = Annotated[str | None, Query(max_length=100)]
Offset = Annotated[int | None, Query(ge=0, le=2**31 - 1)]


@router.get("/{document_id}/pages/{number}")
async def page(
    document_id: str,
    number: int,
    pincite: Engine,
    caller: ReaderAsOwner,
    version: VersionId = None,
    start: Offset = None,
    end: Offset = None,
) -> JSONResponse:
    """Show a page, slide, sheet or mail part with its words; `start` and `end` keep only the words of that span."""
    scope, span = await pincite.scope(caller), _span(start, end)
    if not 1 <= number < 2**31:
        raise Invalid("the page number must be 1 or more")
    found = await pincite.documents.locator.page(scope, document_id, number, version, span)
    return await asyncio.to_thread(lambda: JSONResponse(page_view_json(found)))  # a sheet may have many cells


@router.get("/{document_id}/places")
async def places(
    document_id: str,
    pincite: Engine,
    caller: ReaderAsOwner,
    version: VersionId = None,
    start: Offset = None,
    end: Offset = None,
    page: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
    name: Annotated[Text | None, Query()] = None,
    ref: Annotated[Text | None, Query()] = None,
    rect: Annotated[str | None, Query(max_length=200)] = None,
) -> JSONResponse:
    """Locate a text span (`start`, `end`), or return the text at a place (`page` or `name`, `ref` or `rect`)."""
    scope, span = await pincite.scope(caller), _span(start, end)
    target = Target(page, name, ref, None if rect is None else _box(rect))
    if (span is None) == (target == Target()):
        raise Invalid("send either start and end, or a place: page or name, with ref or rect")
    if ref is not None and rect is not None:
        raise Invalid("send either ref or rect")
    if span is not None:
        return JSONResponse(location_json(await pincite.documents.locator.locate(scope, document_id, span, version)))
    return JSONResponse(location_json(await pincite.documents.locator.text_at(scope, document_id, target, version)))


def _span(start: int | None, end: int | None) -> tuple[int, int] | None:
    if (start is None) != (end is None):
        raise Invalid("send both start and end, or neither")
    return None if start is None or end is None else (start, end)


def _box(text: str) -> Box:
    """Parse `left,top,right,bottom` in points."""
    try:
        left, top, right, bottom = (float(edge) for edge in text.split(","))
    except ValueError:
        raise Invalid("rect: send left,top,right,bottom in points from the page's upper left corner") from None
    return left, top, right, bottom
