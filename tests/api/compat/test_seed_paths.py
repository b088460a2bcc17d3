"""The paths of the seed designs, each an alias of a native route with its own format."""

import httpx2
import pytest

from pincite.api.compat.seed_paths import five_stage_answer, to_snake_case
from pincite.serialize.primitives import Json
from tests.api.live_server import LiveServer, assert_problem, completed, events

LEAVE = """---
title: Leave
category: hr
source_urls: [https://example.org/leave]
---
# Leave

## Carrying over

Up to five vacation days carry over into the next year.
"""
ASKED = "How many vacation days carry over?"


@pytest.fixture(scope="module")
def leave(live_server: LiveServer) -> str:
    live_server.add("aliases", leave=LEAVE, plain="# Bicycles\n\nBicycles are parked in the yard.\n")
    return "aliases"


def test_names_may_be_in_camel_case_at_every_depth() -> None:
    told = {"topK": 3, "rag": {"searchLimit": 5, "hybrid_alpha": 0.3}, "query": "x", "asOf": "2024"}
    assert to_snake_case(told) == {
        "top_k": 3,
        "rag": {"search_limit": 5, "hybrid_alpha": 0.3},
        "query": "x",
        "as_of": "2024",
    }


def test_one_option_in_two_spellings_is_refused(client: httpx2.Client) -> None:
    refused = client.post("/api/query", json={"query": ASKED, "topK": 3, "top_k": 4})
    assert "'top_k' is sent twice" in assert_problem(refused, 422, "invalid")["detail"]


def test_a_question_is_answered_in_the_shape_of_five_stages(client: httpx2.Client, leave: str) -> None:
    response = client.post("/api/query", json={"query": ASKED, "folder": leave, "topK": 5})
    told = response.json()
    assert response.status_code == 200
    assert list(told) == ["answer", "sources", "relatedDocs", "citations", "confidence", "metadata"]
    assert "five vacation days" in told["answer"]
    [document] = [one for one in told["relatedDocs"] if one["title"] == "Leave"]
    assert set(document) == {"docId", "title", "category"}
    assert told["sources"] == [{"title": "Leave", "url": "https://example.org/leave", "docId": document["docId"]}]
    [cited] = told["citations"]
    assert (cited["title"], cited["section"], cited["matched"]) == ("Leave", "Carrying over", True)
    assert cited["sourceUrls"] == ["https://example.org/leave"]
    assert cited["quote"] == "Up to five vacation days carry over into the next year."
    assert told["confidence"]["level"] in ("High", "Medium", "Low")
    assert told["metadata"]["chunksRetrieved"] >= 1


def test_a_cited_document_without_an_address_is_a_source_without_one(client: httpx2.Client, leave: str) -> None:
    told = client.post("/api/query", json={"query": "Where are bicycles parked?", "folder": leave}).json()
    assert [(one["title"], one["url"]) for one in told["sources"]] == [("Bicycles", None)]


def _mark(text: str, title: str, section: str | None, *, source: int | None = None, quote: str = "") -> Json:
    by = "title" if source else None
    named = {"title": title, "section": section}
    return {"text": text, "matched": bool(source), "matched_by": by, "source": source, "quote": quote} | named


def test_a_title_cited_twice_appears_once() -> None:
    source = {
        "number": 1,
        "document_id": "d",
        "title": "Leave",
        "heading_path": ("Leave",),
        "similarity_score": 0.5,
        "urls": ["https://a", "https://b", "https://a"],
        "cited": True,
    }
    marks = [
        _mark("[Leave]", "Leave", None, source=1, quote="q"),
        _mark("[Moon > Dark side]", "Moon", "Dark side"),
        _mark("[Moon > Bright side]", "Moon", "Bright side"),
        _mark("[Source 9]", "", None),
        _mark("[leave]", "Leave", None, source=1, quote="r"),
    ]
    told = five_stage_answer(
        {
            "answer": "…",
            "sources": [source],
            "related_documents": [],
            "citations": marks,
            "confidence": {"score": 0.1, "level": "low", "reason": "r"},
            "warnings": [],
            "degraded": [],
            "metadata": {"chunks_retrieved": 1, "model": None, "finish_reason": None, "usage": None, "trace_id": "t"},
        }
    )
    assert [(one["title"], one["section"], one["matched"], one["quote"]) for one in told["citations"]] == [
        ("Leave", None, True, "q"),
        ("Moon", "Dark side", False, ""),
        ("Source 9", None, False, ""),
    ]
    assert told["citations"][1]["sourceUrls"] == []
    assert [one["url"] for one in told["sources"]] == ["https://a", "https://b"]


def test_a_chat_answers_in_both_shapes_side_by_side(client: httpx2.Client, leave: str) -> None:
    rag = {"enabled": True, "query": ASKED, "searchLimit": 5, "searchThreshold": 0.0, "hybridAlpha": 0.3}
    asked = {"messages": [{"role": "user", "content": ASKED}], "rag": rag, "folder": leave, "levelFilter": [2]}
    told = client.post("/api/chat", json=asked).json()
    assert told["message"] == told["content"]
    assert told["hasRelevantSources"] is True
    assert (told["graphEnriched"], told["graphContext"]) == (False, None)
    source = told["sources"][0]
    assert {
        "document_id",
        "document_name",
        "chunk_id",
        "page_number",
        "snippet",
        "relevance_score",
        "similarity_score",
        "score",
        "hybridScore",
    } <= set(source)
    assert told["searchResults"]["results"][0]["id"] == source["chunk_id"]
    assert told["searchResults"]["total"] >= len(told["sources"])
    assert 0 <= told["confidence_score"] <= 1
    assert told["confidence_level"] in ("high", "medium", "low")
    assert set(told["context_sufficiency"]) >= {
        "is_sufficient",
        "coverage_score",
        "has_conflicts",
        "missing_aspects",
    }
    assert isinstance(told["suggested_questions"], list)


