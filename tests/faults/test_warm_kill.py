"""SIGKILL of a server whose index is in memory: what was acknowledged counts after the restart, nothing else."""

from pathlib import Path

import httpx2
import pytest

from tests.faults.serving import API, Server, finished

SEARCHES = 6
"""Searches after which the index is in memory."""


def upload(client: httpx2.Client, name: str) -> str:
    body = f"# {name}\n\nThe marker{name} stands here.".encode()
    answer = client.post(f"{API}/documents/upload", files={"file": (f"{name}.md", body)})
    assert answer.status_code in (200, 202), answer.text
    return str(answer.json()["document"]["id"])


def found(client: httpx2.Client) -> set[str]:
    answer = client.post(f"{API}/search", json={"query": "marker stands here", "top_k": 20})
    return {one["metadata"]["document_name"].removesuffix(".md") for one in answer.raise_for_status().json()["results"]}


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_removal_and_an_upload_before_the_kill_hold_with_a_warm_index(database_url: str, tmp_path: Path) -> None:
    server = Server(database_url, tmp_path / "data")
    with server.running() as (process, client):
        ids = {name: upload(client, name) for name in ("heron", "otter", "newt")}
        finished(client)
        for _ in range(SEARCHES):
            assert found(client) == {"heron", "otter", "newt"}
        assert client.delete(f"{API}/documents/{ids['otter']}").is_success
        assert found(client) == {"heron", "newt"}
        upload(client, "stoat")
        process.kill()
    with server.running() as (_, client):
        assert "otter" not in found(client)
        finished(client)
        for _ in range(SEARCHES):
            assert found(client) == {"heron", "newt", "stoat"}
