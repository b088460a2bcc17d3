"""Folders: listed, made, changed, moved, removed."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import JSONResponse

from pincite.api.dependencies import Engine
from pincite.api.middleware.authenticate import Reader, Writer
from pincite.api.paths import API
from pincite.api.requests import AccessBody
from pincite.core.documents.document import Folder
from pincite.errors import Invalid
from pincite.ingest.accept.accept import clean_folder
from pincite.serialize import answers
from pincite.serialize.fields import Body, Name, Text

router = APIRouter(prefix=f"{API}/folders", tags=["folders"])

Instructions = Annotated[Name, Field(max_length=20_000)]
Label = Annotated[Name, Field(max_length=200)]


class FolderBody(Body):
    """A folder, what it tells the model, what it is called in answers, and who may read what lies in it and below it."""

    path: Text
    system_prompt: Instructions | None = None
    category_label: Label | None = None
    access: AccessBody | None = None


class FolderChange(FolderBody):
    """What shall be otherwise: a field that is left out stays, null or an empty text takes it away."""

    new_path: Text | None = None


def _path(given: str) -> str:
    path = clean_folder(given)
    if not path:
        raise Invalid("name a folder, such as hr/policies; the top of the library is none", code="bad_folder")
    return path


@router.get("")
async def folders(
    pincite: Engine,
    caller: Reader,
    limit: Annotated[int, Query(ge=1, le=1000)] = 1000,
    cursor: Annotated[str | None, Query(max_length=2000)] = None,
) -> JSONResponse:
    """Every folder by its path; `documents` counts those below it, too."""
    found = [
        one for one in await pincite.documents.folders.all(await pincite.scope(caller)) if one.path > (cursor or "")
    ]
    following = found[limit - 1].path if len(found) > limit else None
    return JSONResponse(answers.page([answers.folder(one) for one in found[:limit]], following))


@router.post("", status_code=201)
async def make(body: FolderBody, pincite: Engine, caller: Writer) -> JSONResponse:
    """Make a folder, or give one that documents lie in its prompt and label; 409 where that was done before."""
    scope, path = await pincite.scope(caller), _path(body.path)
    await pincite.documents.folders.make(scope, Folder(path, body.system_prompt or None, body.category_label or None))
    if body.access is not None:
        await pincite.documents.share_folder(path, body.access.wish(), caller=caller)
    return JSONResponse(answers.folder(await pincite.documents.folders.get(scope, path)), 201)


@router.patch("")
async def change(body: FolderChange, pincite: Engine, caller: Writer) -> JSONResponse:
    """Change what a folder says, or move it with all that is in it: documents keep their ids."""
    scope, path = await pincite.scope(caller), _path(body.path)
    known, given = await pincite.documents.folders.get(scope, path), body.model_fields_set
    if body.new_path is not None and (to := _path(body.new_path)) != path:
        await pincite.documents.folders.move(scope, path, to)
        path = to
    if given & {"system_prompt", "category_label"}:
        prompt = body.system_prompt if "system_prompt" in given else known.system_prompt
        label = body.category_label if "category_label" in given else known.category_label
        await pincite.documents.folders.update(scope, Folder(path, prompt or None, label or None))
    if "access" in given:
        await pincite.documents.share_folder(path, body.access.wish() if body.access else None, caller=caller)
        scope = await pincite.scope(caller)
    return JSONResponse(answers.folder(await pincite.documents.folders.get(scope, path)))


@router.delete("")
async def remove(
    pincite: Engine, caller: Writer, path: Annotated[str, Query(max_length=2000)], recursive: bool = False
) -> JSONResponse:
    """Remove a folder: an empty one, or with `recursive` one with its documents, a receipt for each."""
    receipts = await pincite.documents.remove_folder(_path(path), recursive=recursive, caller=caller)
    return JSONResponse({"path": _path(path), "receipts": [answers.receipt(one) for one in receipts]})
