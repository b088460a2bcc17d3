"""The audit log over HTTP."""

from collections.abc import Iterator

import httpx2
import psycopg
import pytest

from tests.api.live_server import LiveServer, assert_problem, completed, upload

API = "/api/v1"
PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def own(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A server whose log these tests alone write."""
    with LiveServer(tmp_path_factory.mktemp("audit") / "data", **{"database.url": module_database_url}) as live_server:
        yield live_server


def told(boss: httpx2.Client, event: str, **more: str) -> list[dict[str, object]]:
    items: list[dict[str, object]] = boss.get(f"{API}/audit", params={"event": event, **more}).json()["items"]
    return items


def test_every_kind_of_change_is_audited_with_user_and_address(own: LiveServer) -> None:
    with own.client() as boss:
        boss.post(f"{API}/users", json={"name": "anna", "role": "editor", "password": PASSWORD})
        boss.patch(f"{API}/users/anna", json={"role": "reader"})
        boss.patch(f"{API}/users/anna", json={"suspended": True})
        boss.patch(f"{API}/users/anna", json={"suspended": False})
        boss.post(f"{API}/groups", json={"name": "staff", "members": ["anna"]})
        boss.delete(f"{API}/groups/staff/members/anna")
        boss.delete(f"{API}/groups/staff")
        made = boss.post(f"{API}/keys", json={"name": "k", "user": "anna"}).json()
        boss.delete(f"{API}/keys/{made['id']}")
        boss.put(f"{API}/settings", json={"rag.top_k": 7})
        boss.post(f"{API}/settings/undo")
        upload(boss, "a.md", "# Quokka\n\nsecretword", folder="audited")
        [document] = completed(boss, "audited")
        boss.patch(f"{API}/documents/{document['id']}", json={"title": "Quokkas"})
        boss.patch(f"{API}/documents/{document['id']}", json={"access": {"users": ["anna"]}})
        boss.patch(f"{API}/folders", json={"path": "audited", "access": {"everyone": True}})
        boss.patch(f"{API}/folders", json={"path": "audited", "new_path": "moved"})
        boss.delete(f"{API}/documents/{document['id']}")
        boss.delete(f"{API}/users/anna")
        listed = boss.get(f"{API}/audit", params={"limit": 1000})
        events = listed.json()["items"][::-1]
        first = next(n for n, one in enumerate(events) if one["event"] == "user.add")
        assert [one["event"] for one in events[first:]] == [
            "user.add",
            "password.change",
            "user.role",
            "user.suspend",
            "user.resume",
            "group.add",
            "group.join",
            "group.leave",
            "group.remove",
            "key.create",
            "key.revoke",
            "settings.set",
            "settings.undo",
            "document.add",
            "document.change",
            "document.share",
            "folder.share",
            "folder.move",
            "document.remove",
            "user.remove",
        ]
        key = events[first]["key_id"]
        assert key
        for one in events[first:]:
            assert (one["person"], one["address"], one["key_id"], one["outcome"]) == ("local", "127.0.0.1", key, "done")
            assert one["request_id"]
        shared = told(boss, "document.share")[0]
        assert (shared["subject"], shared["details"]) == (f"document:{document['id']}", {"readers": ["user:anna"]})
        assert told(boss, "settings.set")[0]["details"] == {"keys": ["rag.top_k"], "profile": None}
        for never in ("secretword", "Quokka", PASSWORD, made["key"]):
            assert never not in listed.text


def test_logins_are_audited_without_passwords(own: LiveServer) -> None:
    with own.client() as boss, httpx2.Client(base_url=own.url, headers={"Origin": own.url}) as browser:
        boss.post(f"{API}/users", json={"name": "bert", "password": PASSWORD})
        name = {"name": "bert", "password": PASSWORD}
        assert browser.post(f"{API}/auth/login", json=name).status_code == 200
        browser.post(f"{API}/me/password", json={"old_password": "typed wrong", "new_password": PASSWORD + "!"})
        browser.post(f"{API}/auth/logout")
        assert browser.post(f"{API}/auth/login", json={"name": "my-password", "password": "bert"}).status_code == 401
        for _ in range(5):
            browser.post(f"{API}/auth/login", json=name | {"password": "typed wrong"})
        for _ in range(3):
            assert browser.post(f"{API}/auth/login", json=name).status_code == 429
        listed = boss.get(f"{API}/audit", params={"limit": 1000})
        logins = [(one["person"], one["subject"], one["outcome"]) for one in told(boss, "login")][::-1]
        assert logins == [
            ("bert", "user:bert", "done"),
            (None, None, "failed"),
            *[(None, "user:bert", "failed")] * 5,
            (None, "user:bert", "refused"),
        ]
        assert [one["person"] for one in told(boss, "logout")] == ["bert"]
        assert told(boss, "password.change", person="bert")[0]["outcome"] == "failed"
        for never in ("typed wrong", "my-password", PASSWORD):
            assert never not in listed.text


def test_a_row_that_was_edited_fails_the_check(own: LiveServer, module_database_url: str) -> None:
    with own.client() as boss:
        held = boss.post(f"{API}/audit/verify").json()
        assert (held["ok"], held["fault"]) == (True, None)
        assert held["head"].startswith(f"{held['events']}:")
        assert boss.post(f"{API}/audit/verify", json={"head": held["head"]}).json()["ok"] is True
        assert_problem(boss.post(f"{API}/audit/verify", json={"head": "nonsense"}), 422, "invalid")
        with psycopg.connect(module_database_url, autocommit=True) as owner:
            owner.execute("set row_security = off")
            edit = "update pincite.audit_event set content = replace(content, %s, %s) where number = 3"
            owner.execute(edit, ('"local"', '"nobod"'))
            broken = boss.post(f"{API}/audit/verify").json()
            assert (broken["ok"], broken["events"]) == (False, 2)
            assert "event 3 was changed" in broken["fault"]
            owner.execute(edit, ('"nobod"', '"local"'))
        assert boss.post(f"{API}/audit/verify").json()["ok"] is True


def test_pages_follow_each_other(own: LiveServer) -> None:
    with own.client() as boss:
        first = boss.get(f"{API}/audit", params={"limit": 2}).json()
        second = boss.get(f"{API}/audit", params={"limit": 2, "cursor": first["next_cursor"]}).json()
        numbers = [one["number"] for one in (*first["items"], *second["items"])]
        assert numbers == list(range(numbers[0], numbers[0] - 4, -1))
        assert_problem(boss.get(f"{API}/audit", params={"cursor": "x"}), 422, "invalid")


@pytest.mark.parametrize("role", ["reader", "editor"])
def test_other_roles_cannot_read_the_audit_log(own: LiveServer, role: str) -> None:
    with own.client(role) as client:  # type: ignore[arg-type]
        assert_problem(client.get(f"{API}/audit"), 403, "not_allowed")
        assert_problem(client.post(f"{API}/audit/verify"), 403, "not_allowed")
