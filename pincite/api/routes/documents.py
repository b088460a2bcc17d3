"""Documents: list, show, change, remove."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import JSONResponse

from pincite.api.dependencies import Engine, ReaderAsOwner, Writer
from pincite.api.paths import API
from pincite.api.requests import AccessBody
from pincite.core.documents.document import DocumentChange as EngineDocumentChange
from pincite.core.documents.document import Listing, Sort, Status
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
    sort: Sort = "name",
    descending: bool = False,
    limit: Limit = 100,
    cursor: Annotated[str | None, Query(max_length=10_000)] = None,
) -> JSONResponse:
    """List documents, by default by folder and name; `folder` includes its subfolders, `q` searches names and titles."""
    listing = Listing(clean_folder(folder or "") or None, status, tuple(tag), q, limit, cursor, stale, sort, descending)
    found, following = await pincite.documents.page(listing, caller=caller)
    return JSONResponse(page_json([document_json(one) for one in found], following))


@router.get("/{document_id}")
async def document(document_id: str, pincite: Engine, caller: ReaderAsOwner) -> JSONResponse:
    """Show one document."""
    return JSONResponse(document_json(await pincite.get(document_id, caller=caller)))


@router.get("/{document_id}/versions")
async def versions(document_id: str, pincite: Engine, caller: ReaderAsOwner) -> JSONResponse:
    """List the versions of a document, newest first."""
    found = await pincite.documents.list_versions(document_id, caller=caller)
    return JSONResponse(page_json([version_json(one) for one in found]))


class DocumentChange(Body):
    """Changes of a document; omitted fields stay, and `access: null` inherits the access of its folder."""

    title: Annotated[Text, Field(min_length=1)] | None = None
    folder: Text | None = None
    tags: Annotated[list[Tag], Field(max_length=100)] | None = None
    access: AccessBody | None = None


@router.patch("/{document_id}")
async def change(document_id: str, body: DocumentChange, pincite: Engine, caller: Writer) -> JSONResponse:
    """Change a document's title, tags, folder or access; its id stays, and it is not indexed again."""
    folder = None if body.folder is None else clean_folder(body.folder)
    tags = None if body.tags is None else tuple(dict.fromkeys(body.tags))
    wanted = EngineDocumentChange(body.title, tags, folder)
    if "access" not in body.model_fields_set:
        return JSONResponse(document_json(await pincite.documents.update(document_id, wanted, caller=caller)))
    if wanted != EngineDocumentChange():
        await pincite.documents.update(document_id, wanted, caller=caller)
    share_request = body.access.to_share_request() if body.access else None
    return JSONResponse(document_json(await pincite.documents.share(document_id, share_request, caller=caller)))


@router.delete("/{document_id}")
async def remove(document_id: str, pincite: Engine, caller: Writer) -> JSONResponse:
    """Remove a document and everything derived from it; the receipt counts what was removed."""
    return JSONResponse(receipt_json(await pincite.remove(document_id, caller=caller)))
