"""Our values as the JSON that the documentation promises."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from pincite.core.accounts.conversations import KeptTurn, Session
from pincite.core.accounts.users import ApiKey
from pincite.core.documents.document import Chunk, Document, Folder, Passage, Receipt, Version
from pincite.core.query.answer import Answer, AnswerMetadata, SearchResult, Source
from pincite.core.query.hits import Adjustment, Hit, RetrievedChunk, ScoreContribution
from pincite.core.query.plan import Plan
from pincite.core.query.tools import Step
from pincite.text.injection import notices

Json = dict[str, Any]


def page(items: Sequence[Json], next_cursor: str | None = None) -> Json:
    """A list and where it goes on."""
    return {"items": list(items), "next_cursor": next_cursor}


def moment(time: datetime | None) -> str | None:
    """ISO 8601 in UTC."""
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z") if time else None


# --- documents ----------------------------------------------------------------------------------------------


def document(value: Document) -> Json:
    """A document; `notes` only where there are some."""
    told = asdict(value) | {"created_at": moment(value.created_at), "updated_at": moment(value.updated_at)}
    return told if value.notes else {name: told[name] for name in told if name != "notes"}


def folder(value: Folder) -> Json:
    """A folder."""
    return asdict(value)


def version(value: Version) -> Json:
    """One version of a document."""
    return asdict(value) | {"created_at": moment(value.created_at)}


def chunk(document_id: str, version_id: str, value: Chunk) -> Json:
    """A passage as it is kept; its id is the one that searches and sources name."""
    told = {
        "id": f"{document_id}.{version_id}.{value.ordinal}",
        "ordinal": value.ordinal,
        "level": value.level,
        "parent": value.parent,
        "text": value.text,
        "start_char": value.start,
        "end_char": value.end,
        "start_line": value.start_line,
        "end_line": value.end_line,
        "page": value.page,
        "place": value.place,
        "heading_path": value.heading_path,
        "content_type": value.content_type,
        "language": value.language,
        "tokens": value.tokens,
        "header": value.header,
        "chunk_variant": "original" if value.vectorized_text is None else "augmented",
    }
    if value.vectorized_text is not None:
        told["vectorized_text"] = value.vectorized_text
    warnings = [f"this passage {what}" for what in notices(value.text)]
    return told | ({"warnings": warnings} if warnings else {})


def passage(value: Passage) -> Json:
    """Part of a document's text."""
    return asdict(value)


def receipt(value: Receipt) -> Json:
    """What a deletion removed."""
    return asdict(value)


# --- searches -----------------------------------------------------------------------------------------------


def search_result(value: SearchResult, *, explain: bool = False) -> Json:
    """Passages, best first, and what was missing when they were looked for."""
    return {
        "results": [hit(one) | ({"explain": explanation(one, value)} if explain else {}) for one in value.hits],
        "strategy": value.strategy,
        "corrected_query": value.plan.question.corrected if value.plan else None,
        "plan": plan(value.plan) if value.plan else None,
        "degraded": [asdict(note) for note in value.degraded],
        "trace_id": value.trace_id,
    }


def hit(value: Hit) -> Json:
    """One passage that was found, with its scores."""
    return {
        "id": value.chunk.id,
        "text": value.chunk.text,
        "score": value.score,
        "similarity_score": value.similarity,
        "hybrid_score": value.hybrid_score,
        "relevance": value.relevance,
        "metadata": _metadata(value.chunk),
    } | ({"also_in": [_twin(chunk) for chunk in value.also_in]} if value.also_in else {})


def _twin(found: RetrievedChunk) -> Json:
    """Where else the same is said."""
    return {
        "id": found.id,
        "document_id": found.document_id,
        "document_name": found.document_name,
        "title": found.title,
        "folder": found.folder,
        "start_line": found.start_line,
        "end_line": found.end_line,
        "page": found.page,
        "place": found.place,
    }


def _metadata(found: RetrievedChunk) -> Json:
    told = {
        "document_id": found.document_id,
        "document_name": found.document_name,
        "title": found.title,
        "version": found.version,
        "source_uri": found.source_uri,
        "heading_path": found.heading_path,
        "start_line": found.start_line,
        "end_line": found.end_line,
        "start_char": found.start_char,
        "end_char": found.end_char,
        "page": found.page,
        "place": found.place,
        "folder": found.folder,
        "level": found.level,
        "content_type": found.content_type,
        "language": found.language,
        "chunk_variant": "original" if found.vectorized_text is None else "augmented",
    }
    return told if found.vectorized_text is None else told | {"vectorized_text": found.vectorized_text}


def explanation(value: Hit, result: SearchResult) -> Json:
    """How a score came about: the shares of all placings add up to the fused score.

    A share is weight × (raw − low) / span, each of which its placing tells, or weight / (rrf_k + rank). The weight of an
    engine is alpha for dense, 1 − alpha for lexical, 1 where only one of them searched (alpha is null). Where several
    texts were searched, each has a placing `query` whose raw is the sum of that text's shares of both engines: then the
    score is the sum of these, each weight / (multi_query_rrf_k + rank).
    """
    fusion = result.fusion
    words_alone = any(note.stage == "query_embedding" for note in result.degraded)
    both = result.strategy not in ("dense_only", "lexical_only") and not words_alone
    constant = {"rrf_k": fusion.rrf_k} if fusion.fusion == "rrf" else {"alpha": fusion.alpha if both else None}
    return {
        "placings": [_placing(one) for one in value.placings],
        "fusion": fusion.fusion,
        **constant,
        **(
            {"multi_query_rrf_k": fusion.multi_query_rrf_k} if any(one.via == "query" for one in value.placings) else {}
        ),
        "fused_score": value.hybrid_score,
        "reranker": None if value.rerank_score is None else fusion.reranker,
        "rerank_score": value.rerank_score,
        "adjustments": [_adjustment(one) for one in value.adjustments],
        "score": value.score,
    }


