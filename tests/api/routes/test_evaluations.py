"""Evaluations over HTTP."""

import time
from pathlib import Path
from typing import Any

import httpx2
import pytest

from pincite.api.routes import evaluations
from tests.api.live_server import LiveServer, assert_problem

HANDBOOK = (Path(__file__).parents[3] / "examples" / "documents" / "station-handbook.md").read_text(encoding="utf-8")


def ended(client: httpx2.Client, evaluation_id: str) -> dict[str, Any]:
    """A run once it is over."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found: dict[str, Any] = client.get(f"/api/v1/evaluations/{evaluation_id}").json()
        if found["status"] != "running":
            return found
        time.sleep(0.05)
    raise AssertionError(f"not over in time: {found}")


def started(client: httpx2.Client, **body: Any) -> str:
    """Begin a run as soon as no other test's is running."""
    deadline = time.monotonic() + 60
    while (response := client.post("/api/v1/evaluations", json=body)).status_code == 409:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert response.status_code == 202, response.text
    assert response.json()["evaluation"]["status"] == "running"
    return str(response.json()["evaluation"]["id"])


def test_a_set_is_made_and_run_in_the_background_and_again_with_other_settings(
    live_server: LiveServer, client: httpx2.Client, folder: str
) -> None:
    live_server.add(folder, handbook=HANDBOOK)
    first = ended(client, started(client, renew=True, questions=15, seed=4))
    assert (first["status"], first["progress"], first["error"]) == ("done", 1.0, None)
    assert set(first["measures"]) == {"nDCG@10", "recall@5", "recall@10", "recall@100", "MRR@10"}
    assert first["questions"] == len(first["ranks"]) > 0
    assert first["p95_ms"] >= first["p50_ms"] > 0
    assert "against" not in first
    again = ended(client, started(client, set_id=first["set_id"], settings={"rag.alpha": 0.1}, profile="adaptive"))
    assert again["settings"]["rag.alpha"] == 0.1
    assert again["settings"]["rag.fusion"] == "rrf"
    assert again["against"]["id"] == first["id"]
    assert again["against"]["measures"]["nDCG@10"]["verdict"] in ("better", "worse", "within noise")
    listed = client.get("/api/v1/evaluations", params={"limit": 1}).json()
    assert [one["id"] for one in listed["items"]] == [again["id"]]
    assert "ranks" not in listed["items"][0]
    following = client.get("/api/v1/evaluations", params={"limit": 1, "cursor": listed["next_cursor"]}).json()
    assert following["items"][0]["id"] == first["id"]
    sets = client.get("/api/v1/evaluation-sets").json()["items"]
    assert sets[0]["id"] == first["set_id"]
    one = client.get(f"/api/v1/evaluation-sets/{first['set_id']}").json()
    assert {question["id"] for question in one["items"]} == {rank["question_id"] for rank in first["ranks"]}
    assert client.delete(f"/api/v1/evaluation-sets/{first['set_id']}").json()["removed"] is True
    assert_problem(client.get(f"/api/v1/evaluations/{first['id']}"), 404, "not_found")


