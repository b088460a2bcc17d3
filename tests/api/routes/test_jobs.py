"""The processing queue over HTTP: list, follow, cancel."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest

from pincite.api.routes import jobs
from pincite.ingest import worker
from tests.api.live_server import LiveServer, assert_problem, completed, upload


def held(client: httpx2.Client, name: str, folder: str) -> dict[str, Any]:
    """A document that is held back, and its job."""
    assert upload(client, name, f"The words of {name}.", folder=folder, start="false").status_code == 202
    return next(job for job in listed(client) if (job["folder"], job["name"]) == (folder, name))


def listed(client: httpx2.Client, **parameters: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/api/v1/jobs", params={"limit": 1000, **parameters}).json()["items"]
    return found


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Workers that never finish a document; the event is set when one starts and cleared when it is stopped."""
    taken = threading.Event()

    async def slow(kit: Any, job: Any) -> None:
        taken.set()
        try:
            await asyncio.sleep(60)
        finally:
            taken.clear()

    monkeypatch.setattr(worker, "ingest", slow)
    return taken


def test_a_job_says_what_it_is_about_and_what_it_waits_for(client: httpx2.Client, folder: str) -> None:
    job = held(client, "a.md", folder)
    assert set(job) == {
        "id",
        "document_id",
        "name",
        "folder",
        "version",
        "state",
        "stage",
        "progress",
        "priority",
        "attempts",
        "error",
        "worker",
        "created_at",
        "started_at",
        "not_before",
        "remaining_s",
    }
    assert (job["state"], job["progress"], job["attempts"], job["error"]) == ("held", 0, 0, None)
    assert job["created_at"].endswith("Z")
    answer = client.get("/api/v1/jobs").json()
    assert answer["summary"]["held"] >= 1
    assert set(answer["summary"]) == {
        "running",
        "waiting",
        "held",
        "stalled",
        "documents_per_s",
        "passages_per_s",
        "remaining_s",
    }


def test_jobs_can_be_listed_by_state_and_are_known_for_a_while_after_their_end(
    client: httpx2.Client, folder: str
) -> None:
    waiting = held(client, "a.md", folder)
    assert waiting["id"] in [job["id"] for job in client.get("/api/v1/jobs", params={"state": "held"}).json()["items"]]
    assert client.get("/api/v1/jobs", params={"state": "running"}).json()["items"] == []
    client.delete(f"/api/v1/jobs/{waiting['id']}")
    [job, *_] = client.get("/api/v1/jobs", params={"state": "ended", "limit": 1}).json()["items"]
    assert (job["id"], job["name"], job["state"], job["status"]) == (waiting["id"], "a.md", "ended", "error")
    assert job["error"]["code"] == "cancelled"
    assert job["ended_at"].endswith("Z")
    assert_problem(client.get("/api/v1/jobs", params={"state": "lost"}), 422, "invalid")


