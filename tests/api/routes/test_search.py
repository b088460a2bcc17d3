"""Searches over HTTP, with explanations."""

import httpx2
import pytest

from tests.api.live_server import LiveServer, assert_problem, completed, upload

FILES = {
    "leave": "# Leave\n\nFive vacation days carry over to the next year.\n",
    "travel": "# Travel\n\nTrain tickets are paid by the company.\n",
}


@pytest.fixture(scope="module")
def shelf(live_server: LiveServer) -> dict[str, dict[str, object]]:
    return live_server.add("searches", **FILES)


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


def test_the_order_follows_from_the_explanation(live_server: LiveServer, client: httpx2.Client) -> None:
    live_server.add(
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
    assert_problem(client.post("/api/v1/search", json={"query": "q", "levels": [3]}), 422, "invalid")
    assert_problem(client.post("/api/v1/search", json={"query": "q", "levels": []}), 422, "invalid")


def test_a_search_and_a_question_keep_to_documents_with_all_the_tags_asked_for(
    client: httpx2.Client, folder: str
) -> None:
    for name, tags in (("one", "red"), ("two", "red,round"), ("three", "blue")):
        upload(client, f"{name}.md", f"# {name}\n\nThe marble number {name} rolls.\n", folder=folder, tags=tags)
    completed(client, folder)

    def names(tags: list[str], **more: object) -> set[str]:
        found = search(client, query="marble", folder=folder, tags=tags, **more)
        return {one["metadata"]["document_name"] for one in found["results"]}

    assert names([]) == {"one.md", "two.md", "three.md"}
    assert names(["red"]) == names(["red"], as_of="2100-01-01") == {"one.md", "two.md"}
    assert names(["red", "round"]) == {"two.md"}
    told = search(client, query="marble", folder=folder, tags=["gren"])
    assert (told["results"], told["degraded"]) == (
        [],
        [{"stage": "filters", "reason": "no document has the tag 'gren'"}],
    )
    answer = client.post("/api/v1/query", json={"query": "Which marble rolls?", "tags": ["round"]}).json()
    assert {source["document_name"] for source in answer["sources"]} == {"two.md"}
    assert_problem(client.post("/api/v1/search", json={"query": "q", "tags": "red"}), 422, "invalid")
    listed = client.get("/api/v1/documents", params={"folder": folder, "tag": ["red", "round"]}).json()["items"]
    assert [one["name"] for one in listed] == ["two.md"]


def test_a_misspelt_query_says_what_was_searched_instead(
    client: httpx2.Client, shelf: dict[str, dict[str, object]]
) -> None:
    assert search(client, query="how many vacaton days")["corrected_query"] == "how many vacation days"
    assert search(client, query="how many vacation days")["corrected_query"] is None
    asked = {"query": "How many vacaton days carry over?", "folder": "searches", "stream": True}
    told = client.post("/api/v1/query", json=asked).text
    assert (
        '"corrected_query":"How many vacation days carry over?"'
        in told.partition("event: plan")[2].partition("event:")[0]
    )
    assert '"corrected_query":"How many vacation days carry over?"' in told.partition("event: answer")[2]


def added_up(explained: dict[str, object], multi_query_rrf_k: int = 60) -> float:
    """The fused score, worked out from what is told and from nothing else."""
    placings = explained["placings"]
    several = [one for one in placings if one["engine"] == "query"]
    shares = [one["weight"] / (multi_query_rrf_k + one["rank"]) for one in several]
    rest = [one for one in placings if "span" in one and not (several and one["engine"] in ("dense", "lexical"))]
    return sum(shares) + sum(one["weight"] * (one["raw"] - one["low"]) / one["span"] for one in rest)


@pytest.mark.parametrize("strategy", ["hybrid", "fusion", "two_stage", "hierarchical"])
def test_the_order_of_every_strategy_follows_from_its_explanation(
    client: httpx2.Client, shelf: dict[str, dict[str, object]], strategy: str
) -> None:
    query = "How many vacation days carry over, and who pays train tickets?"
    found = search(client, query=query, strategy=strategy, explain=True)
    results = found["results"]
    assert found["strategy"] == strategy
    assert [added_up(one["explain"]) for one in results] == pytest.approx([one["score"] for one in results])
    engines = {placing["engine"] for one in results for placing in one["explain"]["placings"]} - {
        "dense",
        "lexical",
        "named",
    }
    own = {"fusion": {"query"}, "two_stage": {"near"}, "hierarchical": {"section", "document"}}
    assert engines == own.get(strategy, set())


def test_fusion_searches_the_parts_and_reports_model_use(
    client: httpx2.Client, shelf: dict[str, dict[str, object]]
) -> None:
    query = "How many vacation days carry over, and who pays train tickets?"
    found = search(client, query=query, strategy="fusion")
    texts = {one["text"] for one in found["plan"]["searches"]}
    assert texts == {query, "How many vacation days carry over", "who pays train tickets"}
    assert {one["stage"] for one in found["degraded"]} == {"step_back", "query_variations"}


def test_strategies_have_different_defaults_of_top_k(live_server: LiveServer, client: httpx2.Client) -> None:
    live_server.add(
        "many", **{f"n{n}": f"# Note {n}\n\nA note about ferries number {n}, told by {'x' * n}.\n" for n in range(25)}
    )
    for strategy, wanted in {"dense_only": 5, "hybrid": 10, "fusion": 20}.items():
        found = search(client, query="about ferries", folder="many", strategy=strategy)
        assert (len(found["results"]), found["plan"]["top_k"]) == (wanted, wanted)
    listed = search(client, query="List all notes about ferries", folder="many")
    assert (len(listed["results"]), listed["plan"]["intent"]) == (15, "LIST")
    assert len(search(client, query="List all notes about ferries", folder="many", top_k=2)["results"]) == 2


HARBOUR = (
    "# Harbour\n\nIt opens at six.\n\n## Fees\n\nA boat pays ten marks a night.\n\n## Crew\n\nTwo keepers live there.\n"
)


@pytest.fixture(scope="module")
def harbour(live_server: LiveServer) -> dict[str, object]:
    return live_server.add("levels", harbour=HARBOUR)["harbour"]


@pytest.mark.parametrize("levels", [[0], [1], [2], [0, 1], [0, 1, 2]])
def test_documents_sections_and_passages_are_results(
    client: httpx2.Client, harbour: dict[str, object], levels: list[int]
) -> None:
    found = search(client, query="What does a boat pay a night?", folder="levels", levels=levels, top_k=20)
    assert {one["metadata"]["level"] for one in found["results"]} == set(levels)
    assert found["plan"]["levels"] == levels
    for one in found["results"]:
        place = one["metadata"]
        assert HARBOUR[place["start_char"] : place["end_char"]] == one["text"]
        chunks = client.get(f"/api/v1/documents/{harbour['id']}/chunks?level={place['level']}").json()["items"]
        assert one["id"] in {chunk["id"] for chunk in chunks}
    best = next(one for one in found["results"] if one["metadata"]["level"] == max(levels))
    assert "ten marks" in best["text"]


def test_the_plan_says_what_kind_of_question_it_was(client: httpx2.Client, shelf: dict[str, dict[str, object]]) -> None:
    plan = search(client, query="Why do five vacation days of 2024 carry over?")["plan"]
    assert (plan["intent"], plan["question_type"]) == ("ANALYTICAL", "factual")
    assert 0 < plan["intent_confidence"] <= 1
    assert {"text": "2024", "kind": "date"} in plan["entities"]
    assert plan["hints"]["chain_of_thought"] is True
    assert plan["is_multi_hop"] is False
    assert plan["reasons"][2] == "strategy hybrid: rag.strategy says so"


def test_several_queries_explain_themselves(client: httpx2.Client, shelf: dict[str, dict[str, object]]) -> None:
    body = {"queries": ["vacation days", "train tickets"], "folder": "searches", "explain": True}
    for one in client.post("/api/v1/query-many", json=body).json()["results"]:
        ranks = [placing["rank"] for placing in one["explain"]["placings"] if placing["engine"] == "query"]
        assert one["score"] == pytest.approx(sum(1 / (one["explain"]["multi_query_rrf_k"] + rank) for rank in ranks))


def test_penalties_and_diversification_follow_from_the_explanation(
    live_server: LiveServer, client: httpx2.Client
) -> None:
    live_server.add(
        "animals",
        cats="# Cats\n\nCats differ from dogs: cats purr.\n",
        dogs="# Dogs\n\nDogs bark at strangers.\n",
        words="# Glossary\n\nCats: animals that purr, different from dogs.\n",
    )
    query = "What is the difference between cats and dogs?"
    results = search(client, query=query, folder="animals", explain=True)["results"]

    def score(told: dict[str, object]) -> float:
        value = sum(one["share"] for one in told["placings"])
        for step in told["adjustments"]:
            assert value == pytest.approx(step["before"])
            if step["stage"] == "penalty":
                value -= step["amount"] * abs(value)
            else:
                share = step["weight"] * (value - step["low"]) / step["span"]
                value = share - (1 - step["weight"]) * step["amount"]
        return value

    stages = {step["stage"] for one in results for step in one["explain"]["adjustments"]}
    assert stages == {"penalty", "mmr"}
    assert [score(one["explain"]) for one in results] == pytest.approx([one["score"] for one in results])
    assert [one["score"] for one in results] == sorted((one["score"] for one in results), reverse=True)


def test_equal_passages_are_one_result_that_names_the_others(live_server: LiveServer, client: httpx2.Client) -> None:
    shelf = live_server.add("twins", one="# Moss\n\nMoss grows on stones.\n", two="# Moss\n\nMoss grows on  stones.\n")
    [found] = search(client, query="moss on stones", folder="twins")["results"]
    [twin] = found["also_in"]
    assert {found["metadata"]["document_id"], twin["document_id"]} == {shelf["one"]["id"], shelf["two"]["id"]}


def test_a_search_may_have_settings_of_its_own(client: httpx2.Client, shelf: dict[str, dict[str, object]]) -> None:
    found = search(client, query="vacation days", explain=True, settings={"rag.fusion": "rrf", "rag.rrf_k": 7})
    assert found["results"][0]["explain"]["rrf_k"] == 7
    told = client.get(f"/api/v1/traces/{found['trace_id']}").json()["settings"]
    assert (told["rag.fusion"], told["rag.rrf_k"]) == ("rrf", 7)
    assert "rrf_k" not in search(client, query="vacation days", explain=True)["results"][0]["explain"]


@pytest.mark.parametrize(
    "settings",
    [
        {"llm.base_url": "http://there"},
        {"rag.alpah": 1},
        {"rag.alpha": 2},
        {"embedding.provider": "x"},
        {"server.port": 1},
    ],
)
def test_a_search_cannot_change_providers_or_set_invalid_values(client: httpx2.Client, settings: object) -> None:
    assert_problem(client.post("/api/v1/search", json={"query": "x", "settings": settings}), 422, "invalid")
