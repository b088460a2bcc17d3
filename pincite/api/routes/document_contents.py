"""The contents of a document: its chunks, its text, its original file."""

from collections.abc import Sequence
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query
from starlette.responses import JSONResponse, Response

from pincite.api.dependencies import Engine, Reader, ReaderAsOwner
from pincite.api.paths import API
from pincite.core.accounts.access import Caller
from pincite.core.documents.document import About, Chunk, ReadRequest, Version
from pincite.engine.app import AsyncPincite
from pincite.errors import Invalid, NotFound
from pincite.ingest.embed.embed import embedded_text
from pincite.serialize.documents import chunk_json, passage_json
from pincite.serialize.fields import ReadBody
from pincite.serialize.primitives import page_json

router = APIRouter(prefix=f"{API}/documents", tags=["documents"])

VersionId = Annotated[str | None, Query(max_length=100)]
SANDBOX = "sandbox; default-src 'none'; frame-ancestors 'none'"
"""Policy of downloaded files: a browser that displays one runs no scripts and treats it as a foreign origin."""


@router.get("/{document_id}/chunks")
async def chunks(
    document_id: str,
    pincite: Engine,
    caller: ReaderAsOwner,
    level: Annotated[int | None, Query(ge=0, le=2)] = None,
    version: VersionId = None,
    embedded: bool = False,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
    cursor: Annotated[str | None, Query(max_length=20)] = None,
) -> JSONResponse:
    """List the chunks of the served version, or of another stored version, in order.

    With `embedded`, chunks of the served version include the embedded text if it is stored or its digest proves it.
    """
    served, found = await pincite.documents.chunks(
        document_id, level, version_id=version, after=_ordinal(cursor), limit=limit + 1, caller=caller
    )
    if version is not None and (served is None or version != served.id):
        newest = (await pincite.get(document_id, caller=caller)).version
        raise NotFound(f"there are no chunks of version '{version}'; the newest version is '{newest}'")
    following = str(found[limit - 1].ordinal) if len(found) > limit else None
    items = [chunk_json(served, chunk) for chunk in found[:limit]] if served else []
    if embedded and version is None and served:
        texts = await _embedded_texts(pincite, caller, served, found[:limit])
        texts |= {one.ordinal: one.vectorized_text for one in found if one.vectorized_text is not None}
        items = [one | ({"embedded_text": texts[one["ordinal"]]} if one["ordinal"] in texts else {}) for one in items]
    return JSONResponse(
        {"document_id": document_id, "version": served.id if served else None, **page_json(items, following)}
    )


async def _embedded_texts(
    pincite: AsyncPincite, caller: Caller, served: Version, found: Sequence[Chunk]
) -> dict[int, str]:
    """The embedded text of each chunk by ordinal, where its digest proves it."""
    model, digests = await pincite.documents.embedding_inputs(served.document_id, caller=caller)
    document = await pincite.get(served.document_id, caller=caller)
    text = await pincite.documents.text(served.document_id, caller=caller)
    titles = tuple(dict.fromkeys((text.about.get("title"), text.title, None)))
    about = About(document.id, served.id, document.name, document.source_uri)
    texts = {
        one.ordinal: embedded_text(one, titles, about, model, digests[one.ordinal])
        for one in found
        if one.ordinal in digests
    }
    return {ordinal: words for ordinal, words in texts.items() if words is not None}


def _ordinal(cursor: str | None) -> int:
    if cursor is None:
        return -1
    if not (cursor.isascii() and cursor.isdecimal()):
        raise Invalid("cursor: this is not a cursor of this list; start again without it")
    return min(int(cursor), 2**31 - 1)


@router.get("/{document_id}/file")
async def file(document_id: str, pincite: Engine, caller: ReaderAsOwner, version: VersionId = None) -> Response:
    """Download the original file, always as an attachment."""
    document = await pincite.get(document_id, caller=caller)
    found, data = await pincite.documents.original(document_id, version, caller=caller)
    headers = {
        "Content-Disposition": attachment(document.name),
        "Content-Security-Policy": SANDBOX,
        "ETag": f'"{found.checksum}"',
    }
    return Response(data, media_type=found.mime, headers=headers)


def attachment(name: str) -> str:
    """The Content-Disposition header of a download: an ASCII name for old clients, RFC 5987 for others."""
    plain = "".join(char if char.isascii() and char.isprintable() and char not in '"\\%' else "_" for char in name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


@router.post("/read")
async def read(body: ReadBody, pincite: Engine, caller: Reader) -> JSONResponse:
    """Read a document's text: the given lines, else the given section, else all of it."""
    read_request = ReadRequest(body.doc_id, body.source_uri, body.section, body.start_line, body.end_line, body.version)
    return JSONResponse(passage_json(await pincite.documents.read(read_request, caller=caller)))
