"""Uploads: accept files, and start held documents."""

import asyncio
from dataclasses import asdict, replace
from typing import Any

import pydantic
from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from pydantic import Field, ValidationError, model_validator
from starlette.datastructures import FormData, UploadFile
from starlette.responses import JSONResponse

from pincite.api.admission.admission import Admission
from pincite.api.dependencies import AdmissionControl, Engine, Writer
from pincite.api.paths import API
from pincite.api.requests import AccessBody
from pincite.config.settings import Settings
from pincite.core.accounts.access import Caller
from pincite.core.documents.document import Upload
from pincite.engine.app import AsyncPincite
from pincite.engine.connectors.samples import DEMO, find_samples
from pincite.errors import Invalid
from pincite.ingest.accept.accept import clean_folder, max_upload_bytes
from pincite.serialize.documents import document_json
from pincite.serialize.fields import Body, DocumentIds, Tag, Text
from pincite.serialize.primitives import Json

router = APIRouter(prefix=f"{API}/documents", tags=["documents"])


class UploadFields(Body):
    """Metadata of a file; `tags` may repeat and may contain commas; `access` is a JSON object."""

    folder: Text = ""
    source_uri: Text | None = None
    title: Text | None = None
    author: Text | None = None
    description: Text | None = None
    tags: list[Tag] = Field(default=[], max_length=100)
    start: bool | None = None
    access: pydantic.Json[AccessBody] | None = None


def _openapi_form(description: type[Body]) -> dict[str, Any]:
    """The OpenAPI description of the upload form."""
    schema = description.model_json_schema(ref_template="#/components/schemas/{model}")
    schema.pop("$defs", None)  # other routes describe them
    schema["properties"] = {"file": {"type": "string", "format": "binary"}, **schema["properties"]}
    schema["required"] = ["file"]
    return {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}}


FORM = _openapi_form(UploadFields)


@router.post("/upload", status_code=202, openapi_extra=FORM)
async def upload(request: Request, pincite: Engine, caller: Writer, admission: AdmissionControl) -> JSONResponse:
    """Accept a file: 202 and it is processed in the background, or 200 if it is unchanged."""
    return await receive(request, pincite, caller, admission, start=True)


async def receive(
    request: Request, pincite: AsyncPincite, caller: Caller, admission: Admission, *, start: bool
) -> JSONResponse:
    """Accept the file of a form; the form's `start` takes precedence over `start`."""
    async with request.form(max_files=1, max_fields=120, max_part_size=64 * 1024) as form:
        return await admission.file(caller, lambda: _accept_upload(form, pincite, caller, start))


async def _accept_upload(form: FormData, pincite: AsyncPincite, caller: Caller, start: bool) -> JSONResponse:
    fields = _fields(form)
    file = await _file(form, fields, pincite.settings)
    if fields.access is not None:
        readers = await pincite.documents.readers(fields.access.to_share_request(), caller=caller)
        file = replace(file, readers=readers)
    added = await pincite.documents.upload(file, start=start if fields.start is None else fields.start, caller=caller)
    duplicates = await pincite.documents.duplicates(added.document, caller=caller)
    body: Json = {"document": document_json(added.document)}
    if duplicates:
        body["same_content"] = [{"id": one.id, "name": one.name, "folder": one.folder} for one in duplicates]
    if added.outcome == "unchanged":
        return JSONResponse(body | {"duplicate": True}, 200)
    return JSONResponse(body, 202)


def _fields(form: FormData) -> UploadFields:
    fields: dict[str, Any] = {}
    for name in form:
        values = [value for value in form.getlist(name) if isinstance(value, str)]
        if name == "tags":
            fields[name] = [tag.strip() for value in values for tag in value.split(",") if tag.strip()]
        elif name != "file":
            fields[name] = values[0] if len(values) == 1 else values
    try:
        return UploadFields.model_validate(fields)
    except ValidationError as error:
        raise RequestValidationError([{**one, "loc": ("body", *one["loc"])} for one in error.errors()]) from error


async def _file(form: FormData, fields: UploadFields, settings: Settings) -> Upload:
    """The uploaded file with its metadata; reads at most one byte more than the size limit."""
    file = form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        raise Invalid("send the file as multipart/form-data, in a part named 'file' with a file name")
    return Upload(
        name=file.filename,
        data=await file.read(max_upload_bytes(settings) + 1),
        folder=fields.folder,
        source_uri=fields.source_uri or None,
        title=fields.title,
        author=fields.author,
        description=fields.description,
        tags=tuple(dict.fromkeys(fields.tags)),
    )


class SamplesBody(Body):
    """The folder for the sample documents."""

    folder: Text = DEMO


@router.post("/samples", status_code=202)
async def samples(
    pincite: Engine, caller: Writer, admission: AdmissionControl, body: SamplesBody | None = None
) -> JSONResponse:
    """Upload the sample documents of this package; existing ones stay unchanged."""
    folder = clean_folder((body or SamplesBody()).folder)
    found = find_samples()

    async def upload_samples() -> list[Json]:
        read = await asyncio.to_thread(
            lambda: [Upload(path.name, path.read_bytes(), folder) for path in found.documents]
        )
        return [document_json((await pincite.documents.upload(one, caller=caller)).document) for one in read]

    uploaded = {
        "documents": await admission.file(caller, upload_samples),
        "questions": [asdict(one) for one in found.questions],
    }
    return JSONResponse(uploaded, 202)


class StartBody(Body):
    """The held documents to process: the given ids, or all."""

    document_ids: DocumentIds | None = None
    all: bool = False

    @model_validator(mode="after")
    def _ids_or_all(self) -> "StartBody":
        if self.all == (self.document_ids is not None):
            raise ValueError("send either document_ids or all: true")
        return self


@router.post("/start", status_code=202)
async def start(body: StartBody, pincite: Engine, caller: Writer) -> JSONResponse:
    """Process documents that were uploaded with `start: false`; an unknown id starts none."""
    started = await pincite.documents.start(body.document_ids, caller=caller)
    return JSONResponse({"started": started}, 202)