def test_a_chat_goes_on_in_its_session(client: httpx2.Client, leave: str) -> None:
    first = client.post("/api/chat", json={"message": ASKED, "folder": leave}).json()
    again = client.post("/api/chat", json={"message": "Where are bicycles parked?", "sessionId": first["session_id"]})
    assert again.json()["session_id"] == first["session_id"]


@pytest.mark.parametrize(
    ("path", "name", "key"), [("/api/query", "query", "answer"), ("/api/chat", "message", "message")]
)
def test_a_streams_answer_has_the_shape_of_its_path(
    client: httpx2.Client, leave: str, path: str, name: str, key: str
) -> None:
    with client.stream("POST", path, json={name: ASKED, "folder": leave, "stream": True}) as response:
        told = events(response.iter_lines())
    assert [event for event, _ in told][-2:] == ["answer", "done"]
    assert "five vacation days" in told[-2][1][key]
    assert told[-2][1][key].startswith("".join(data["text"] for event, data in told if event == "token"))


def test_a_resumable_stream_numbers_its_events(client: httpx2.Client, leave: str) -> None:
    asked = {"message": ASKED, "folder": leave, "stream": True, "resumable": True}
    with client.stream("POST", "/api/chat", json=asked) as response:
        assert next(response.iter_lines()) == "id: 1"


@pytest.mark.parametrize(
    ("body", "said"),
    [({}, "query"), ({"query": 7}, "query"), ({"query": "x", "tpoK": 1}, "tpo_k")],
)
def test_what_cannot_be_asked_is_refused_in_words(client: httpx2.Client, body: dict[str, object], said: str) -> None:
    assert said in assert_problem(client.post("/api/query", json=body), 422, "invalid")["detail"]


def test_an_empty_question_is_refused(client: httpx2.Client) -> None:
    assert_problem(client.post("/api/query", json={"query": " "}), 422, "empty_query")


def test_an_upload_waits_until_it_is_started(client: httpx2.Client, folder: str) -> None:
    sent = client.post(
        "/api/v1/vectorstore/documents/upload",
        files={"file": ("held.md", "# Held\n\nIt waits.\n")},
        data={"folder": folder},
    )
    told = sent.json()
    assert (sent.status_code, told["status"]) == (202, "pending")
    assert (told["docId"], told["version"]) == (told["document"]["id"], told["document"]["version"])
    [job] = [one for one in client.get("/api/v1/jobs").json()["items"] if one["document_id"] == told["docId"]]
    assert job["state"] == "held"
    started = client.post("/api/v1/vectorstore/documents/start", json={"docId": told["docId"]})
    assert (started.status_code, started.json()) == (202, {"started": 1})
    assert [one["status"] for one in completed(client, folder)] == ["completed"]
    for named in ({"doc_id": told["docId"]}, {"docId": told["docId"], "startLine": 1, "endLine": 3}):
        read = client.post("/api/v1/vectorstore/documents/read", json=named).json()
        assert (read["doc_id"], read["content"].strip()) == (told["docId"], "# Held\n\nIt waits.")


def test_an_upload_with_start_is_processed_at_once(client: httpx2.Client, folder: str) -> None:
    client.post(
        "/api/v1/vectorstore/documents/upload",
        files={"file": ("now.md", "# Now")},
        data={"folder": folder, "start": "true"},
    )
    assert [one["status"] for one in completed(client, folder)] == ["completed"]


def test_several_documents_are_started_together(client: httpx2.Client, folder: str) -> None:
    ids = []
    for name in ("one.md", "two.md"):
        sent = client.post(
            "/api/v1/vectorstore/documents/upload", files={"file": (name, f"# {name}")}, data={"folder": folder}
        )
        ids.append(sent.json()["docId"])
    assert client.post("/api/v1/vectorstore/documents/start", json={"documentIds": ids}).json() == {"started": 2}
    assert [one["status"] for one in completed(client, folder)] == ["completed", "completed"]


def test_several_queries_are_searched_together(client: httpx2.Client, leave: str) -> None:
    asked = {"queries": [ASKED, "Where are bicycles parked?"], "topK": 5, "minScore": 0.0, "folder": leave}
    results = client.post("/api/v1/vectorstore/query-many", json=asked).json()["results"]
    assert {one["metadata"]["title"] for one in results} == {"Leave", "Bicycles"}
    for one in results:
        assert {"id", "text", "score", "similarityScore", "metadata"} <= set(one)
        assert {"doc_id", "version", "source_uri", "heading_path", "start_line", "end_line"} <= set(one["metadata"])
        assert one["similarityScore"] == one["similarity_score"]


def test_more_than_five_queries_are_refused(client: httpx2.Client) -> None:
    assert_problem(client.post("/api/v1/vectorstore/query-many", json={"queries": ["x"] * 6}), 422, "invalid")