def _adjustment(value: Adjustment) -> Json:
    """A penalty takes `amount` × the size of the score; spreading leaves its share less (1 − weight) × `amount`."""
    told = {"stage": value.stage, "amount": value.amount, "before": value.before, "score": value.score}
    return told if value.scale is None else told | asdict(value.scale)


def _placing(value: ScoreContribution) -> Json:
    told = {"engine": value.via, "query": value.query, "rank": value.rank, "raw": value.raw, "share": value.share}
    return told | ({"weight": value.weight} if value.scale is None else asdict(value.scale))


# --- answers ------------------------------------------------------------------------------------------------


def plan(value: Plan) -> Json:
    """What was decided to do about a question."""
    return {
        "question": value.text,
        "corrected_query": value.question.corrected,
        "intent": value.intent,
        "intent_confidence": value.analysis.intent_confidence,
        "question_type": value.analysis.type,
        "question_type_confidence": value.analysis.type_confidence,
        "entities": [asdict(entity) for entity in value.analysis.entities],
        "is_multi_hop": value.analysis.is_multi_hop,
        "hints": asdict(value.analysis.hints) | {"levels": value.analysis.levels},
        "strategy": value.strategy,
        "retrieves": value.retrieves,
        "levels": value.levels,
        "searches": [{"text": search.text, "engine": search.via} for search in value.searches],
        "top_k": value.top_k,
        "reasons": value.reasons,
    }


def step(value: Step) -> Json:
    """A step on the way to an answer that was looked up in several."""
    return asdict(value)


def sources(values: Sequence[Source]) -> list[Json]:
    """The passages an answer may cite."""
    return [asdict(value) for value in values]


def answer(value: Answer) -> Json:
    """The whole answer; what is not built yet has its empty value."""
    return {
        "id": value.id,
        "session_id": value.session_id,
        "stream_id": value.stream_id,
        "answer": value.text,
        "mode": value.mode,
        "strategy": value.strategy,
        "intent": value.intent,
        "question_type": value.question_type,
        "intelligence_level": value.intelligence_level,
        "sources": sources(value.sources),
        "citations": [asdict(citation) for citation in value.citations],
        "related_documents": [asdict(related) for related in value.related_documents],
        "confidence": asdict(value.confidence),
        "groundedness": asdict(value.groundedness),
        "context_sufficiency": asdict(value.context_sufficiency),
        "graph": {"enriched": False, "context": None},
        "has_relevant_sources": value.has_relevant_sources,
        "suggested_questions": value.suggested_questions,
        "warnings": value.warnings,
        "degraded": [asdict(note) for note in value.degraded],
        "metadata": _answer_metadata(value.metadata),
    }


def _answer_metadata(value: AnswerMetadata) -> Json:
    return {
        "chunks_retrieved": value.chunks_retrieved,
        "model": value.model,
        "finish_reason": value.finish_reason,
        "usage": asdict(value.usage) if value.usage else None,
        "cached": value.cached,
        "trace_id": value.trace_id,
        "durations_ms": dict(value.durations_ms),
        "rewritten_query": value.rewritten_query,
        "corrected_query": value.corrected_query,
        "plan": value.plan,
    } | ({"steps": [step(one) for one in value.steps]} if value.steps else {})


# --- around it ----------------------------------------------------------------------------------------------


def session(value: Session, *, turns: bool) -> Json:
    """A conversation; lists leave the turns out."""
    told = {
        "id": value.id,
        "title": value.title,
        "created_at": moment(value.created_at),
        "updated_at": moment(value.updated_at),
        "turn_count": value.turn_count,
    }
    return told | {"turns": [turn(one) for one in value.turns]} if turns else told


def turn(value: KeptTurn) -> Json:
    """One exchange; `text` is what was said of the answer, which is whole or null."""
    return {
        "question": value.question,
        "standalone": value.standalone,
        "text": value.words,
        "answer": answer(value.answer) if value.answer else None,
        "complete": value.complete,
        "removed": value.removed,
        "trace_id": value.trace_id,
        "rating": value.rating,
        "created_at": moment(value.created_at),
    }


def key(value: ApiKey) -> Json:
    """What is known about a key."""
    return asdict(value) | {
        "created_at": moment(value.created_at),
        "expires_at": moment(value.expires_at),
        "revoked_at": moment(value.revoked_at),
    }


def footnotes(answer: Json) -> str:
    """The sources that are cited, a line each, after the answer; nothing where none is."""
    marks = {one["source"]: one["text"] for one in reversed(answer["citations"]) if one["source"]}
    lines = [f"- {marks[one['number']]} {_cited_at(one)}" for one in answer["sources"] if one["number"] in marks]
    return "\n\nSources:\n" + "\n".join(lines) if lines else ""


def _cited_at(source: Json) -> str:
    path = [part for part in source["heading_path"] if part != source["title"]]
    named = " > ".join([source["title"], *path])
    lines = f"lines {source['start_line']}–{source['end_line']}"
    page = f"page {source['page']}, " if source["page"] else ""
    address = f", {source['urls'][0]}" if source["urls"] else ""
    return f"{named} ({source['document_name']}, {source['place'] or page + lines}{address})"
