"""Import of web pages by URL."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import JSONResponse

from pincite.api.dependencies import Engine, Writer
from pincite.api.paths import API
from pincite.core.documents.document import Upload
from pincite.engine.connectors.web_import import WebImporter
from pincite.serialize.documents import document_json
from pincite.serialize.fields import Body, Tag, Text

router = APIRouter(prefix=f"{API}/documents", tags=["documents"])


class PageBody(Body):
    """The URL of a page, and its metadata."""

    url: Annotated[Text, Field(min_length=1)]
    folder: Text = ""
    title: Text | None = None
    author: Text | None = None
    description: Text | None = None
    tags: list[Tag] = Field(default=[], max_length=100)
    start: bool = True


@router.post("/url", status_code=202)
async def add(body: PageBody, pincite: Engine, caller: Writer) -> JSONResponse:
    """Fetch and add a page: 202 and it is processed in the background, or 200 if it is unchanged."""
    page = Upload(
        name="",
        data=b"",
        folder=body.folder,
        source_uri=body.url,
        title=body.title,
        author=body.author,
        description=body.description,
        tags=tuple(dict.fromkeys(body.tags)),
    )
    added = await WebImporter(pincite, caller).add(page, start=body.start)
    response = {"document": document_json(added.document)}
    if added.outcome == "unchanged":
        return JSONResponse(response | {"duplicate": True}, 200)
    return JSONResponse(response, 202)
