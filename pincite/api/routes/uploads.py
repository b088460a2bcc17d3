"""Uploads: files taken in, and held ones released."""

import asyncio
from dataclasses import asdict, replace
from typing import Any

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from pydantic import Field, Json, ValidationError, model_validator
from starlette.datastructures import FormData, UploadFile
from starlette.responses import JSONResponse

from pincite.api.admission.admission import Admission, Admitted
from pincite.api.dependencies import Engine
from pincite.api.middleware.authenticate import Writer
from pincite.api.paths import API
from pincite.api.requests import AccessBody
from pincite.config.settings import Settings
from pincite.core.accounts.access import Caller
from pincite.core.documents.document import Upload
from pincite.engine.app import AsyncPincite
from pincite.engine.connectors.samples import DEMO, find_samples
from pincite.errors import Invalid
from pincite.ingest.accept.accept import clean_folder, largest
from pincite.serialize import answers
from pincite.serialize.fields import Body, DocumentIds, Tag, Text

router = APIRouter(prefix=f"{API}/documents", tags=["documents"])


class UploadFields(Body):
    """What may be said about a file; tags come one to a field, separated by commas, or both; access is a JSON object."""

    folder: Text = ""
    source_uri: Text | None = None
    title: Text | None = None
    author: Text | None = None
    description: Text | None = None
    tags: list[Tag] = Field(default=[], max_length=100)
    start: bool | None = None
    access: Json[AccessBody] | None = None


def _form(description: type[Body]) -> dict[str, Any]:
    """The form as OpenAPI describes it."""
    schema = description.model_json_schema()
    schema["properties"] = {"file": {"type": "string", "format": "binary"}, **schema["properties"]}
    schema["required"] = ["file"]
    return {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}}


FORM = _form(UploadFields)


@router.post("/upload", status_code=202, openapi_extra=FORM)
async def upload(request: Request, pincite: Engine, caller: Writer, admitted: Admitted) -> JSONResponse:
    """Take a file in: 202 and it is processed in the background, or 200 where it is there already."""
    return await receive(request, pincite, caller, admitted, start=True)


async def receive(
    request: Request, pincite: AsyncPincite, caller: Caller, admitted: Admission, *, start: bool
) -> JSONResponse:
    """Take in the file of a form, and start unless that or the door says otherwise."""
    async with request.form(max_files=1, max_fields=120, max_part_size=64 * 1024) as form:
        return await admitted.file(caller, lambda: _take_in(form, pincite, caller, start))


async def _take_in(form: FormData, pincite: AsyncPincite, caller: Caller, start: bool) -> JSONResponse:
    fields = _fields(form)
    file = await _file(form, fields, pincite.settings)
    if fields.access is not None:
        readers = await pincite.documents.readers(fields.access.wish(), caller=caller)
        file = replace(file, readers=readers)
    added = await pincite.documents.upload(file, start=start if fields.start is None else fields.start, caller=caller)
    alike = await pincite.documents.duplicates(added.document, caller=caller)
    told: answers.Json = {"document": answers.document(added.document)}
    if alike:
        told["same_content"] = [{"id": one.id, "name": one.name, "folder": one.folder} for one in alike]
    if added.outcome == "unchanged":
        return JSONResponse(told | {"duplicate": True}, 200)
    return JSONResponse(told, 202)


def _fields(form: FormData) -> UploadFields:
    given: dict[str, Any] = {}
    for name in form:
        values = [value for value in form.getlist(name) if isinstance(value, str)]
        if name == "tags":
            given[name] = [tag.strip() for value in values for tag in value.split(",") if tag.strip()]
        elif name != "file":
            given[name] = values[0] if len(values) == 1 else values
    try:
        return UploadFields.model_validate(given)
    except ValidationError as error:
        raise RequestValidationError([{**one, "loc": ("body", *one["loc"])} for one in error.errors()]) from error


async def _file(form: FormData, fields: UploadFields, settings: Settings) -> Upload:
    """The file with what is said about it; no more is read than the largest file may have, and one byte."""
    file = form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        raise Invalid("send the file as multipart/form-data, in a part called 'file' that has a file name")
    return Upload(
        name=file.filename, data=await file.read(largest(settings) + 1), folder=fields.folder,
        source_uri=fields.source_uri or None, title=fields.title, author=fields.author,
        description=fields.description, tags=tuple(dict.fromkeys(fields.tags)),
    )  # fmt: skip


class SamplesBody(Body):
    """Where the sample documents go."""

    folder: Text = DEMO


@router.post("/samples", status_code=202)
async def samples(pincite: Engine, caller: Writer, admitted: Admitted, body: SamplesBody | None = None) -> JSONResponse:
    """Take in the documents this package comes with; those that are there already stay as they are."""
    folder = clean_folder((body or SamplesBody()).folder)
    found = find_samples()

    async def take_in() -> list[answers.Json]:
        read = await asyncio.to_thread(
            lambda: [Upload(path.name, path.read_bytes(), folder) for path in found.documents]
        )
        return [answers.document((await pincite.documents.upload(one, caller=caller)).document) for one in read]

    told = {"documents": await admitted.file(caller, take_in), "questions": [asdict(one) for one in found.questions]}
    return JSONResponse(told, 202)


class StartBody(Body):
    """Which held documents to process: those named, or all."""

    document_ids: DocumentIds | None = None
    all: bool = False

    @model_validator(mode="after")
    def _one_or_the_other(self) -> "StartBody":
        if self.all == (self.document_ids is not None):
            raise ValueError("send either document_ids or all: true")
        return self


@router.post("/start", status_code=202)
async def start(body: StartBody, pincite: Engine, caller: Writer) -> JSONResponse:
    """Process documents that were uploaded with `start: false`; a document that is not there stops it all."""
    started = await pincite.documents.start(body.document_ids, caller=caller)
    return JSONResponse({"started": started}, 202)
