"""The graph over HTTP: entities, one entity, a path; nothing of what the caller may not read."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.api.live_server import LiveServer, assert_problem
from tests.api.routes.test_mcp import talk

FILM = "# Tidal Song\n\nTidal Song was directed by Mira Okafor. It was shown in Lisbon."
PERSON = "# Mira Okafor\n\nMira Okafor was born in Lagos."


@pytest.fixture
def server(database_url: str, tmp_path: Path) -> Iterator[LiveServer]:
    settings = {"database.url": database_url, "graph.build": "rules"}
    with LiveServer(tmp_path / "data", **settings) as server:
        server.add("", film=FILM, person=PERSON)
        server.do(server.pincite.admin.wait_until_built())
        yield server


def test_entities_facts_paths_answers_and_tools(server: LiveServer) -> None:
    with server.client() as client:
        [person] = [
            one for one in client.get("/api/v1/graph/entities", params={"q": "okafor"}).json()["items"] if one["name"] == "Mira Okafor"
        ]  # fmt: skip
        card = client.get(f"/api/v1/graph/entities/{person['id']}").json()
        told = {(one["subject"], one["relation"], one["object"]): one["place"]["text"] for one in card["facts"]}
        assert told["Tidal Song", "was directed by", "Mira Okafor"] == "Tidal Song was directed by Mira Okafor."
        assert all(one["text"] == "Mira Okafor" for one in card["places"])
        path = client.get("/api/v1/graph/path", params={"from": "Tidal Song", "to": "Lagos"}).json()
        assert [step["relation"] for step in path["steps"]] == ["was directed by", "was born in"]
        assert_problem(client.get("/api/v1/graph/entities/person-00000000000000ff"), 404, "not_found")
        assert_problem(client.get("/api/v1/graph/entities/nonsense-zz"), 404, "not_found")
        newest = client.get("/api/v1/graph/entities", params={"limit": 3}).json()
        assert (len(newest["items"]), newest["build"]) == (3, "rules")
        assert [one["mentions"] for one in newest["items"]] == sorted(
            (one["mentions"] for one in newest["items"]), reverse=True
        )
        assert_problem(client.get("/api/v1/graph/entities", params={"q": "x" * 201}), 422, "invalid")
        asked = {"query": "Who directed Tidal Song?", "intelligence_level": "enhanced"}
        answer = client.post("/api/v1/query", json=asked).json()
        assert answer["graph"]["enriched"] is True
        assert "Tidal Song — was directed by — Mira Okafor [Source " in answer["graph"]["context"]
        found = talk(client, lambda one: one.call_tool("graph_search", {"name": "Okafor"}))
        assert "was directed by" in str(found)


def test_another_person_sees_no_entity_and_no_count_of_it(server: LiveServer) -> None:
    with server.client() as client:
        made = client.post("/api/v1/users", json={"name": "berta", "role": "editor", "password": "a long password 1"})
        assert made.status_code == 201, made.text
    with httpx2.Client(base_url=server.url) as berta:
        assert (
            berta.post("/api/v1/auth/login", json={"name": "berta", "password": "a long password 1"}).status_code == 200
        )
        assert berta.get("/api/v1/graph/entities", params={"q": "okafor"}).json()["items"] == []
        assert berta.get("/api/v1/graph/entities").json()["items"] == []
        assert_problem(berta.get("/api/v1/graph/entities/Mira Okafor"), 404, "not_found")
        assert_problem(berta.get("/api/v1/graph/path", params={"from": "Tidal Song", "to": "Lagos"}), 404, "not_found")
