"""Embeddings over HTTP, for texts of any length."""

import math

import httpx2
import pytest

from tests.api.live_server import LiveServer, assert_problem


def vectors(client: httpx2.Client, texts: object) -> list[list[float]]:
    response = client.post("/api/v1/embedding", json={"input": texts})
    assert response.status_code == 200, response.text
    assert set(response.json()) == {"model", "vectors"}
    found: list[list[float]] = response.json()["vectors"]
    return found


def test_one_text_or_several(live_server: LiveServer, reader: httpx2.Client) -> None:
    [one] = vectors(reader, "cats purr")
    assert vectors(reader, ["dogs bark", "cats purr"])[1] == one
    assert len(one) == live_server.pincite.services.embedder.dimensions
    assert math.hypot(*one) == pytest.approx(1)
    assert (
        reader.post("/api/v1/embedding", json={"input": "x"}).json()["model"]
        == live_server.pincite.services.embedder.name
    )


def test_a_long_text_is_embedded_to_its_end(live_server: LiveServer, reader: httpx2.Client) -> None:
    long = "cats " * 300
    assert len(live_server.pincite.services.embedder.windows(long)) > 1
    plain, ended, short = vectors(reader, [long, long + "dogs " * 150, "cats"])
    assert math.hypot(*ended) == pytest.approx(1)
    assert plain == pytest.approx(short, abs=1e-3)
    assert ended != pytest.approx(plain, abs=1e-2)


def test_an_empty_list_is_refused_as_a_list(reader: httpx2.Client) -> None:
    refused = assert_problem(reader.post("/api/v1/embedding", json={"input": []}), 422, "invalid")
    assert refused["detail"].startswith("input: ")
    assert "must be text" not in refused["detail"]


@pytest.mark.parametrize("texts", [[], "", [""], ["x"] * 257, "x" * 100_001, 7, None, {"a": 1}, [["x"]]])
def test_what_cannot_be_embedded_is_refused(reader: httpx2.Client, texts: object) -> None:
    assert_problem(reader.post("/api/v1/embedding", json={"input": texts}), 422, "invalid")
