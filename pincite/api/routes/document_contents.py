"""What is in a document: its passages, its text, its file."""

from collections.abc import Sequence
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query
from starlette.responses import JSONResponse, Response

from pincite.api.dependencies import Engine
from pincite.api.middleware.authenticate import Reader, ReaderAsOwner
from pincite.api.paths import API
from pincite.core.accounts.access import Caller
from pincite.core.documents.document import Chunk, ReadRequest
from pincite.engine.app import AsyncPincite
from pincite.errors import Invalid, NotFound
from pincite.ingest.embed.embed import embedded_text
from pincite.serialize.documents import chunk_json, passage_json
from pincite.serialize.fields import ReadBody
from pincite.serialize.primitives import page_json

router = APIRouter(prefix=f"{API}/documents", tags=["documents"])

VersionId = Annotated[str | None, Query(max_length=100)]
SANDBOX = "sandbox; default-src 'none'; frame-ancestors 'none'"
"""Should a browser show a file after all, nothing in it runs, and it is no page of ours."""


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
    """The passages of the served version, or of another that is still kept, in order.

    With `embedded`, those of the served version say what was embedded for them, where that can be proved.
    """
    served, found = await pincite.documents.chunks(
        document_id, level, version_id=version, after=_ordinal(cursor), limit=limit + 1, caller=caller
    )
    if version is not None and version != served:
        newest = (await pincite.get(document_id, caller=caller)).version
        raise NotFound(f"there are no passages of a version '{version}'; the newest version is '{newest}'")
    following = str(found[limit - 1].ordinal) if len(found) > limit else None
    shown = [chunk_json(document_id, served, chunk) for chunk in found[:limit]]
    if embedded and version is None:
        texts = await _embedded_texts(pincite, caller, document_id, found[:limit])
        shown = [one | ({"embedded_text": texts[one["ordinal"]]} if one["ordinal"] in texts else {}) for one in shown]
    return JSONResponse({"document_id": document_id, "version": served or None, **page_json(shown, following)})


async def _embedded_texts(
    pincite: AsyncPincite, caller: Caller, document_id: str, found: Sequence[Chunk]
) -> dict[int, str]:
    """What was embedded for each passage, by ordinal, as far as its digest proves it."""
    model, digests = await pincite.documents.embedding_inputs(document_id, caller=caller)
    text = await pincite.documents.text(document_id, caller=caller)
    titles = tuple(dict.fromkeys((text.about.get("title"), text.title, None)))
    told = {
        one.ordinal: embedded_text(one, titles, model, digests[one.ordinal]) for one in found if one.ordinal in digests
    }
    return {ordinal: words for ordinal, words in told.items() if words is not None}


def _ordinal(cursor: str | None) -> int:
    if cursor is None:
        return -1
    if not (cursor.isascii() and cursor.isdecimal()):
        raise Invalid("cursor: this is not one that a list gave out; start again without it")
    return min(int(cursor), 2**31 - 1)


@router.get("/{document_id}/file")
async def file(document_id: str, pincite: Engine, caller: ReaderAsOwner, version: VersionId = None) -> Response:
    """The file as it was uploaded, always to be saved and never to be shown."""
    document = await pincite.get(document_id, caller=caller)
    found, data = await pincite.documents.original(document_id, version, caller=caller)
    headers = {
        "Content-Disposition": attachment(document.name),
        "Content-Security-Policy": SANDBOX,
        "ETag": f'"{found.checksum}"',
    }
    return Response(data, media_type=found.mime, headers=headers)


def attachment(name: str) -> str:
    """A header that has the file saved under its name: plain for old clients, RFC 5987 for the rest."""
    plain = "".join(char if char.isascii() and char.isprintable() and char not in '"\\%' else "_" for char in name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


@router.post("/read")
async def read(body: ReadBody, pincite: Engine, caller: Reader) -> JSONResponse:
    """Part of a document's text: lines before a section before the whole."""
    reading = ReadRequest(body.doc_id, body.source_uri, body.section, body.start_line, body.end_line, body.version)
    return JSONResponse(passage_json(await pincite.documents.read(reading, caller=caller)))