def test_pages_follow_one_another_without_a_gap(client: httpx2.Client, folder: str) -> None:
    for n in range(5):
        held(client, f"{n}.md", folder)
    found, cursor = list[int](), None
    while True:
        page = client.get("/api/v1/jobs", params={"limit": 2} | ({"cursor": cursor} if cursor else {})).json()
        found += [job["id"] for job in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(found) == len(set(found))
    assert set(found) == {job["id"] for job in listed(client)}
    assert_problem(client.get("/api/v1/jobs", params={"cursor": "nonsense"}), 422, "invalid")


def test_a_waiting_job_is_cancelled_and_its_document_says_so(client: httpx2.Client, folder: str) -> None:
    job = held(client, "a.md", folder)
    answer = client.delete(f"/api/v1/jobs/{job['id']}")
    assert (answer.status_code, answer.json()) == (
        200,
        {
            "id": job["id"],
            "document_id": job["document_id"],
            "name": "a.md",
            "was": "held",
            "serving": False,
            "cancelled": True,
        },
    )
    document = client.get(f"/api/v1/documents/{job['document_id']}").json()
    assert (document["status"], document["error"]["code"]) == ("error", "cancelled")
    assert_problem(client.delete(f"/api/v1/jobs/{job['id']}"), 404, "not_found")
    assert upload(client, "a.md", "The words of a.md.", folder=folder).status_code == 202
    assert [one["status"] for one in completed(client, folder)] == ["completed"]


def test_a_running_job_stops_at_once(client: httpx2.Client, folder: str, stuck: threading.Event) -> None:
    assert upload(client, "a.md", "Old words.", folder=folder).status_code == 202
    assert stuck.wait(10)
    [job] = [one for one in listed(client) if one["folder"] == folder]
    assert (job["state"], job["attempts"], job["priority"]) == ("running", 1, 0)
    assert job["worker"]
    answer = client.delete(f"/api/v1/jobs/{job['id']}").json()
    assert (answer["was"], answer["cancelled"]) == ("running", True)
    assert not stuck.is_set()
    assert [one for one in listed(client) if one["folder"] == folder] == []


def test_the_version_before_stays_served_when_the_next_is_cancelled(
    live_server: LiveServer, client: httpx2.Client, folder: str
) -> None:
    first = live_server.add(folder, a="Herons nest in the reeds.")["a"]
    assert upload(client, "a.md", "Storks nest on chimneys.", folder=folder, start="false").status_code == 202
    [job] = [one for one in listed(client) if one["folder"] == folder]
    assert client.delete(f"/api/v1/jobs/{job['id']}").json()["serving"] is True
    document = client.get(f"/api/v1/documents/{first['id']}").json()
    assert (document["error"]["code"], document["chunks"]) == ("cancelled", first["chunks"])
    found = client.post("/api/v1/search", json={"query": "herons reeds", "folder": folder}).json()["results"]
    assert "Herons nest" in found[0]["text"]


def test_a_job_of_another_user_is_not_found(live_server: LiveServer, client: httpx2.Client, folder: str) -> None:
    job = held(client, "a.md", folder)
    with live_server.stranger() as stranger:
        assert listed(stranger) == []
        assert_problem(stranger.delete(f"/api/v1/jobs/{job['id']}"), 404, "not_found")
    assert_problem(client.delete("/api/v1/jobs/nonsense"), 404, "not_found")
    assert_problem(client.delete(f"/api/v1/jobs/{'9' * 30}"), 404, "not_found")


def test_a_reader_may_look_but_not_cancel(client: httpx2.Client, reader: httpx2.Client, folder: str) -> None:
    job = held(client, "a.md", folder)
    assert job["id"] in [one["id"] for one in listed(reader)]
    assert_problem(reader.delete(f"/api/v1/jobs/{job['id']}"), 403, "not_allowed")


@contextmanager
def following(client: httpx2.Client) -> Iterator[Iterator[tuple[str, dict[str, Any]]]]:
    """The events of the queue, one by one, as they come."""
    with client.stream("GET", "/api/v1/jobs/events") as response:
        assert response.headers["content-type"].startswith("text/event-stream")

        def each() -> Iterator[tuple[str, dict[str, Any]]]:
            name = ""
            for line in response.iter_lines():
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    yield name, json.loads(line.removeprefix("data: "))

        yield each()


def test_a_follower_gets_a_snapshot_then_changes(client: httpx2.Client, folder: str) -> None:
    before = held(client, "before.md", folder)
    with following(client) as events:
        name, snapshot = next(events)
        assert name == "snapshot"
        assert before["id"] in [job["id"] for job in snapshot["items"]]
        after = held(client, "after.md", folder)
        name, told = next((name, told) for name, told in events if told.get("id") == after["id"])
        assert (name, told["state"]) == ("job", "held")
        client.delete(f"/api/v1/jobs/{before['id']}")
        name, told = next((name, told) for name, told in events if told.get("id") == before["id"])
        assert (name, told["status"], told["error"]["code"]) == ("ended", "error", "cancelled")
        client.post("/api/v1/documents/start", json={"document_ids": [after["document_id"]]})
        ended = next(told for name, told in events if name == "ended" and told["id"] == after["id"])
        assert ended["status"] == "completed"


def test_a_disconnect_ends_following(
    live_server: LiveServer, client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    going, real = list[int](), jobs.follow

    async def counted(*arguments: Any, **options: Any) -> Any:
        going.append(1)
        try:
            async for told in real(*arguments, **options):
                yield told
        finally:
            going.pop()

    monkeypatch.setattr(jobs, "follow", counted)
    with following(client) as events:
        next(events)
        assert going == [1]
    deadline = time.monotonic() + 10
    while going and time.monotonic() < deadline:
        time.sleep(0.02)
    assert going == []


def test_a_silent_queue_is_kept_alive(live_server: LiveServer) -> None:
    from pincite.core.accounts.access import LOCAL

    async def heard() -> list[Any]:
        events = jobs.follow(live_server.pincite, LOCAL, every_s=0.01, silence_s=0.03)
        found = [await anext(events), await anext(events), await anext(events)]
        await events.aclose()
        return found

    first, *rest = live_server.do(heard())
    assert first.event == "snapshot"
    assert None in rest


def test_one_upload_does_not_wait_for_a_bulk_upload(postgres: str, database_url: str, data: Path) -> None:
    """A hundred files of a folder wait; what a person uploads then is done next."""
    with LiveServer(data, **{"database.url": database_url, "ingest.workers": 0}) as quiet, quiet.client() as client:
        for n in range(100):
            quiet.do(quiet.pincite.documents.upload(_file(f"{n:03}.md"), priority=1))
        assert upload(client, "mine.md", "Somebody waits for this.").status_code == 202
        first = listed(client)[0]
        assert (first["name"], first["priority"]) == ("mine.md", 0)
        taken = quiet.do(quiet.pincite.services.jobs.claim("w", 60))
        assert taken is not None
        assert taken.document_id == first["document_id"]
        with psycopg.connect(database_url) as connection:
            assert connection.execute("select count(*) from pincite.job").fetchone() == (101,)


def _file(name: str) -> Any:
    from pincite.core.documents.document import Upload

    return Upload(name, f"Words of {name}.".encode())
