"""The design of flows and enriched passages, against its profile."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pincite.stub.thread import StubLLM
from tests.api.live_server import assert_problem, completed, upload
from tests.seeds.walk import Walk, walking

WRITTEN = json.dumps({"summary": "Felines rest.", "questions": ["Who rests?"]})
PETS = (
    "# Pets\r\n\r\nAll pets.\r\n\r\n## Cats\r\n\r\nCats sleep all day.   \r\n\r\n## Dogs\r\n\r\nDogs bark at night.\r\n"
)
SHIPS = "harbour ships sail north lighthouse anchor deck mast".split()
BIRDS = "birds nest feather branch song wing egg forest".split()
STORE = "/api/v1/vectorstore"


@pytest.fixture(scope="module")
def walk(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    with walking("zoeflow", module_database_url, tmp_path_factory.mktemp("zoeflow") / "data") as made:
        made.says({"say": WRITTEN, "match": "."})
        made.door.add("many", **{f"note{n}": f"# Note {n}\n\nHarbour ships number {n} sail.\n" for n in range(8)})
        for ships in (0, 1, 2, 3, 5, 6, 7, 8, 4):  # the one that both queries return is added last
            text = " ".join([*SHIPS[:ships], *BIRDS[: 8 - ships]])
            made.door.add("mixed", **{f"mix{ships}": f"# Mix {ships}\n\n{text}.\n"})
        yield made


def taken_in(walk: Walk, name: str, text: str, **given: str) -> dict[str, Any]:
    """What is told of a file that was uploaded, started and processed."""
    walk.says({"say": WRITTEN, "match": "."})
    data = {"folder": "pets", **given}
    sent = walk.client.post(f"{STORE}/documents/upload", files={"file": (name, text)}, data=data).json()
    assert sent["status"] == "pending"
    assert walk.client.post(f"{STORE}/documents/start", json={"docId": sent["docId"]}).status_code == 202
    assert {one["status"] for one in completed(walk.client, "pets")} == {"completed"}
    return dict(sent)


def test_an_id_is_made_of_sixteen_characters_and_a_version_of_its_time(walk: Walk) -> None:
    first = taken_in(walk, "ids.md", "# One")
    again = taken_in(walk, "ids.md", "# Two")
    assert re.fullmatch(r"[A-Za-z0-9_-]{16}", first["docId"])
    assert again["docId"] == first["docId"]
    today = datetime.now(UTC).strftime("%Y%m%d")
    assert (first["version"][:8], again["version"][:8]) == (today, today)
    assert first["version"] < again["version"]


def test_passages_know_their_section_lines_and_characters(walk: Walk) -> None:
    sent = taken_in(walk, "pets.md", PETS)
    chunks = walk.client.get(f"/api/v1/documents/{sent['docId']}/chunks", params={"level": 2}).json()["items"]
    read = walk.ask(f"{STORE}/documents/read", docId=sent["docId"])["content"]
    assert [chunk["heading_path"] for chunk in chunks] == [["Pets"], ["Pets", "Cats"], ["Pets", "Dogs"]]
    for chunk in chunks:
        assert chunk["text"] == read[chunk["start_char"] : chunk["end_char"]]
        assert chunk["text"] == "\n".join(read.split("\n")[chunk["start_line"] - 1 : chunk["end_line"]])
    assert "\r" not in read
    assert "day.   " not in read


def test_text_before_the_first_heading_is_not_of_its_section(walk: Walk) -> None:
    sent = taken_in(walk, "early.md", "Rats come first.\n\n# Mice\n\nMice come second.\n")
    chunks = walk.client.get(f"/api/v1/documents/{sent['docId']}/chunks", params={"level": 2}).json()["items"]
    assert [(one["text"], one["heading_path"]) for one in chunks] == [
        ("Rats come first.", []),
        ("# Mice\n\nMice come second.", ["Mice"]),
    ]


def test_what_is_embedded_is_enriched_and_what_is_kept_and_found_is_not(walk: Walk) -> None:
    sent = taken_in(walk, "kept.md", "# Kept\n\nOtters swim in rivers.\n")
    [found, *_] = walk.ask(f"{STORE}/query-many", queries=["Otters swim in rivers"], folder="pets")["results"]
    assert found["text"] == "# Kept\n\nOtters swim in rivers."
    assert found["metadata"]["chunk_variant"] == "augmented"
    vectorised = found["metadata"]["vectorized_text"]
    assert [vectorised.index(part) for part in ("source: kept.md", "Felines rest.", "Who rests?", "Otters")] == sorted(
        vectorised.index(part) for part in ("source: kept.md", "Felines rest.", "Who rests?", "Otters")
    )
    chunks = f"/api/v1/documents/{sent['docId']}/chunks"
    [listed] = walk.client.get(chunks, params={"level": 2, "embedded": True}).json()["items"]
    assert listed["embedded_text"] == listed["vectorized_text"] == vectorised
    metadata = found["metadata"]
    assert metadata["doc_id"] == sent["docId"]
    assert {"version", "source_uri", "heading_path", "start_line", "end_line", "content_type", "language"} <= set(
        metadata
    )


def test_the_model_that_enriches_is_told_the_title_that_the_uploader_gave(walk: Walk) -> None:
    taken_in(walk, "named.md", "# Heading\n\nNewts live in ponds.\n", title="Pond animals")
    [asked] = [str(one["messages"]) for one in walk.prompts() if "Newts live" in str(one["messages"])]
    assert "title: Pond animals" in asked
    assert "title: Heading" not in asked


def test_without_enrichment_a_passage_is_embedded_under_its_labels(database_url: str, tmp_path: Path) -> None:
    with walking("zoeflow", database_url, tmp_path / "data", **{"enrichment.enabled": False}) as plain:
        made = plain.door.add("kept", plain="Otters swim in rivers.\n", headed="# Kept\n\n## Otters\n\nThey swim.\n")
        texts = {}
        for name, document in made.items():
            address = f"/api/v1/documents/{document['id']}/chunks"
            [chunk, *_] = plain.client.get(address, params={"level": 2, "embedded": True}).json()["items"][-1:]
            texts[name] = chunk["embedded_text"]
        labels = {
            name: f"source: {name}.md\ndoc_id: {made[name]['id']}\nversion: {made[name]['version']}\n" for name in made
        }
        assert texts == {
            "plain": f"{labels['plain']}section: Document\n\nOtters swim in rivers.",
            "headed": f"{labels['headed']}section: Kept / Otters\n\n# Kept\n\n## Otters\n\nThey swim.",
        }


def test_a_document_is_read_by_the_source_that_a_result_names(walk: Walk) -> None:
    taken_in(walk, "voles.md", "# Voles\n\nVoles dig tunnels.\n")
    [found, *_] = walk.ask(f"{STORE}/query-many", queries=["Voles dig tunnels"], folder="pets")["results"]
    assert found["metadata"]["source_uri"] == "voles.md"
    read = walk.ask(f"{STORE}/documents/read", sourceUri="voles.md")
    assert (read["doc_id"], read["content"]) == (found["metadata"]["doc_id"], "# Voles\n\nVoles dig tunnels.\n")
    upload(walk.client, "voles.md", "# Other voles\n", folder="elsewhere")
    twice = walk.client.post(f"{STORE}/documents/read", json={"sourceUri": "voles.md"})
    assert_problem(twice, 422, "invalid")
    upload(walk.client, "other.md", "# More voles\n", folder="elsewhere", source_uri="voles.md")
    completed(walk.client, "elsewhere")
    assert walk.ask(f"{STORE}/documents/read", sourceUri="voles.md")["content"] == "# More voles\n"


def test_the_tool_reads_a_document_by_the_source_that_a_result_names(walk: Walk) -> None:
    taken_in(walk, "moles.md", "# Moles\n\nMoles eat worms.\n\n## Hills\n\nA hill is 20 cm high.\n")
    [found, *_] = walk.ask(f"{STORE}/query-many", queries=["Moles eat worms"], folder="pets")["results"]
    source = found["metadata"]["source_uri"]
    assert source == "moles.md"
    nodes = [{"id": "read", "type": "ReadDocument"}, {"id": "write", "type": "Completion"}]
    call = {"name": "read_document", "arguments": {"source_uri": source, "section": "Hills"}}
    walk.says({"tools": [call]}, "A hill is 20 cm high. [Source 1]")
    flow = {"nodes": nodes, "edges": [{"from": "read", "to": "write"}], "input": "How high is a hill?"}
    told = walk.ask("/api/v1/flows/run", **flow)
    [step] = told["metadata"]["steps"]
    assert (step["failed"], step["arguments"]) == (False, call["arguments"])
    assert step["result"] == "lines 5 to 7 of 7, section Moles > Hills; shown: [Source 1]"
    assert told["citations"][0]["quote"] == "A hill is 20 cm high."
    named = [{"id": "read", "type": "ReadDocument", "source_uri": source, "section": "Hills"}, nodes[1]]
    walk.says("A hill is 20 cm high. [Source 1]")
    told = walk.ask("/api/v1/flows/run", **{**flow, "nodes": named})
    assert told["citations"][0]["quote"] == "A hill is 20 cm high."


def test_a_document_is_read_with_its_metadata(walk: Walk) -> None:
    walk.says({"say": WRITTEN, "match": "."})
    told = {"source_uri": "https://example.org/hares", "author": "Ann", "description": "About hares", "tags": "wild"}
    made = upload(walk.client, "hares.md", "# Hares\n\nHares run.\n", folder="hares", **told).json()["document"]
    completed(walk.client, "hares")
    read = walk.ask(f"{STORE}/documents/read", doc_id=made["id"], start_line=3, end_line=3)
    assert read["content"] == "Hares run."
    assert read["metadata"] == {
        **told, "doc_id": made["id"], "version": made["version"], "title": "Hares", "tags": ["wild"], "folder": "hares",
    }  # fmt: skip


def test_an_answer_may_link_to_the_address_of_its_source(walk: Walk) -> None:
    walk.says({"say": WRITTEN, "match": "."})
    address, other = "https://example.org/beavers/dams?page=2", "https://example.org/beavers/dams?page=3"
    upload(walk.client, "beavers.md", "# Beavers\n\nBeavers build dams.\n", folder="linked", source_uri=address)
    completed(walk.client, "linked")
    walk.says(f"Beavers build dams. [Source 1] Read [more]({address}), not [this]({other}).")
    told = walk.ask("/api/v1/query", query="What do beavers build?", folder="linked")
    assert told["answer"] == (
        f"Beavers build dams. [Source 1] Read [more (example.org)]({address}), not this (example.org)."
    )
    assert "a URL that is in no source was cut to its host" in told["warnings"]


def test_the_model_reads_the_passage_and_not_what_was_written_about_it(walk: Walk) -> None:
    taken_in(walk, "raw.md", "# Raw\n\nBadgers dig deep burrows.\n")
    walk.says("Badgers dig deep burrows. [Source 1]")
    walk.ask("/api/v1/query", query="What do badgers dig?")
    shown = json.dumps(walk.prompts()[-1]["messages"])
    assert "Badgers dig deep burrows." in shown
    assert "Felines rest." not in shown


def test_each_query_brings_five_and_ranks_are_added_with_sixty(walk: Walk) -> None:
    ships, birds = [" ".join(words) for words in (SHIPS, BIRDS)]
    alone = [walk.ask(f"{STORE}/query-many", queries=[query], folder="mixed")["results"] for query in (ships, birds)]
    assert [[one["metadata"]["title"] for one in found] for found in alone] == [
        ["Mix 8", "Mix 7", "Mix 6", "Mix 5", "Mix 4"], ["Mix 0", "Mix 1", "Mix 2", "Mix 3", "Mix 4"],
    ]  # fmt: skip
    told = walk.ask(f"{STORE}/query-many", queries=[ships, birds], folder="mixed", explain=True)["results"]
    assert [(one["metadata"]["title"], one["score"]) for one in told[:1]] == [("Mix 4", pytest.approx(1 / 65 + 1 / 65))]
    assert {one["metadata"]["title"]: one["score"] for one in told[1:]} == pytest.approx(
        {"Mix 8": 1 / 61, "Mix 0": 1 / 61, "Mix 7": 1 / 62, "Mix 1": 1 / 62}
        | {"Mix 6": 1 / 63, "Mix 2": 1 / 63, "Mix 5": 1 / 64, "Mix 3": 1 / 64}
    )
    assert [one["score"] for one in told] == sorted((one["score"] for one in told), reverse=True)
    ranks = {
        one["metadata"]["title"]: [place["rank"] for place in one["explain"]["placings"] if place["engine"] == "query"]
        for one in told
    }
    assert ranks == {"Mix 4": [5, 5]} | {
        f"Mix {ships}": [rank] for rank, both in enumerate([(8, 0), (7, 1), (6, 2), (5, 3)], start=1) for ships in both
    }


@pytest.mark.parametrize("query", ["List all harbour ships.", "Summarise the notes about ships."])
def test_a_list_or_a_summary_brings_five_too(walk: Walk, query: str) -> None:
    assert len(walk.ask(f"{STORE}/query-many", queries=[query], folder="mixed")["results"]) == 5


@pytest.mark.parametrize("more", [{}, {"minScore": 0.0}])
def test_each_query_brings_as_many_as_the_request_says(walk: Walk, more: dict[str, Any]) -> None:
    ships, birds = [" ".join(words) for words in (SHIPS, BIRDS)]
    told = walk.ask(f"{STORE}/query-many", queries=[ships, birds], topK=3, folder="mixed", **more)["results"]
    assert {one["metadata"]["title"] for one in told} == {f"Mix {ships}" for ships in (8, 7, 6, 0, 1, 2)}
    assert len(told) == 6


def test_the_model_is_told_how_many_queries_it_may_write(walk: Walk) -> None:
    walk.says(
        {"tools": [{"name": "rag_search", "arguments": {"queries": ["ships"]}}]}, "Harbour ships sail. [Source 1]"
    )
    nodes = [{"id": "docs", "type": "RAG", "maxQueries": 2}, {"id": "answer", "type": "Completion"}]
    edges = [{"from": "docs", "to": "answer"}]
    walk.ask("/api/v1/flows/run", input="What do harbour ships do?", nodes=nodes, edges=edges)
    [tool] = walk.prompts()[0]["tools"]
    queries = tool["function"]["parameters"]["properties"]["queries"]
    assert (tool["function"]["name"], queries["minItems"], queries["maxItems"]) == ("rag_search", 1, 2)
    assert queries["description"].endswith("at most 2.")


def test_the_queries_of_a_request_are_one_batch_and_embedded_once(database_url: str, tmp_path: Path) -> None:
    remote = {"enrichment.enabled": False, "embedding.provider": "openai_compatible", "embedding.dimensions": 64}
    with StubLLM() as stub:
        own = {"embedding.base_url": stub.url, "embedding.model": "text-embedding-3-small"}
        with walking("zoeflow", database_url, tmp_path / "data", **remote, **own) as made:
            made.door.add("harbour", harbour="# Harbour\n\nThe mooring fee is nine euros per night.\n")
            stub.calls.clear()

            def asked() -> list[list[str]]:
                return [call.body["input"] for call in stub.calls if call.path.endswith("/embeddings")]

            queries = ["mooring fee per night", "spring tide lock", "rowing boats discount"]
            first = made.ask(f"{STORE}/query-many", queries=queries, folder="harbour")["results"]
            assert [one for one in asked() if one[0] in queries] == [queries]
            again = made.ask(f"{STORE}/query-many", queries=queries[::-1], folder="harbour")["results"]
            assert len([one for one in asked() if one[0] in queries]) == 1
            assert [one["similarityScore"] for one in again] == pytest.approx(
                [one["similarityScore"] for one in first], abs=1e-6
            )
            other = made.ask(f"{STORE}/query-many", queries=[queries[0], "anchor"], folder="harbour")["results"]
            assert other
            assert asked()[-1] == ["anchor"]


def test_the_similarity_is_kept_and_results_are_filtered_by_it(walk: Walk) -> None:
    asked = ["Harbour ships number 3 sail"]
    told = walk.ask(f"{STORE}/query-many", queries=asked, folder="many")["results"]
    middle = max(one["similarityScore"] for one in told)
    kept = walk.ask(f"{STORE}/query-many", queries=asked, folder="many", minScore=middle)["results"]
    assert kept
    assert min(one["similarityScore"] for one in kept) >= middle
    assert len(kept) < len(told)
