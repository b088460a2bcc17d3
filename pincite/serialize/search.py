"""Search results as JSON: hits, their scores and how each score was computed."""

from dataclasses import asdict

from pincite.core.graph import EntityCard, GraphNode, GraphPlace, PathStep, StatedFact
from pincite.core.query.answer import SearchResult
from pincite.core.query.hits import Adjustment, Hit, RetrievedChunk, ScoreContribution
from pincite.serialize.answers import plan_json
from pincite.serialize.primitives import Json, iso_time


def search_json(value: SearchResult, *, explain: bool = False) -> Json:
    """A search result: hits, best first, with the plan and the stages that were left out."""
    return {
        "results": [
            hit_json(one) | ({"explain": explanation_json(one, value)} if explain else {}) for one in value.hits
        ],
        "strategy": value.strategy,
        "corrected_query": value.plan.question.corrected if value.plan else None,
        "plan": plan_json(value.plan) if value.plan else None,
        "degraded": [asdict(note) for note in value.degraded],
        "trace_id": value.trace_id,
    }


def hit_json(value: Hit) -> Json:
    """A hit: the passage and its scores."""
    return {
        "id": value.chunk.id,
        "text": value.chunk.text,
        "score": value.score,
        "similarity_score": value.similarity,
        "hybrid_score": value.hybrid_score,
        "relevance": value.relevance,
        "metadata": _chunk_metadata_json(value.chunk),
    } | ({"also_in": [_duplicate_json(chunk) for chunk in value.also_in]} if value.also_in else {})


def _duplicate_json(found: RetrievedChunk) -> Json:
    """A duplicate of a hit: where the same text occurs in another document."""
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


def _chunk_metadata_json(found: RetrievedChunk) -> Json:
    fields = {
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
        "checksum": found.checksum,
        "mime": found.mime,
        "created_at": iso_time(found.created_at),
        "chunk_variant": "original" if found.vectorized_text is None else "augmented",
    }
    return fields if found.vectorized_text is None else fields | {"vectorized_text": found.vectorized_text}


def explanation_json(value: Hit, result: SearchResult) -> Json:
    """How a hit's score was computed: the shares of all placings add up to the fused score.

    With score fusion, a share is weight × (raw − low) / span; the placing holds all four numbers. With RRF, a share is
    weight / (rrf_k + rank). The weight is alpha for the dense engine and 1 − alpha for the lexical one. It is 1 when
    only one engine searched; alpha is then null. When several texts were searched, each text has a placing with the
    engine `query`, whose raw is the sum of that text's shares of both engines. The score is then the sum of these
    placings' shares, each weight / (multi_query_rrf_k + rank).
    """
    fusion = result.fusion
    lexical_only = any(note.stage == "query_embedding" for note in result.degraded)
    both = result.strategy not in ("dense_only", "lexical_only") and not lexical_only
    constant = {"rrf_k": fusion.rrf_k} if fusion.fusion == "rrf" else {"alpha": fusion.alpha if both else None}
    return {
        "placings": [_placing_json(one) for one in value.placings],
        "fusion": fusion.fusion,
        **constant,
        **(
            {"multi_query_rrf_k": fusion.multi_query_rrf_k} if any(one.via == "query" for one in value.placings) else {}
        ),
        "fused_score": value.hybrid_score,
        "reranker": None if value.rerank_score is None else fusion.reranker,
        "rerank_score": value.rerank_score,
        "adjustments": [_adjustment_json(one) for one in value.adjustments],
        "score": value.score,
    }


def _adjustment_json(value: Adjustment) -> Json:
    """A change of a score after fusion.

    A penalty subtracts `amount` × |score|. Diversification scales the score to its share and subtracts
    (1 − weight) × `amount`.
    """
    fields = {"stage": value.stage, "amount": value.amount, "before": value.before, "score": value.score}
    return fields if value.scale is None else fields | asdict(value.scale)


def _placing_json(value: ScoreContribution) -> Json:
    fields = {"engine": value.via, "query": value.query, "rank": value.rank, "raw": value.raw, "share": value.share}
    return fields | ({"weight": value.weight} if value.scale is None else asdict(value.scale))


# --- the knowledge graph ------------------------------------------------------------------------------------


def node_json(value: GraphNode) -> Json:
    """An entity."""
    return {"id": value.id, "name": value.name, "type": value.kind, "mentions": value.mentions}


def place_json(value: GraphPlace) -> Json:
    """Where something stands, with the words there."""
    return asdict(value)


def fact_json(value: StatedFact) -> Json:
    """A fact with the place of its sentence."""
    return asdict(value) | {"place": place_json(value.place)}


def entity_json(value: EntityCard) -> Json:
    """An entity with its facts, mentions and neighbours."""
    return node_json(value.node) | {
        "facts": [fact_json(one) for one in value.facts],
        "places": [place_json(one) for one in value.places],
        "neighbours": [
            {"entity": node_json(one.node), "hops": one.hops, "count": one.count, "via": one.via}
            for one in value.neighbours
        ],
    }


def path_json(steps: list[PathStep]) -> Json:
    """The steps between two entities."""
    return {
        "steps": [
            {
                "from": node_json(one.start),
                "to": node_json(one.end),
                "relation": one.relation or None,
                "place": place_json(one.place) if one.place else None,
            }
            for one in steps
        ]
    }
