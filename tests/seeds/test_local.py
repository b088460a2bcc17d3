"""The design for one machine, against its profile."""

import hashlib
from collections.abc import Iterator
from itertools import pairwise

import pytest

from tests.api.live_server import completed, upload
from tests.pdf_maker import Line, make_pdf
from tests.seeds.walk import Walk, walking

PARAGRAPH = "The harbour of Kiel has room for ninety ships, and its crane lifts forty tons of grain an hour. "
LONG = "# Harbour\n\n" + "\n\n".join(f"{PARAGRAPH * 6}Part {n} ends here." for n in range(4)) + "\n"
LEAVE = "# Leave\n\n## Carrying over\n\nUp to five vacation days carry over into the next year.\n"
ASKED = "How many vacation days carry over?"


@pytest.fixture(scope="module")
def walk(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    with walking("local", module_database_url, tmp_path_factory.mktemp("local") / "data") as made:
        made.door.add("harbour", long=LONG)
        made.door.add("hr", leave=LEAVE)
        yield made


def test_a_file_is_cut_into_windows_that_share_their_ends(walk: Walk) -> None:
    [document] = walk.client.get("/api/v1/documents", params={"folder": "harbour"}).json()["items"]
    address = f"/api/v1/documents/{document['id']}/chunks"
    chunks = walk.client.get(address, params={"level": 2}).json()["items"]
    assert len(chunks) > 2
    assert all(len(chunk["text"]) <= 1000 for chunk in chunks)
    shared = [before["end_char"] - after["start_char"] for before, after in pairwise(chunks)]
    assert all(0 < length <= 250 for length in shared)


def test_windows_go_on_across_headings(walk: Walk) -> None:
    sections = [f"## Quay {n}\n\n{PARAGRAPH}\n" for n in range(12)]  # of 109 characters each, with the blank line
    document = walk.door.add("quays", quays="\n".join(["# Quays\n", *sections]))["quays"]
    chunks = walk.client.get(f"/api/v1/documents/{document['id']}/chunks", params={"level": 2}).json()["items"]
    assert len(chunks) == 2
    assert 800 <= len(chunks[0]["text"]) <= 1000
    assert chunks[0]["text"].count("## Quay") > 5


def test_a_source_of_a_pdf_names_its_own_page(walk: Walk) -> None:
    fees = ["The mooring fee is nine euros.", "The mooring fee is paid at the office of the harbour master."]
    pages = [
        [Line(f"{PARAGRAPH} {n}") for n in range(4)],
        [Line(text) for text in fees],
        [Line("Cranes rest at night.")],
    ]
    upload(walk.client, "fees.pdf", make_pdf(pages), folder="pdf")
    completed(walk.client, "pdf")
    walk.says({"say": "The mooring fee is nine euros. [Source 1]", "match": "."})
    for question, page in (("How much is the mooring fee?", 2), ("When do cranes rest?", 3)):
        [source, *_] = walk.ask("/api/v1/query", query=question, folder="pdf", no_cache=True)["sources"]
        assert (source["document_name"], source["page"], source["place"]) == ("fees.pdf", page, f"page {page}")


def test_a_passage_says_which_file_it_is_of_and_where_that_lies(walk: Walk) -> None:
    [hit, *_] = walk.ask("/api/v1/search", query=ASKED, folder="hr")["results"]
    assert {"document_id", "heading_path", "page", "folder", "level"} <= set(hit["metadata"])
    metadata = hit["metadata"]
    assert (metadata["folder"], metadata["mime"]) == ("hr", "text/markdown")
    assert metadata["checksum"] == hashlib.sha256(LEAVE.encode()).hexdigest()
    [document] = walk.client.get("/api/v1/documents", params={"folder": "hr"}).json()["items"]
    assert metadata["created_at"] == document["created_at"]
    chunks = walk.client.get(f"/api/v1/documents/{document['id']}/chunks", params={"level": 2}).json()["items"]
    [same] = [chunk for chunk in chunks if chunk["id"] == hit["id"]]
    for name in ("checksum", "mime", "created_at"):
        assert same[name] == metadata[name]


def test_both_engines_are_blended_in_equal_parts(walk: Walk) -> None:
    for hit in walk.ask("/api/v1/search", query=ASKED, explain=True)["results"]:
        shares = [place for place in hit["explain"]["placings"] if place["engine"] in ("dense", "lexical")]
        assert {place["weight"] for place in shares} == {0.5}
        for place in shares:
            by_hand = place["weight"] * (place["raw"] - place["low"]) / place["span"]
            assert place["share"] == pytest.approx(by_hand)
        assert hit["hybrid_score"] == pytest.approx(sum(place["share"] for place in shares))


def test_passages_are_reranked_by_their_cosines(walk: Walk) -> None:
    hits = walk.ask("/api/v1/search", query=ASKED, explain=True)["results"]
    assert {hit["explain"]["reranker"] for hit in hits} == {"cosine"}
    for hit in hits:
        assert hit["explain"]["rerank_score"] == pytest.approx(hit["similarity_score"], abs=1e-3)


def test_several_files_are_preferred_where_scores_are_comparable(walk: Walk) -> None:
    sails = "The ferry sails at dawn. " * 24
    piers = [" ".join(f"{word}{pier}" for word in "rope mast crew deck tide wind".split()) for pier in "abcdefg"]
    text = "\n\n".join(f"{sails}{pier}. {'.' * 260}" for pier in piers)
    weak = "The crane stands idle while the master writes letters about a ferry. " * 12
    other = f"{sails}{'Lamp buoy fish net coal salt oar sail knot flag quay bell. ' * 2}"
    walk.door.add("ferry", a=text, b=other, c=weak)
    asked = {"query": "The ferry sails at dawn", "folder": "ferry", "top_k": 5, "explain": True}
    by_cosine = walk.ask("/api/v1/search", **asked, settings={"rag.mmr": "off"})["results"]
    assert [hit["metadata"]["document_name"] for hit in by_cosine] == ["a.md"] * 5
    found = walk.ask("/api/v1/search", **asked)["results"]
    names = [hit["metadata"]["document_name"] for hit in found]
    cosines = [hit["explain"]["rerank_score"] for hit in found]
    assert names.count("b.md") == 1
    assert names.index("b.md") < 4
    assert min(cosines) > 0.9 * max(cosines)  # c.md is not preferred: its scores are not comparable
    walk.says("The ferry sails at dawn. [Source 1]")
    walk.ask("/api/v1/query", query=asked["query"], folder="ferry", top_k=5, no_cache=True)
    shown = walk.prompts()[-1]["messages"][0]["content"]
    assert "[Source: b.md page=- score=0." in shown


def test_question_context_and_answer_are_one_prompt(walk: Walk) -> None:
    walk.says("Up to five. [Source 1]")
    walk.ask("/api/v1/query", query=ASKED, no_cache=True)
    [message] = walk.prompts()[-1]["messages"]
    text = message["content"]
    assert "say you don't know" in text
    assert text.index(f"Question: {ASKED}") < text.index("Context:") < text.index("[Source: leave.md page=")
    assert "score=" in text
    assert text.endswith("Answer:")


def test_sources_name_their_file_their_place_and_its_checksum(walk: Walk) -> None:
    walk.says("Up to five vacation days carry over into the next year. [Source 1]")
    [source, *_] = walk.ask("/api/v1/query", query=ASKED, no_cache=True)["sources"]
    assert source["document_name"] == "leave.md"
    assert source["heading_path"] == ["Leave", "Carrying over"]
    assert len(source["checksum"]) == 64
    assert "page" in source


def test_wishes_of_a_request_reach_the_model(walk: Walk) -> None:
    walk.says("Five. [Source 1]")
    walk.ask("/api/v1/query", query=ASKED, model="tiny", temperature_override=0.9, max_tokens=33, stop=["END"])
    sent = walk.prompts()[-1]
    assert (sent["model"], sent["temperature"], sent["max_tokens"]) == ("tiny", 0.9, 33)
    assert sent["stop"] == ["END"]


def test_a_folders_own_prompt_is_told_to_the_model(walk: Walk) -> None:
    walk.client.post("/api/v1/folders", json={"path": "hr", "system_prompt": "Speak like a pirate."})
    walk.says("Five, arr. [Source 1]")
    walk.ask("/api/v1/query", query=ASKED, folder="hr", no_cache=True)
    assert any("Speak like a pirate." in message["content"] for message in walk.prompts()[-1]["messages"])


def test_a_file_that_cannot_be_parsed_says_why_and_is_not_searched(walk: Walk) -> None:
    sent = upload(walk.client, "broken.pdf", b"%PDF-1.7\nnot really a pdf\n%%EOF", folder="broken")
    assert sent.status_code == 202
    [document] = completed(walk.client, "broken")
    assert document["status"] == "error"
    assert document["error"]["message"]
    assert walk.ask("/api/v1/search", query="not really a pdf", folder="broken")["results"] == []


def test_a_removed_file_is_gone_with_its_vectors_and_what_was_answered_from_it(walk: Walk) -> None:
    assert walk.client.post("/api/v1/folders", json={"path": "gone"}).status_code == 201  # it stays without the file
    added = walk.door.add("gone", gone="# Gone\n\nWalruses whistle at midnight.\n")["gone"]
    walk.says("Walruses whistle at midnight. [Source 1]")
    asked = {"query": "When do walruses whistle?", "folder": "gone"}
    walk.ask("/api/v1/query", **asked)
    receipt = walk.client.delete(f"/api/v1/documents/{added['id']}").json()
    assert receipt["verified"] is True
    assert receipt["vectors"] >= 1
    assert receipt["cache_entries"] >= 1
    assert walk.ask("/api/v1/query", **asked)["sources"] == []


def test_what_is_done_is_counted(walk: Walk) -> None:
    text = walk.client.get("/api/v1/metrics").text
    for name in ("documents", "chunks", "embedding", "search"):
        assert name in text