def test_a_second_one_while_one_runs_is_refused(
    live_server: LiveServer, client: httpx2.Client, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    live_server.add(folder, handbook=HANDBOOK)
    whole, held = evaluations.run_set, live_server.do(_event())

    async def waits(*args: Any, **kwargs: Any) -> Any:
        await held.wait()
        return await whole(*args, **kwargs)

    monkeypatch.setattr(evaluations, "run_set", waits)
    running = started(client, renew=True, questions=5)
    assert_problem(client.post("/api/v1/evaluations", json={}), 409, "evaluation_running")
    assert client.get(f"/api/v1/evaluations/{running}").json()["status"] == "running"
    live_server._loop.call_soon_threadsafe(held.set)
    assert ended(client, running)["status"] == "done"


async def _event() -> Any:
    import asyncio

    return asyncio.Event()


def test_an_error_of_a_run_is_stored(live_server: LiveServer) -> None:
    with live_server.stranger() as stranger:  # who has no documents
        failed = ended(stranger, started(stranger))
        assert failed["status"] == "failed"
        assert "no question could be generated" in failed["error"]
        assert stranger.get("/api/v1/evaluation-sets").json()["items"] == []


def test_a_reader_measures_nothing_and_strangers_see_nothing(
    live_server: LiveServer, client: httpx2.Client, reader: httpx2.Client
) -> None:
    for method, path in (
        ("POST", "/evaluations"),
        ("GET", "/evaluations"),
        ("GET", "/evaluations/x"),
        ("GET", "/evaluation-sets"),
        ("GET", "/evaluation-sets/x"),
        ("DELETE", "/evaluation-sets/x"),
    ):
        assert_problem(reader.request(method, f"/api/v1{path}"), 403, "not_allowed")
    items = client.get("/api/v1/evaluations").json()["items"]
    with live_server.stranger() as stranger:
        for one in items:
            assert_problem(stranger.get(f"/api/v1/evaluations/{one['id']}"), 404, "not_found")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"questions": 0}, "questions"),
        ({"settings": {"rag.alphas": 1}}, "did you mean 'rag.alpha'"),
        ({"settings": {"llm.base_url": "http://x"}}, "not a setting that an evaluation can change"),
        ({"settings": {"chunking.size": 100}}, "not a setting that an evaluation can change"),
        ({"settings": {"rag.alpha": 9}}, "rag.alpha"),
        ({"profile": "nobody"}, "no profile"),
        ({"set_id": "es_1", "renew": True}, "either set_id or renew"),
        ({"seeds": 1}, "seed"),
    ],
)
def test_an_invalid_request_is_refused(client: httpx2.Client, body: dict[str, Any], told: str) -> None:
    assert told in assert_problem(client.post("/api/v1/evaluations", json=body), 422, "invalid")["detail"]


def test_an_unknown_set_is_reported(client: httpx2.Client) -> None:
    assert_problem(client.post("/api/v1/evaluations", json={"set_id": "es_none"}), 404, "not_found")
    assert_problem(client.get("/api/v1/evaluation-sets/es_none"), 404, "not_found")


def test_passages_marked_as_answers_become_a_set_that_is_run(
    live_server: LiveServer, client: httpx2.Client, folder: str
) -> None:
    live_server.add(folder, handbook=HANDBOOK)
    question = {"query": "How is the telescope warmed up?", "folder": folder, "top_k": 3}
    hits = [one["id"] for one in client.post("/api/v1/search", json=question).json()["results"]]
    made = client.post("/api/v1/evaluation-sets").json()
    assert (made["made_by"], made["questions"]) == ("hand", 0)
    address = f"/api/v1/evaluation-sets/{made['id']}"
    marked = {"text": f" {question['query']}  ", "chunk_ids": hits[:2]}
    told = client.put(f"{address}/questions", json=marked).json()
    [one] = told["items"]
    assert (one["text"], one["kind"], one["chunk_id"]) == (question["query"], "marked", hits[0])
    assert [twin["chunk_id"] for twin in one["also"]] == hits[1:2]
    again = client.put(f"{address}/questions", json=marked | {"chunk_ids": hits[:1]}).json()["items"]
    assert [(other["id"], other["also"]) for other in again] == [(one["id"], [])]
    run = ended(client, started(client, set_id=made["id"]))
    assert (run["status"], run["questions"]) == ("done", 1)
    assert sum(bin["questions"] for bin in run["reliability"]) == 1
    assert client.put(f"{address}/questions", json=marked | {"chunk_ids": []}).json()["items"] == []
    client.delete(address)


