"""The paths of the designs that pincite grew from, under their own names and in their own shapes.

Each is another name of a route of ours: same rights, same limits, same answers. They work by the settings in force,
unless the request names a `profile`; options may be spelt in camel case.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

from fastapi import APIRouter, Request
from pydantic import model_validator
from starlette.responses import JSONResponse, Response

from pincite.api.admission.admission import AdmissionControl
from pincite.api.dependencies import Engine
from pincite.api.middleware.authenticate import Reader, Writer
from pincite.api.paths import API
from pincite.api.requests import ManyBody, QueryBody
from pincite.api.routes import chat, document_contents, search, uploads
from pincite.api.routes import query as questions
from pincite.api.routes.query import AnswerFormat
from pincite.api.streaming.answer_streams import StreamEvent
from pincite.api.streaming.sse import EventFormat, sse_frame
from pincite.serialize.fields import Body, ReadBody
from pincite.serialize.primitives import Json

router = APIRouter(tags=["aliases"])
VECTORSTORE = f"{API}/vectorstore"

_CAMEL_HUMP = re.compile(r"(?<=[a-z0-9])[A-Z]")


def to_snake_case(told: dict[str, Any]) -> dict[str, Any]:
    """The same names, and those in the objects among the values, spelt as ours are."""
    spelt: dict[str, Any] = {}
    for name, value in told.items():
        own = _CAMEL_HUMP.sub(lambda hump: f"_{hump[0].lower()}", name)
        if own in spelt:
            raise ValueError(f"'{own}' is there twice, in two spellings; send one of them")
        spelt[own] = to_snake_case(value) if isinstance(value, dict) else value
    return spelt


class CamelCase(Body):
    """A body whose names may be in camel case."""

    @model_validator(mode="before")
    @classmethod
    def _spelt(cls, data: Any) -> Any:
        return to_snake_case(data) if isinstance(data, dict) else data


# --- five stages --------------------------------------------------------------------------------------------


class QuestionBody(QueryBody, CamelCase):
    """A question and how it should be answered."""


@router.post("/api/query")
async def query(body: QuestionBody, request: Request, pincite: Engine, caller: Reader) -> Response:
    """`POST /query`, told as `answer, sources, relatedDocs, citations, confidence, metadata`."""
    question = body.question()
    telling = AnswerFormat(five_stage_answer, _event_format(five_stage_answer, numbered=body.resumable))
    return await questions.respond(
        request, body, caller, lambda listen: pincite.ask(question, caller=caller, listen=listen), telling
    )


def five_stage_answer(answer: Json) -> Json:
    """An answer whose sources are addresses, and whose citations are titles, each of them once."""
    sources = {source["number"]: source for source in answer["sources"]}
    metadata, confidence = answer["metadata"], answer["confidence"]
    return {
        "answer": answer["answer"],
        "sources": _unique_urls(source for source in answer["sources"] if source["cited"]),
        "relatedDocs": [
            {"docId": one["document_id"], "title": one["title"], "category": one["category"]}
            for one in answer["related_documents"]
        ],
        "citations": _unique_titles(_citation_json(one, sources.get(one["source"])) for one in answer["citations"]),
        "confidence": confidence | {"level": confidence["level"].capitalize()},
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


def _citation_json(citation: Json, source: Json | None) -> Json:
    """A citation with what is known of the document it names; nothing where it names none."""
    path = list(source["heading_path"]) if source else []
    return {
        "title": source["title"] if source else citation["text"].strip("[]"),
        "section": path[-1] if path and path[-1] != (source or {})["title"] else None,
        "matched": citation["matched"],
        "matchedBy": citation["matched_by"],
        "docId": source["document_id"] if source else None,
        "score": source["similarity_score"] if source else None,
        "sourceUrls": list(source["urls"]) if source else [],
        "text": citation["text"],
        "quote": citation["quote"],
    }


def _unique_titles(citations: Iterable[Json]) -> list[Json]:
    """Each title once, where it is cited first."""
    found: dict[str, Json] = {}
    for one in citations:
        found.setdefault(one["title"].casefold(), one)
    return list(found.values())


def _unique_urls(sources: Iterable[Json]) -> list[Json]:
    """Each address once; a document that came from none is there without."""
    found: dict[str, Json] = {}
    for source in sources:
        for url in source["urls"] or [None]:
            told = {"title": source["title"], "url": url, "docId": source["document_id"]}
            found.setdefault(url or source["document_id"], told)
    return list(found.values())


# --- chats --------------------------------------------------------------------------------------------------


class MessageBody(chat.ChatBody, CamelCase):
    """A message or a conversation, and how to answer it."""


@router.post("/api/chat")
async def talk(body: MessageBody, request: Request, pincite: Engine, caller: Reader) -> Response:
    """`POST /chat`, told as both chats do it: `message` and `content` are the same words."""
    telling = AnswerFormat(chat_answer, _event_format(chat_answer, numbered=body.resumable))
    return await questions.respond(request, body, caller, chat.make_ask(body, pincite, caller), telling)


def chat_answer(answer: Json) -> Json:
    """An answer with the names of both chats side by side, and what makes it checkable as ours has it."""
    confidence, graph = answer["confidence"], answer["graph"]
    sources = [_chat_source_json(source) for source in answer["sources"]]
    kept = ("id", "session_id", "citations", "intelligence_level", "warnings", "degraded", "metadata")
    return {
        "message": answer["answer"],
        "content": answer["answer"],
        "sources": sources,
        "searchResults": {
            "results": [_search_result_json(source) for source in sources],
            "total": answer["metadata"]["chunks_retrieved"],
        },
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
    return source | {
        "page_number": source["page"],
        "relevance_score": source["relevance"],
        "hybridScore": source["hybrid_score"],
    }


def _search_result_json(source: Json) -> Json:
    return {
        "id": source["chunk_id"],
        "documentId": source["document_id"],
        "content": source["snippet"],
        "score": source["score"],
        "hybridScore": source["hybrid_score"],
    }


def _event_format(shape: questions.AnswerConverter, *, numbered: bool) -> EventFormat:
    """Events as ours are, with the whole answer in its other shape."""

    def tell(told: StreamEvent) -> bytes:
        if told.event == "answer":
            told = StreamEvent.of(told.number, told.event, shape(json.loads(told.data)))
        return sse_frame(told, numbered=numbered and told.number > 0)

    return tell


# --- the vector store ---------------------------------------------------------------------------------------


@router.post(f"{VECTORSTORE}/documents/upload", status_code=202, openapi_extra=uploads.FORM)
async def upload(request: Request, pincite: Engine, caller: Writer, admitted: AdmissionControl) -> JSONResponse:
    """`POST /documents/upload` that waits for `documents/start`, unless it is told to start."""
    response = await uploads.receive(request, pincite, caller, admitted, start=False)
    told = json.loads(bytes(response.body))
    document = told["document"]
    named = {"docId": document["id"], "version": document["version"], "status": document["status"]}
    return JSONResponse(told | named, response.status_code)


class ReleaseBody(uploads.StartBody, CamelCase):
    """Which held documents to process: those named, one or several, or all."""

    @model_validator(mode="before")
    @classmethod
    def _named_otherwise(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        told = to_snake_case(data)
        if "doc_id" in told:
            told["doc_ids"] = [told.pop("doc_id")]
        if "doc_ids" in told:
            told.setdefault("document_ids", told.pop("doc_ids"))
        return told


@router.post(f"{VECTORSTORE}/documents/start", status_code=202)
async def start(body: ReleaseBody, pincite: Engine, caller: Writer) -> JSONResponse:
    """`POST /documents/start`."""
    return await uploads.start(body, pincite, caller)


class PartBody(ReadBody, CamelCase):
    """Which document, by id or by where it came from, and which part of it."""


@router.post(f"{VECTORSTORE}/documents/read")
async def read(body: PartBody, pincite: Engine, caller: Reader) -> JSONResponse:
    """`POST /documents/read`."""
    told = json.loads(bytes((await document_contents.read(body, pincite, caller)).body))
    return JSONResponse(told | {"doc_id": told["document_id"]})


class QueriesBody(ManyBody, CamelCase):
    """Several queries, searched at once and fused."""


@router.post(f"{VECTORSTORE}/query-many")
async def query_many(
    body: QueriesBody, request: Request, pincite: Engine, caller: Reader, admitted: AdmissionControl
) -> JSONResponse:
    """`POST /query-many`; each result has `similarityScore` and `metadata.doc_id` as well."""
    told = json.loads(bytes((await search.query_many(body, request, pincite, caller, admitted)).body))
    for result in told["results"]:
        result["similarityScore"] = result["similarity_score"]
        result["metadata"]["doc_id"] = result["metadata"]["document_id"]
    return JSONResponse(told)
