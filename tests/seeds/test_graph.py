"""The second design's own chat request, answered with its knowledge graph."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.live_server import LiveServer

FILM = "# Tidal Song\n\nTidal Song was directed by Mira Okafor. It was shown in Lisbon."
PERSON = "# Mira Okafor\n\nMira Okafor was born in Lagos."


@pytest.fixture
def server(database_url: str, tmp_path: Path) -> Iterator[LiveServer]:
    settings = {"database.url": database_url, "graph.build": "rules", "rag.knowledge_graph_enabled": True}
    with LiveServer(tmp_path / "data", **settings) as server:
        server.add("", film=FILM, person=PERSON)
        server.do(server.pincite.admin.wait_until_built())
        yield server


def test_a_chat_is_enriched_by_the_graph_and_its_trace_has_the_traversal(server: LiveServer) -> None:
    asked = {
        "messages": [{"role": "user", "content": "Who directed Tidal Song?"}],
        "stream": False,
        "rag": {"enabled": True},
    }
    with server.client() as client:
        told = client.post("/api/chat", json=asked).json()
        assert told["graphEnriched"] is True
        assert "Tidal Song — was directed by — Mira Okafor [Source 1]" in told["graphContext"].split("\n")
        assert "Mira Okafor" in told["message"]
        spans = client.get(f"/api/v1/traces/{told['metadata']['trace_id']}").json()["spans"]
        assert {"graph_traversal", "graph_context"} <= {span["name"] for span in spans}
        metrics = client.get("/api/v1/metrics").text
        assert 'pincite_searches_total{engine="graph"} 1.0' in metrics


def test_the_graph_joins_the_fusion_of_the_design_with_its_own_weight(server: LiveServer) -> None:
    with server.client() as client:
        body = {"query": "Who directed Tidal Song?", "profile": "vexora", "explain": True}
        [first, *_] = client.post("/api/v1/search", json=body).json()["results"]
    weights = {place["engine"]: place["weight"] for place in first["explain"]["placings"]}
    assert weights == pytest.approx({"dense": 0.3, "lexical": 0.7, "graph": 0.9})
    assert first["hybrid_score"] == pytest.approx(sum(place["share"] for place in first["explain"]["placings"]))
