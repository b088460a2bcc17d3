"""Documents: listed, looked at, removed."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import JSONResponse

from pincite.api.dependencies import Engine
from pincite.api.middleware.authenticate import ReaderAsOwner, Writer
from pincite.api.paths import API
from pincite.api.requests import AccessBody
from pincite.core.documents.document import DocumentChange as Refiled
from pincite.core.documents.document import Listing, Status
from pincite.ingest.accept.accept import clean_folder
from pincite.serialize.documents import document_json, receipt_json, version_json
from pincite.serialize.fields import Body, Tag, Text
from pincite.serialize.primitives import page_json

router = APIRouter(prefix=f"{API}/documents", tags=["documents"])

FilterText = Annotated[str | None, Query(max_length=2000)]
Limit = Annotated[int, Query(ge=1, le=1000)]


@router.get("")
async def documents(
    pincite: Engine,
    caller: ReaderAsOwner,
    folder: FilterText = None,
    status: Status | None = None,
    tag: Annotated[list[Tag], Query(max_length=100)] = [],  # noqa: B006
    q: FilterText = None,
    stale: bool | None = None,
    limit: Limit = 100,
    cursor: Annotated[str | None, Query(max_length=10_000)] = None,
) -> JSONResponse:
    """Documents by folder and name; `folder` takes in what is below it, `q` looks into names and titles."""
    listing = Listing(clean_folder(folder or "") or None, status, tuple(tag), q, limit, cursor, stale)
    found, following = await pincite.documents.page(listing, caller=caller)
    return JSONResponse(page_json([document_json(one) for one in found], following))


@router.get("/{document_id}")
async def document(document_id: str, pincite: Engine, caller: ReaderAsOwner) -> JSONResponse:
    """One document."""
    return JSONResponse(document_json(await pincite.get(document_id, caller=caller)))


@router.get("/{document_id}/versions")
async def versions(document_id: str, pincite: Engine, caller: ReaderAsOwner) -> JSONResponse:
    """Every version of a document, newest first."""
    found = await pincite.documents.list_versions(document_id, caller=caller)
    return JSONResponse(page_json([version_json(one) for one in found]))


class DocumentChange(Body):
    """What shall be otherwise about a document; what is left out stays, and `access: null` means as its folder has it."""

    title: Annotated[Text, Field(min_length=1)] | None = None
    folder: Text | None = None
    tags: Annotated[list[Tag], Field(max_length=100)] | None = None
    access: AccessBody | None = None


@router.patch("/{document_id}")
async def change(document_id: str, body: DocumentChange, pincite: Engine, caller: Writer) -> JSONResponse:
    """Give a document another title, tags, folder or readers: its id stays, nothing is indexed again."""
    folder = None if body.folder is None else clean_folder(body.folder)
    tags = None if body.tags is None else tuple(dict.fromkeys(body.tags))
    wanted = Refiled(body.title, tags, folder)
    if "access" not in body.model_fields_set:
        return JSONResponse(document_json(await pincite.documents.update(document_id, wanted, caller=caller)))
    if wanted != Refiled():
        await pincite.documents.update(document_id, wanted, caller=caller)
    wish = body.access.wish() if body.access else None
    return JSONResponse(document_json(await pincite.documents.share(document_id, wish, caller=caller)))


@router.delete("/{document_id}")
async def remove(document_id: str, pincite: Engine, caller: Writer) -> JSONResponse:
    """Remove a document and everything made of it; the receipt says what went."""
    return JSONResponse(receipt_json(await pincite.remove(document_id, caller=caller)))
