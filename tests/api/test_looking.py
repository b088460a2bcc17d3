"""Administrators reading as another user: off by default, audited, read-only."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import psycopg
import pytest

from pincite.core.request_context import read_only
from tests.api.live_server import LiveServer, assert_problem, completed, upload

API = "/api/v1"
SECRET = "numbatsecret"


@dataclass
class Theirs:
    """Somebody with things of their own, on a server where administrators may look, or may not."""

    live_server: LiveServer
    client: httpx2.Client
    own: dict[str, str]

    def look(self, path: str, **params: Any) -> httpx2.Response:
        with self.live_server.client() as boss:
            return boss.get(f"{API}{path.format(**self.own)}", params={"owner": "anna", **params})


def filled(live_server: LiveServer) -> Theirs:
    with live_server.client() as boss:
        boss.post(f"{API}/users", json={"name": "anna", "role": "editor"})
        key = boss.post(f"{API}/keys", json={"name": "k", "user": "anna", "role": "editor"}).json()["key"]
    client = httpx2.Client(base_url=live_server.url, headers={"Authorization": f"Bearer {key}"}, timeout=300)
    upload(client, "secret.md", f"# Secret\n\nThe {SECRET} lives in {SECRET}.\n", folder="private")
    [document] = completed(client, "private")
    answer = client.post(f"{API}/chat", json={"message": f"Where does the {SECRET} live?", "folder": "private"}).json()
    own = {"document": document["id"], "session": answer["session_id"], "trace": answer["metadata"]["trace_id"]}
    return Theirs(live_server, client, own)


@pytest.fixture(scope="module")
def theirs(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theirs]:
    settings = {"database.url": module_database_url, "access.administrators_read": True, "traces.content": True}
    with LiveServer(tmp_path_factory.mktemp("looking") / "data", **settings) as live_server:
        found = filled(live_server)
        yield found
        found.client.close()


PATHS = [
    "/documents",
    "/documents/{document}",
    "/documents/{document}/chunks",
    "/documents/{document}/file",
    "/documents/{document}/versions",
    "/sessions",
    "/sessions/{session}",
    "/traces",
    "/traces/{trace}",
]


@pytest.mark.parametrize("path", PATHS)
def test_an_allowed_read_as_owner_shows_the_owners_view_and_is_audited(theirs: Theirs, path: str) -> None:
    seen = theirs.look(path)
    assert seen.status_code == 200, seen.text
    assert seen.content == theirs.client.get(f"{API}{path.format(**theirs.own)}").content
    with theirs.live_server.client() as boss:
        newest = boss.get(f"{API}/audit", params={"limit": 1}).json()["items"][0]
        assert (newest["event"], newest["person"], newest["subject"]) == ("content.read", "local", "user:anna")
        assert newest["details"] == {"at": path.format(**theirs.own)}


def test_without_owner_an_administrator_sees_only_own_data(theirs: Theirs) -> None:
    with theirs.live_server.client() as boss:
        for path in PATHS:
            if not path.startswith("/traces"):
                assert SECRET not in boss.get(f"{API}{path.format(**theirs.own)}").text
        assert boss.post(f"{API}/search", json={"query": SECRET}).json()["results"] == []


def test_other_roles_cannot_read_as_owner(theirs: Theirs) -> None:
    with theirs.live_server.client("editor") as editor:
        for path in PATHS:
            refused = editor.get(f"{API}{path.format(**theirs.own)}", params={"owner": "anna"})
            assert_problem(refused, 403, "not_allowed")
    assert_problem(theirs.client.get(f"{API}/documents", params={"owner": "local"}), 403, "not_allowed")


def test_data_of_a_suspended_user_can_be_read_as_owner_only(theirs: Theirs) -> None:
    with theirs.live_server.client() as boss:
        boss.patch(f"{API}/users/anna", json={"suspended": True})
        assert SECRET in theirs.look("/documents/{document}/chunks").text
        boss.patch(f"{API}/users/anna", json={"suspended": False})
        assert_problem(boss.get(f"{API}/documents", params={"owner": "nobody"}), 404, "not_found")


def test_reading_as_owner_is_read_only_in_the_database(theirs: Theirs) -> None:
    async def write() -> None:
        read_only.set(True)
        async with theirs.live_server.pincite.services.database.transaction("anna") as connection:
            await connection.execute("delete from session")

    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        theirs.live_server.do(write())
    assert theirs.client.get(f"{API}/sessions/{theirs.own['session']}").status_code == 200


def test_administrators_see_traces_of_others_without_text(theirs: Theirs) -> None:
    with theirs.live_server.client() as boss:
        items = boss.get(f"{API}/traces", params={"limit": 1000}).json()["items"]
        [listed] = [one for one in items if one["id"] == theirs.own["trace"]]
        shown = boss.get(f"{API}/traces/{theirs.own['trace']}").json()
        own = theirs.client.get(f"{API}/traces/{theirs.own['trace']}").json()
    assert own["question"] == f"Where does the {SECRET} live?"
    assert own["owner"] == "anna"
    assert shown == own | {"question": None, "content": None, "options": {}}
    assert (listed["owner"], listed["question"], listed["content"]) == ("anna", None, None)
    assert SECRET not in str(shown)
    with theirs.live_server.client("reader") as reader:  # the same person, with a key that is worth less
        assert_problem(reader.get(f"{API}/traces/{theirs.own['trace']}"), 404, "not_found")
        mine = reader.get(f"{API}/traces", params={"limit": 1000}).json()["items"]
        assert {one["owner"] for one in mine} <= {"local"}


def test_reading_as_owner_is_off_by_default_and_cannot_be_enabled_at_runtime(live_server: LiveServer) -> None:
    own = filled(live_server)
    with live_server.client() as boss:
        for path in PATHS:
            assert_problem(own.look(path), 403, "content_closed")
        refused = boss.put(f"{API}/settings", json={"access.administrators_read": True})
        assert "by the owner of this machine only" in assert_problem(refused, 422, "invalid")["detail"]
        assert boss.get(f"{API}/audit", params={"event": "content"}).json()["items"] == []
    own.client.close()
