"""The JSON of search results, and the explanation of their scores."""

from dataclasses import replace

from pincite.core.query.answer import (
    Degraded,
    SearchResult,
)
from pincite.core.query.hits import ScoreContribution
from pincite.serialize.search import explanation_json, hit_json, search_json
from tests.builders import fusion, hit


def fields(text: str) -> set[str]:
    return set(text.replace(",", " ").split())


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
        " page, place, folder, level, content_type, language, checksum mime created_at chunk_variant"
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
