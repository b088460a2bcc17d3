"""Folders: list, create, change, move, remove."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import JSONResponse

from pincite.api.dependencies import Engine, Reader, Writer
from pincite.api.paths import API
from pincite.api.requests import AccessBody
from pincite.core.documents.document import Folder
from pincite.errors import Invalid
from pincite.ingest.accept.accept import clean_folder
from pincite.serialize.documents import folder_json, receipt_json
from pincite.serialize.fields import Body, Name, Text
from pincite.serialize.primitives import page_json

router = APIRouter(prefix=f"{API}/folders", tags=["folders"])

Instructions = Annotated[Name, Field(max_length=20_000)]
Label = Annotated[Name, Field(max_length=200)]


class FolderBody(Body):
    """A folder with its system prompt, its label in answers, and the readers of it and its subfolders."""

    path: Text
    system_prompt: Instructions | None = None
    category_label: Label | None = None
    access: AccessBody | None = None


class FolderChange(FolderBody):
    """Changes of a folder: omitted fields stay, null or an empty text clears a field."""

    new_path: Text | None = None


def _folder_path(text: str) -> str:
    path = clean_folder(text)
    if not path:
        raise Invalid("name a folder, such as hr/policies; the top of the library is not a folder", code="bad_folder")
    return path


@router.get("")
async def folders(
    pincite: Engine,
    caller: Reader,
    limit: Annotated[int, Query(ge=1, le=1000)] = 1000,
    cursor: Annotated[str | None, Query(max_length=2000)] = None,
) -> JSONResponse:
    """List folders by path; `documents` includes those of subfolders."""
    found = [
        one for one in await pincite.documents.folders.all(await pincite.scope(caller)) if one.path > (cursor or "")
    ]
    following = found[limit - 1].path if len(found) > limit else None
    return JSONResponse(page_json([folder_json(one) for one in found[:limit]], following))


@router.post("", status_code=201)
async def make(body: FolderBody, pincite: Engine, caller: Writer) -> JSONResponse:
    """Create a folder, or set prompt and label of a folder that exists only by its documents; 409 if it exists."""
    scope, path = await pincite.scope(caller), _folder_path(body.path)
    await pincite.documents.folders.make(scope, Folder(path, body.system_prompt or None, body.category_label or None))
    if body.access is not None:
        await pincite.documents.share_folder(path, body.access.to_share_request(), caller=caller)
    return JSONResponse(folder_json(await pincite.documents.folders.get(scope, path)), 201)


@router.patch("")
async def change(body: FolderChange, pincite: Engine, caller: Writer) -> JSONResponse:
    """Change a folder's fields, or move it with its contents; documents keep their ids."""
    scope, path = await pincite.scope(caller), _folder_path(body.path)
    known, sent = await pincite.documents.folders.get(scope, path), body.model_fields_set
    if body.new_path is not None and (to := _folder_path(body.new_path)) != path:
        await pincite.documents.folders.move(scope, path, to)
        path = to
    if sent & {"system_prompt", "category_label"}:
        prompt = body.system_prompt if "system_prompt" in sent else known.system_prompt
        label = body.category_label if "category_label" in sent else known.category_label
        await pincite.documents.folders.update(scope, Folder(path, prompt or None, label or None))
    if "access" in sent:
        await pincite.documents.share_folder(
            path, body.access.to_share_request() if body.access else None, caller=caller
        )
        scope = await pincite.scope(caller)
    return JSONResponse(folder_json(await pincite.documents.folders.get(scope, path)))


@router.delete("")
async def remove(
    pincite: Engine, caller: Writer, path: Annotated[str, Query(max_length=2000)], recursive: bool = False
) -> JSONResponse:
    """Remove an empty folder, or with `recursive` one with its documents; returns a receipt per document."""
    receipts = await pincite.documents.remove_folder(_folder_path(path), recursive=recursive, caller=caller)
    return JSONResponse({"path": _folder_path(path), "receipts": [receipt_json(one) for one in receipts]})
