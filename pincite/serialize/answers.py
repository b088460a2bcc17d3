"""Answers, their plan, steps and sources as the documented JSON."""

from collections.abc import Sequence
from dataclasses import asdict

from pincite.core.documents.document import NO_HEADINGS
from pincite.core.query.answer import Answer, AnswerGraph, AnswerMetadata, Source
from pincite.core.query.plan import Plan
from pincite.core.query.tools import Step
from pincite.serialize.primitives import Json


def plan_json(value: Plan) -> Json:
    """The plan of a question: its analysis, strategy, searches and reasons."""
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


def step_json(value: Step) -> Json:
    """One step of an answer in agent mode."""
    return asdict(value)


def sources_json(values: Sequence[Source]) -> list[Json]:
    """The passages an answer may cite."""
    return [asdict(value) for value in values]


def answer_json(value: Answer) -> Json:
    """A complete answer."""
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
        "sources": sources_json(value.sources),
        "citations": [asdict(citation) for citation in value.citations],
        "related_documents": [asdict(related) for related in value.related_documents],
        "confidence": asdict(value.confidence),
        "groundedness": asdict(value.groundedness),
        "context_sufficiency": asdict(value.context_sufficiency),
        "graph": graph_json(value.graph),
        "has_relevant_sources": value.has_relevant_sources,
        "suggested_questions": value.suggested_questions,
        "warnings": value.warnings,
        "degraded": [asdict(note) for note in value.degraded],
        "metadata": _answer_metadata_json(value.metadata),
    }


def graph_json(value: AnswerGraph) -> Json:
    """What the knowledge graph added: the facts in the context, also as text, and their entities."""
    lines = [f"{one.subject} — {one.relation} — {one.object} [Source {one.source}]" for one in value.facts]
    return {
        "enriched": value.enriched,
        "context": "\n".join(lines) or None,
        "entities": list(dict.fromkeys(name for one in value.facts for name in (one.subject, one.object))),
        "facts": [asdict(one) for one in value.facts],
    }


def _answer_metadata_json(value: AnswerMetadata) -> Json:
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
        **({"replaced_model": value.replaced_model} if value.replaced_model else {}),
    } | ({"steps": [step_json(one) for one in value.steps]} if value.steps else {})


def footnotes(answer: Json) -> str:
    """The cited sources as lines to append to the answer; empty when nothing is cited."""
    marks = {one["source"]: one["text"] for one in reversed(answer["citations"]) if one["source"]}
    sources = answer["sources"]
    lines = [f"- {marks[one['number']]} {_citation_place(one, sources)}" for one in sources if one["number"] in marks]
    return "\n\nSources:\n" + "\n".join(lines) if lines else ""


def _citation_place(source: Json, sources: Sequence[Json]) -> str:
    path = [part for part in source["heading_path"] if part not in (source["title"], NO_HEADINGS)]
    named = " > ".join([source["title"], *path])
    lines = f"lines {source['start_line']}–{source['end_line']}"
    page = f"page {source['page']}, " if source["page"] else ""
    address = f", {source['urls'][0]}" if source["urls"] else ""
    same_name = {one["document_id"] for one in sources if one["document_name"] == source["document_name"]}
    folder = f"{source['folder']}/" if len(same_name) > 1 and source["folder"] else ""
    return f"{named} ({folder}{source['document_name']}, {source['place'] or page + lines}{address})"
