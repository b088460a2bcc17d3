"""The JSON of an answer has exactly the documented fields."""

from pincite.core.query.answer import (
    Answer,
    AnswerMetadata,
    Citation,
    Confidence,
    Groundedness,
    GroundedSentence,
    Related,
    Sufficiency,
)
from pincite.core.query.prompt import Usage
from pincite.query.citations.sources import sources_of
from pincite.serialize.answers import answer_json, footnotes
from tests.builders import hit


def fields(text: str) -> set[str]:
    return set(text.replace(",", " ").split())


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
        " heading_path snippet score relevance similarity_score hybrid_score urls cited owner folder"
    )
    assert set(shape["citations"][0]) == fields(
        "text start end matched matched_by source quote quote_start_char quote_end_char quote_start_line quote_end_line"
        " page place rects support reason title section document_id version"
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
    assert shape["graph"] == {"enriched": False, "context": None, "entities": [], "facts": []}
    assert shape["metadata"]["usage"] == {"prompt_tokens": 1, "completion_tokens": 2}


def test_footnotes_tell_files_of_the_same_name_apart() -> None:
    def source(number: int, name: str, folder: str) -> dict[str, object]:
        return {
            "number": number, "document_id": f"d{number}", "document_name": name, "folder": folder, "title": name,
            "heading_path": [], "place": "line 1", "page": None, "start_line": 1, "end_line": 1, "urls": [],
        }  # fmt: skip

    sources = [source(1, "notes.txt", "north"), source(2, "notes.txt", "south"), source(3, "plan.txt", "south")]
    citations = [{"source": number, "text": f"[Source {number}]"} for number in (1, 2, 3)]
    assert footnotes({"sources": sources, "citations": citations}).splitlines()[2:] == [
        "Sources:",
        "- [Source 1] notes.txt (north/notes.txt, line 1)",
        "- [Source 2] notes.txt (south/notes.txt, line 1)",
        "- [Source 3] plan.txt (plan.txt, line 1)",
    ]
