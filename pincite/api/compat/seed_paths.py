"""The paths of the seed designs that pincite is based on, with their own response formats.

Each path is an alias of a native route, with the same permissions and limits. It uses the current settings unless the
request names a `profile`. Options may be in camel case.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from pydantic import model_validator
from starlette.responses import JSONResponse, Response

from pincite.api.dependencies import AdmissionControl, Engine, Reader, Writer
from pincite.api.paths import API
from pincite.api.requests import ManyBody, QueryBody
from pincite.api.routes import chat, document_contents, search, uploads
from pincite.api.routes import query as questions
from pincite.api.routes.query import AnswerFormat
from pincite.api.streaming.answer_streams import StreamEvent
from pincite.api.streaming.sse import EventFormat, sse_frame
from pincite.core.query.answer import Answer
from pincite.core.query.hits import Hit
from pincite.core.run import Event, PassagesFound
from pincite.models.calibration import on_common_scale
from pincite.serialize.fields import Body, ReadBody
from pincite.serialize.primitives import Json

router = APIRouter(tags=["aliases"])
VECTORSTORE = f"{API}/vectorstore"

_CAMEL_HUMP = re.compile(r"(?<=[a-z0-9])[A-Z]")


def to_snake_case(fields: dict[str, Any]) -> dict[str, Any]:
    """The same object with its keys, and those of nested objects, in snake case."""
    converted: dict[str, Any] = {}
    for name, value in fields.items():
        key = _CAMEL_HUMP.sub(lambda hump: f"_{hump[0].lower()}", name)
        if key in converted:
            raise ValueError(f"'{key}' is sent twice, in two spellings; send it once")
        converted[key] = to_snake_case(value) if isinstance(value, dict) else value
    return converted


class CamelCase(Body):
    """A body whose keys may be in camel case."""

    @model_validator(mode="before")
    @classmethod
    def _convert_keys(cls, data: Any) -> Any:
        return to_snake_case(data) if isinstance(data, dict) else data


# --- the five-stage design: /api/query ----------------------------------------------------------------------


class QuestionBody(QueryBody, CamelCase):
    """A question and the options of its answer."""


@router.post("/api/query")
async def query(body: QuestionBody, request: Request, pincite: Engine, caller: Reader) -> Response:
    """`POST /query` with the response `answer, sources, relatedDocs, citations, confidence, metadata`."""
    question = body.question()
    convert = partial(five_stage_answer, scale=partial(on_common_scale, pincite.admin.embedder))
    answer_format = AnswerFormat(convert, _event_format(convert, numbered=body.resumable))
    return await questions.respond(
        request, body, caller, lambda listen: pincite.ask(question, caller=caller, listen=listen), answer_format
    )


def five_stage_answer(answer: Json, scale: Callable[[float], float] = float) -> Json:
    """An answer in the five-stage format: sources are distinct URLs, citations are distinct titles.

    `scale` maps a cosine to the scale of the threshold and of the average in the reason.
    """
    sources = {source["number"]: source for source in answer["sources"]}
    metadata, confidence = answer["metadata"], answer["confidence"]
    reason = confidence["reason"]
    return {
        "answer": answer["answer"],
        "sources": _unique_urls(source for source in answer["sources"] if source["cited"]),
        "relatedDocs": [
            {"docId": one["document_id"], "title": one["title"], "category": one["category"]}
            for one in answer["related_documents"]
        ],
        "citations": _unique_titles(
            _citation_json(one, sources.get(one["source"]), scale) for one in answer["citations"]
        ),
        "confidence": confidence
        | {"level": confidence["level"].capitalize(), "reason": reason[:1].upper() + reason[1:]},
        "metadata": {
            "chunksRetrieved": metadata["chunks_retrieved"],
            "model": metadata["model"],
            "finishReason": metadata["finish_reason"],
            "usage": metadata["usage"],
            "traceId": metadata["trace_id"],
            "warnings": answer["warnings"],
            "degraded": answer["degraded"],
        },
    }


def _citation_json(citation: Json, source: Json | None, scale: Callable[[float], float]) -> Json:
    """A citation with the metadata of its document; empty when no document matches."""
    return {
        "title": citation["title"] or citation["text"].strip("[]"),
        "section": citation["section"],
        "matched": citation["matched"],
        "matchedBy": citation["matched_by"],
        "docId": source["document_id"] if source else None,
        "score": scale(source["similarity_score"]) if source else None,
        "sourceUrls": list(source["urls"]) if source else [],
        "text": citation["text"],
        "quote": citation["quote"],
    }


def _unique_titles(citations: Iterable[Json]) -> list[Json]:
    """The first citation of each title."""
    found: dict[str, Json] = {}
    for one in citations:
        found.setdefault(one["title"].casefold(), one)
    return list(found.values())


def _unique_urls(sources: Iterable[Json]) -> list[Json]:
    """The first source of each URL; a document without URLs appears once, with none."""
    found: dict[str, Json] = {}
    for source in sources:
        for url in source["urls"] or [None]:
            entry = {"title": source["title"], "url": url, "docId": source["document_id"]}
            found.setdefault(url or source["document_id"], entry)
    return list(found.values())


# --- the chat designs: /api/chat ------------------------------------------------------------------------


class MessageBody(chat.ChatBody, CamelCase):
    """A message or a conversation, and the options of its answer."""


@router.post("/api/chat")
async def talk(body: MessageBody, request: Request, pincite: Engine, caller: Reader) -> Response:
    """`POST /chat` in the format of both chat designs: `message` and `content` hold the same text."""
    found, ask = list[Hit](), chat.make_ask(body, pincite, caller)

    async def remember_hits(listen: Callable[[Event], None]) -> Answer:
        def hear(event: Event) -> None:
            if isinstance(event, PassagesFound):
                found[:] = event.hits
            listen(event)

        return await ask(hear)

    convert = partial(chat_answer, found=found)
    answer_format = AnswerFormat(convert, _event_format(convert, numbered=body.resumable))
    return await questions.respond(request, body, caller, remember_hits, answer_format)


def chat_answer(answer: Json, found: Sequence[Hit] = ()) -> Json:
    """An answer with the keys of both chat designs, plus the native citations and metadata; `found` is the search's."""
    confidence, graph = answer["confidence"], answer["graph"]
    sources = [_chat_source_json(source) for source in answer["sources"]]
    kept = ("id", "session_id", "citations", "intelligence_level", "warnings", "degraded", "metadata")
    return {
        "message": answer["answer"],
        "content": answer["answer"],
        "sources": sources,
        "searchResults": {"results": [_search_result_json(hit) for hit in found], "total": len(found)},
        "hasRelevantSources": answer["has_relevant_sources"],
        "graphEnriched": graph["enriched"],
        "graphContext": graph["context"],
        "confidence_score": confidence["score"],
        "confidence_level": confidence["level"],
        "suggested_questions": answer["suggested_questions"],
        "context_sufficiency": answer["context_sufficiency"],
        **{name: answer[name] for name in kept},
    }


