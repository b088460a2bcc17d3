"""Pages taken in by their address."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import JSONResponse

from pincite.api.dependencies import Engine
from pincite.api.middleware.authenticate import Writer
from pincite.api.paths import API
from pincite.core.documents.document import Upload
from pincite.engine.connectors.web_import import WebImporter
from pincite.serialize.documents import document_json
from pincite.serialize.fields import Body, Tag, Text

router = APIRouter(prefix=f"{API}/documents", tags=["documents"])


class PageBody(Body):
    """A page's address, and what may be said about it."""

    url: Annotated[Text, Field(min_length=1)]
    folder: Text = ""
    title: Text | None = None
    author: Text | None = None
    description: Text | None = None
    tags: list[Tag] = Field(default=[], max_length=100)
    start: bool = True


@router.post("/url", status_code=202)
async def add(body: PageBody, pincite: Engine, caller: Writer) -> JSONResponse:
    """Fetch a page and take it in: 202 and it is processed in the background, or 200 where it has not changed."""
    page = Upload(
        name="", data=b"", folder=body.folder, source_uri=body.url, title=body.title, author=body.author,
        description=body.description, tags=tuple(dict.fromkeys(body.tags)),
    )  # fmt: skip
    added = await WebImporter(pincite, caller).add(page, start=body.start)
    told = {"document": document_json(added.document)}
    if added.outcome == "unchanged":
        return JSONResponse(told | {"duplicate": True}, 200)
    return JSONResponse(told, 202)
