"""Searches: one query or several, explained on request."""

import httpx2
import pytest

from tests.api.door import Door, assert_problem

FILES = {
    "leave": "# Leave\n\nFive vacation days carry over to the next year.\n",
    "travel": "# Travel\n\nTrain tickets are paid by the company.\n",
}


@pytest.fixture(scope="module")
def shelf(door: Door) -> dict[str, dict[str, object]]:
    return door.add("searches", **FILES)


def search(client: httpx2.Client, **body: object) -> dict[str, object]:
    response = client.post("/api/v1/search", json={"folder": "searches", **body})
    assert response.status_code == 200, response.text
    found: dict[str, object] = response.json()
    return found


def test_passages_come_best_first_with_their_place(client: httpx2.Client, shelf: dict[str, dict[str, object]]) -> None:
    found = search(client, query="vacation days")
    best = found["results"][0]
    metadata = best["metadata"]
    assert metadata["document_id"] == shelf["leave"]["id"]
    assert FILES["leave"][metadata["start_char"] : metadata["end_char"]] == best["text"]
    assert (metadata["folder"], metadata["level"], metadata["heading_path"]) == ("searches", 2, ["Leave"])
    assert "vectorized_text" not in metadata
    assert "explain" not in best
    assert [one["score"] for one in found["results"]] == sorted((o["score"] for o in found["results"]), reverse=True)
    assert client.get(f"/api/v1/traces/{found['trace_id']}").json()["kind"] == "search"


def test_a_score_is_the_sum_of_its_shares(client: httpx2.Client, shelf: dict[str, dict[str, object]]) -> None:
    for one in search(client, query="vacation train", explain=True)["results"]:
        shares = [placing["share"] for placing in one["explain"]["placings"]]
        assert one["score"] == pytest.approx(sum(shares)) == pytest.approx(one["explain"]["score"])
        assert one["explain"]["alpha"] == 0.5


def test_the_order_can_be_worked_out_from_what_is_told(door: Door, client: httpx2.Client) -> None:
    door.add(
        "films",
        vertigo="# Vertigo\n\nThe film Vertigo was directed by Alfred Hitchcock.\n",
        hitchcock="# Alfred Hitchcock (director)\n\nHe was born in Leytonstone.\n",
        birds="# The Birds\n\nBirds attack a town in that film.\n",
    )
    results = search(client, query="Who directed the film Vertigo?", folder="films", explain=True)["results"]
    told = [(one["id"], one["explain"]["placings"]) for one in results]

    def score(placings: list[dict[str, float]]) -> float:
        return sum(one["weight"] * (one["raw"] - one["low"]) / one["span"] for one in placings)

    assert [name for name, _ in sorted(told, key=lambda one: -score(one[1]))] == [one["id"] for one in results]
    assert [score(placings) for _, placings in told] == pytest.approx([one["score"] for one in results])
    names = {one["metadata"]["document_name"]: one["explain"]["placings"] for one in results}
    [named] = [placing for placing in names["hitchcock.md"] if placing["engine"] == "named"]
    scores_before = sorted(
        (score([p for p in placings if p["engine"] != "named"]) for _, placings in told), reverse=True
    )
    assert named["raw"] == pytest.approx(scores_before[named["rank"] - 1])


@pytest.mark.parametrize(("strategy", "engine"), [("dense_only", "dense"), ("lexical_only", "lexical")])
def test_a_strategy_uses_its_engine_alone(
    client: httpx2.Client, shelf: dict[str, dict[str, object]], strategy: str, engine: str
) -> None:
    found = search(client, query="vacation days", strategy=strategy, explain=True)
    assert found["strategy"] == strategy
    assert {p["engine"] for one in found["results"] for p in one["explain"]["placings"]} == {engine}


def test_top_k_min_score_and_documents_narrow(client: httpx2.Client, shelf: dict[str, dict[str, object]]) -> None:
    assert len(search(client, query="vacation train", top_k=1)["results"]) == 1
    assert search(client, query="vacation train", min_score=1)["results"] == []
    only = search(client, query="vacation train", document_ids=[shelf["travel"]["id"]])["results"]
    assert {one["metadata"]["document_id"] for one in only} == {shelf["travel"]["id"]}
    assert search(client, query="vacation train", document_ids=[])["results"] == []


def test_several_queries_are_fused(client: httpx2.Client, shelf: dict[str, dict[str, object]]) -> None:
    body = {"queries": ["vacation days", "train tickets"], "folder": "searches"}
    response = client.post("/api/v1/query-many", json=body)
    assert response.status_code == 200
    results = response.json()["results"]
    assert {one["metadata"]["document_id"] for one in results[:2]} == {one["id"] for one in shelf.values()}
    assert all(0 < one["score"] <= 2 / 61 and "similarity_score" in one for one in results)


@pytest.mark.parametrize("queries", [[], ["q"] * 6, [""], ["q", " "], "q", [7]])
def test_queries_that_cannot_be_searched_are_refused(client: httpx2.Client, queries: object) -> None:
    assert client.post("/api/v1/query-many", json={"queries": queries}).status_code == 422


def test_a_search_that_cannot_be_made_is_refused(client: httpx2.Client) -> None:
    assert_problem(client.post("/api/v1/search", json={"query": ""}), 422, "empty_query")
    assert_problem(client.post("/api/v1/search", json={"query": "q", "as_of": "2024"}), 422, "invalid")
    assert_problem(client.post("/api/v1/search", json={"query": "q", "levels": [0]}), 422, "invalid")