def test_only_a_set_made_by_hand_takes_questions_and_only_of_what_can_be_read(
    live_server: LiveServer, client: httpx2.Client, folder: str
) -> None:
    live_server.add(folder, handbook=HANDBOOK)
    [hit] = client.post("/api/v1/search", json={"query": "telescope", "folder": folder, "top_k": 1}).json()["results"]
    made = client.post("/api/v1/evaluation-sets").json()["id"]
    address = f"/api/v1/evaluation-sets/{made}/questions"
    for wrong, status in (("nonsense", 422), ("a.b.x", 422), ("nosuch.v.0", 404), (f"{hit['id']}99", 404)):
        refused = client.put(address, json={"text": "x", "chunk_ids": [wrong]})
        assert refused.status_code == status, refused.text
    assert client.put(address, json={"text": " ", "chunk_ids": []}).status_code == 422
    with live_server.stranger() as stranger:
        assert_problem(stranger.put(address, json={"text": "x", "chunk_ids": [hit["id"]]}), 404, "not_found")
        assert_problem(stranger.put(address, json={"text": "x", "chunk_ids": []}), 404, "not_found")
    automatic = ended(client, started(client, renew=True, questions=3))["set_id"]
    other = client.put(f"/api/v1/evaluation-sets/{automatic}/questions", json={"text": "x", "chunk_ids": [hit["id"]]})
    assert_problem(other, 409, "conflict")
    client.post("/api/v1/evaluation-sets")
    newest = ended(client, started(client))
    assert newest["set_id"] == automatic, "a set made by hand is asked only where it is named"


def test_a_run_is_compared_with_any_other_of_its_set(
    live_server: LiveServer, client: httpx2.Client, folder: str
) -> None:
    live_server.add(folder, handbook=HANDBOOK)
    first = ended(client, started(client, renew=True, questions=5))
    runs = [first["id"], *(started_and_ended(client, first["set_id"]) for _ in range(2))]
    told = client.get(f"/api/v1/evaluations/{runs[2]}", params={"against": runs[0]}).json()
    assert told["against"]["id"] == runs[0]
    assert client.get(f"/api/v1/evaluations/{runs[2]}").json()["against"]["id"] == runs[1]
    elsewhere = ended(client, started(client, renew=True, questions=4, seed=2))["id"]
    assert_problem(client.get(f"/api/v1/evaluations/{elsewhere}", params={"against": runs[0]}), 422, "invalid")
    assert_problem(client.get(f"/api/v1/evaluations/{runs[0]}", params={"against": "nosuch"}), 404, "not_found")


def started_and_ended(client: httpx2.Client, set_id: str) -> str:
    return str(ended(client, started(client, set_id=set_id))["id"])


def test_questions_with_expected_answers_are_imported_and_run(
    live_server: LiveServer, client: httpx2.Client, folder: str
) -> None:
    live_server.add(folder, handbook=HANDBOOK)
    questions = [
        {"id": "one", "q": "How is the telescope warmed up?", "kind": "how", "gold": [["no such words"]]},
        {"id": "two", "q": "What is the wifi password of the moon base?", "kind": "none", "expect": "refuse"},
    ]
    made = client.post("/api/v1/evaluation-sets", json={"questions": questions})
    assert made.status_code == 201
    made_set = made.json()
    assert (made_set["made_by"], made_set["tests"], made_set["questions"]) == ("import", "answers", 2)
    assert client.post("/api/v1/evaluation-sets", json={"questions": questions}).json()["id"] == made_set["id"]
    items = client.get(f"/api/v1/evaluation-sets/{made_set['id']}").json()["items"]
    assert [(one["id"], one["expect"]) for one in items] == [("one", "answer"), ("two", "refuse")]
    done = ended(client, started(client, set_id=made_set["id"]))
    assert (done["status"], done["tests"], done["questions"]) == ("done", "answers", 2)
    assert {one["question_id"] for one in done["results"]} == {"one", "two"}
    assert done["results"][0]["verdict"] in ("wrong", "wrongly refused")
    assert [(one["by"], one["name"]) for one in done["answers"]["groups"]] == [
        ("all", ""), ("kind", "how"), ("kind", "none"),
    ]  # fmt: skip
    again = ended(client, started(client, set_id=made_set["id"], settings={"answers.level": "basic"}))
    assert again["against"]["questions"] == 2
    assert again["settings"]["answers.level"] == "basic"
    assert client.delete(f"/api/v1/evaluation-sets/{made_set['id']}").json()["removed"] is True


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"questions": []}, "questions"),
        ({"questions": [{"q": "What?"}]}, "question 1: 'gold' is missing"),
        ({"items": []}, "there is no option 'items'"),
    ],
)
def test_a_wrong_set_is_not_imported(client: httpx2.Client, body: dict[str, Any], told: str) -> None:
    assert told in assert_problem(client.post("/api/v1/evaluation-sets", json=body), 422, "invalid")["detail"]
