"""Serializers: the JSON has exactly the documented fields."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

from pincite.core.documents.document import Access, Document, Failure, Receipt, Status
from pincite.core.query.answer import (
    Answer,
    AnswerMetadata,
    Citation,
    Confidence,
    Degraded,
    Groundedness,
    GroundedSentence,
    Related,
    SearchResult,
    Sufficiency,
)
from pincite.core.query.hits import ScoreContribution
from pincite.core.query.prompt import Usage
from pincite.query.citations.sources import sources_of
from pincite.serialize.answers import answer_json
from pincite.serialize.documents import chunk_json, document_json, receipt_json
from pincite.serialize.primitives import iso_time
from pincite.serialize.search import explanation_json, hit_json, search_json
from tests.builders import chunk, found, fusion, hit

NOON = datetime(2024, 5, 1, 12, tzinfo=timezone(timedelta(hours=2)))


def fields(text: str) -> set[str]:
    return set(text.replace(",", " ").split())


def test_times_are_in_utc() -> None:
    assert iso_time(NOON) == "2024-05-01T10:00:00Z"
    assert iso_time(datetime(2024, 5, 1, 10, 0, 0, 123, tzinfo=UTC)) == "2024-05-01T10:00:00.000123Z"
    assert iso_time(None) is None


def test_a_document() -> None:
    shape = document_json(
        Document(
            id="d",
            name="a.md",
            title="A",
            author=None,
            description=None,
            status=Status.ERROR,
            progress=0.5,
            stage="parse",
            error=Failure("unreadable", "no"),
            version="v",
            versions=1,
            mime="text/markdown",
            bytes=3,
            checksum="c",
            folder="hr",
            tags=("x",),
            source_uri=None,
            source_urls=(),
            chunks=2,
            stale=False,
            access=Access("local"),
            created_at=NOON,
            updated_at=NOON,
        )
    )
    assert set(shape) == fields(
        "id, name, title, author, description, status, progress, stage, error,"
        " version, versions, mime, bytes, checksum,"
        " folder, tags, source_uri, source_urls, chunks, stale, access, created_at, updated_at"
    )
    assert shape["status"] == "error"
    assert shape["error"] == {"code": "unreadable", "message": "no"}
    assert shape["access"] == {"owner": "local", "users": (), "groups": (), "everyone": False}
    assert shape["created_at"] == "2024-05-01T10:00:00Z"


def test_a_receipt() -> None:
    assert set(receipt_json(Receipt("d", 1, 2, 3, 4, 0, 0, 0, True, True))) == fields(
        "document_id, versions, chunks, vectors, postings, facts, cache_entries, quotes, file, verified"
    )


def test_a_chunk_is_named_as_searches_name_it() -> None:
    shape = chunk_json("doc1", "v1", chunk(1))
    assert shape["id"] == found("x").id
    assert (shape["level"], shape["chunk_variant"]) == (2, "original")
    enriched = chunk_json("doc1", "v1", replace(chunk(1), vectorized_text="About cats: Cats purr."))
    assert (enriched["chunk_variant"], enriched["vectorized_text"]) == ("augmented", "About cats: Cats purr.")


def result(**more: object) -> SearchResult:
    placings = (ScoreContribution("dense", 0, 1, 0.9, 0.5), ScoreContribution("lexical", 0, 2, 7.5, 0.2))
    one = hit("Cats purr.", score=0.7)
    values = {
        "hits": (type(one)(one.chunk, 0.7, 0.9, 0.8, 0.7, placings),),
        "strategy": "hybrid",
        "degraded": (),
        "trace_id": "t",
        "fusion": fusion(),
    }
    return SearchResult(**{**values, **more})  # type: ignore[arg-type]


def test_a_search_result() -> None:
    shape = search_json(result(degraded=(Degraded("s", "r"),)))
    assert set(shape) == {"results", "strategy", "corrected_query", "plan", "degraded", "trace_id"}
    assert shape["degraded"] == [{"stage": "s", "reason": "r"}]
    [one] = shape["results"]
    assert set(one) == fields("id, text, score, similarity_score, hybrid_score, relevance, metadata")
    assert set(one["metadata"]) == fields(
        "document_id, document_name, title, version, source_uri, heading_path,"
        " start_line, end_line, start_char, end_char,"
        " page, place, folder, level, content_type, language, chunk_variant"
    )
    assert one["metadata"]["chunk_variant"] == "original"


def test_the_embedded_text_is_included_if_it_differs() -> None:
    metadata = hit_json(hit("Cats purr.", vectorized_text="About cats: Cats purr."))["metadata"]
    assert metadata["vectorized_text"] == "About cats: Cats purr."
    assert metadata["chunk_variant"] == "augmented"


def test_a_score_can_be_added_up_from_its_explanation() -> None:
    [one] = search_json(result(fusion=fusion(alpha=0.4)), explain=True)["results"]
    explained = one["explain"]
    assert sum(placing["share"] for placing in explained["placings"]) == explained["score"] == one["score"]
    assert explained["placings"][1] == {
        "engine": "lexical",
        "query": 0,
        "rank": 2,
        "raw": 7.5,
        "share": 0.2,
        "weight": 1.0,
    }
    assert (explained["fusion"], explained["alpha"], explained["reranker"]) == ("relative_score", 0.4, None)


def test_alpha_is_included_only_if_it_was_used() -> None:
    def alpha(**more: object) -> object:
        return explanation_json(hit("x"), result(**more))["alpha"]

    assert alpha() == 0.5
    assert alpha(strategy="dense_only") is None
    assert alpha(degraded=(Degraded("query_embedding", "down"),)) is None


def test_reciprocal_ranks_include_their_constant() -> None:
    rrf = fusion(fusion="rrf", rrf_k=20, reranker="cosine")
    explained = explanation_json(replace(hit("x"), rerank_score=0.7), result(fusion=rrf))
    assert explained["rrf_k"] == 20
    assert (explained["reranker"], explained["rerank_score"]) == ("cosine", 0.7)
    failed = explanation_json(hit("x"), result(fusion=rrf))
    assert (failed["reranker"], failed["rerank_score"]) == (None, None)
    assert "alpha" not in explained


def test_an_answer() -> None:
    citation = Citation("[Source 1]", 0, 10, True, "number", 1, "Cats purr.", 100, 110, 10, 10, None, 1.0)
    shape = answer_json(
        Answer(
            id="a",
            text="Cats purr. [Source 1]",
            strategy="hybrid",
            sources=sources_of([hit("Cats purr.")], frozenset({1})),
            citations=(citation,),
            related_documents=(Related("d", "D", None),),
            confidence=Confidence(0.8, "high", "why"),
            groundedness=Groundedness(1.0, (GroundedSentence(0, 10, 1.0, 1),)),
            context_sufficiency=Sufficiency(True, 1.0),
            has_relevant_sources=True,
            metadata=AnswerMetadata(1, "m", "stop", "t", Usage(1, 2)),
        )
    )
    assert set(shape) == fields(
        "id session_id stream_id answer mode strategy intent question_type intelligence_level sources citations"
        " related_documents confidence groundedness context_sufficiency graph has_relevant_sources suggested_questions"
        " warnings degraded metadata"
    )
    assert set(shape["sources"][0]) == fields(
        "number document_id document_name title chunk_id version checksum page place"
        " start_line end_line start_char end_char"
        " heading_path snippet score relevance similarity_score hybrid_score urls cited owner"
    )
    assert set(shape["citations"][0]) == fields(
        "text start end matched matched_by source quote quote_start_char quote_end_char quote_start_line quote_end_line"
        " page place rects support reason"
    )
    assert set(shape["context_sufficiency"]) == fields(
        "is_sufficient coverage_score has_conflicts missing_aspects conflicts"
    )
    assert set(shape["metadata"]) == fields(
        "chunks_retrieved model finish_reason usage cached trace_id durations_ms rewritten_query corrected_query plan"
    )
    assert set(shape["related_documents"][0]) == {"document_id", "title", "category"}
    assert set(shape["confidence"]) == {"score", "level", "reason"}
    assert set(shape["groundedness"]["sentences"][0]) == {"start", "end", "support", "source"}
    assert shape["answer"] == "Cats purr. [Source 1]"
    assert shape["graph"] == {"enriched": False, "context": None}
    assert shape["metadata"]["usage"] == {"prompt_tokens": 1, "completion_tokens": 2}