def _chat_source_json(source: Json) -> Json:
    """A source; the design has a number as every score, and the fused score of a passage that no search found is 0."""
    return source | {
        "score": source["score"] or 0.0,
        "page_number": source["page"],
        "relevance_score": source["relevance"],
        "hybridScore": source["hybrid_score"],
    }


def _search_result_json(hit: Hit) -> Json:
    """A result of the search with its whole text."""
    return {
        "id": hit.chunk.id,
        "documentId": hit.chunk.document_id,
        "documentName": hit.chunk.document_name,
        "content": hit.chunk.text,
        "level": hit.chunk.level,
        "score": hit.score,
        "hybridScore": hit.hybrid_score,
    }


def _event_format(convert: questions.AnswerConverter, *, numbered: bool) -> EventFormat:
    """Native events, with the event `answer` converted."""

    def format_event(event: StreamEvent) -> bytes:
        if event.event == "answer":
            event = StreamEvent.of(event.number, event.event, convert(json.loads(event.data)))
        return sse_frame(event, numbered=numbered and event.number > 0)

    return format_event


# --- the vector store ---------------------------------------------------------------------------------------


@router.post(f"{VECTORSTORE}/documents/upload", status_code=202, openapi_extra=uploads.FORM)
async def upload(request: Request, pincite: Engine, caller: Writer, admission: AdmissionControl) -> JSONResponse:
    """`POST /documents/upload`, held until `documents/start` unless the form says `start`."""
    response = await uploads.receive(request, pincite, caller, admission, start=False)
    body = json.loads(bytes(response.body))
    document = body["document"]
    named = {"docId": document["id"], "version": document["version"], "status": document["status"]}
    return JSONResponse(body | named, response.status_code)


class ReleaseBody(uploads.StartBody, CamelCase):
    """The held documents to process: one or several by id, or all."""

    @model_validator(mode="before")
    @classmethod
    def _rename_ids(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        fields = to_snake_case(data)
        if "doc_id" in fields:
            fields["doc_ids"] = [fields.pop("doc_id")]
        if "doc_ids" in fields:
            fields.setdefault("document_ids", fields.pop("doc_ids"))
        return fields


@router.post(f"{VECTORSTORE}/documents/start", status_code=202)
async def start(body: ReleaseBody, pincite: Engine, caller: Writer) -> JSONResponse:
    """`POST /documents/start`."""
    return await uploads.start(body, pincite, caller)


class PartBody(ReadBody, CamelCase):
    """A document, by id or by source URI, and the part of it to read."""


@router.post(f"{VECTORSTORE}/documents/read")
async def read(body: PartBody, pincite: Engine, caller: Reader) -> JSONResponse:
    """`POST /documents/read`; the response also has `doc_id` and the `metadata` of the document."""
    passage = json.loads(bytes((await document_contents.read(body, pincite, caller)).body))
    document = await pincite.get(passage["document_id"], caller=caller)
    metadata = {
        "doc_id": document.id,
        "version": passage["version"],
        "source_uri": document.source_uri or document.name,
        "title": passage["title"],
        "author": document.author,
        "description": document.description,
        "tags": document.tags,
        "folder": document.folder,
    }
    return JSONResponse(passage | {"doc_id": document.id, "metadata": metadata})


class QueriesBody(ManyBody, CamelCase):
    """Several queries whose results are fused."""


@router.post(f"{VECTORSTORE}/query-many")
async def query_many(
    body: QueriesBody, request: Request, pincite: Engine, caller: Reader, admission: AdmissionControl
) -> JSONResponse:
    """`POST /query-many`; each result also has `similarityScore` and `metadata.doc_id`.

    `metadata.source_uri` is the file name of a document that was uploaded without a source; `documents/read` takes it.
    """
    result = json.loads(bytes((await search.query_many(body, request, pincite, caller, admission)).body))
    for hit in result["results"]:
        hit["similarityScore"] = hit["similarity_score"]
        hit["metadata"]["doc_id"] = hit["metadata"]["document_id"]
        hit["metadata"]["source_uri"] = hit["metadata"]["source_uri"] or hit["metadata"]["document_name"]
    return JSONResponse(result)
