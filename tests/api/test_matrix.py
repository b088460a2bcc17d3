"""Every route for every kind of caller, on own and foreign data; an unlisted route fails."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest
from fastapi.routing import APIRoute, APIWebSocketRoute

from pincite.api.app import ROUTERS
from pincite.api.dependencies import required_permission
from pincite.api.paths import API
from pincite.api.routes import web_ui
from pincite.core.accounts.access import PERMISSIONS, Role
from tests.api.live_server import LiveServer, completed, upload

MISSING = {
    "document": "nosuchdocument00",
    "job": "999999999",
    "session": "nosession",
    "trace": "notrace",
    "answer": "a_noanswer",
    "share": "noshare",
    "number": "1",
}
SECRET = "quokkasecret"  # stands in the owner's document and nowhere else


@dataclass(frozen=True)
class Row:
    """What a route takes, and a request to it; `{document}` and the like stand for an id."""

    right: str | None
    params: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    form: bool = False
    off: bool = False
    """Whether a setting keeps it shut for everybody."""
    administered: bool = False
    """Whether administrators may do it to what is somebody else's: then they are tried elsewhere."""
    headers: Mapping[str, str] = field(default_factory=dict)
    stream: bool = False
    """Whether it goes on until somebody leaves: then only those who may not come in are tried."""


TABLE = {
    "GET /health/live": Row(None),
    "GET /health/ready": Row(None),
    "GET /health/details": Row("administer"),
    "GET /metrics": Row("measure"),
    "POST /auth/setup": Row(None, body={"token": "x", "name": "x", "password": "long enough it is"}),
    "POST /auth/login": Row(None, body={"name": "nobody", "password": "wrong password"}),
    "GET /auth/ways": Row(None),
    "GET /auth/oidc/login": Row(None),
    "GET /auth/oidc/callback": Row(None),
    "POST /auth/logout": Row("read"),
    "GET /me": Row("read"),
    "GET /me/usage": Row("read"),
    "POST /me/password": Row("read", body={"old_password": "wrong", "new_password": "long enough it is"}),
    "POST /documents/upload": Row("write", form=True),
    "POST /documents/samples": Row("write", body={"folder": "a//b"}),
    "POST /documents/start": Row("write", body={"document_ids": ["{document}"]}),
    "POST /documents/url": Row("write", body={"url": "http://127.0.0.1:1/x"}, off=True),
    "GET /documents": Row("read"),
    "GET /documents/{document_id}": Row("read"),
    "GET /documents/{document_id}/versions": Row("read"),
    "GET /documents/{document_id}/chunks": Row("read"),
    "GET /documents/{document_id}/file": Row("read"),
    "GET /documents/{document_id}/pages/{number}": Row("read"),
    "GET /documents/{document_id}/places": Row("read", params={"start": 0, "end": 1}),
    "GET /documents/{document_id}/diff": Row("read"),
    "PATCH /documents/{document_id}": Row("write", body={"title": "taken", "access": {"everyone": True}}),
    "DELETE /documents/{document_id}": Row("write"),
    "POST /documents/read": Row("read", body={"doc_id": "{document}"}),
    "POST /documents/reindex": Row("write", body={"document_ids": ["{document}"]}),
    "GET /index": Row("administer"),
    "POST /index/compare": Row("administer", body={"set_id": "nosuchset"}),
    "POST /index/switch": Row("administer"),
    "POST /index/rollback": Row("administer"),
    "DELETE /index": Row("administer"),
    "GET /folders": Row("read"),
    "POST /folders": Row("write", body={"path": "matrix/made"}),
    "PATCH /folders": Row("write", body={"path": "matrix-secret", "category_label": "taken"}),
    "DELETE /folders": Row("write", params={"path": "matrix-secret", "recursive": True}),
    "GET /jobs": Row("read"),
    "GET /jobs/events": Row("read", stream=True),
    "DELETE /jobs/{job_id}": Row("write"),
    "POST /search": Row("read", body={"query": SECRET, "document_ids": ["{document}"]}),
    "POST /query-many": Row("read", body={"queries": [SECRET], "document_ids": ["{document}"]}),
    "POST /query": Row("read", body={"query": SECRET, "document_ids": ["{document}"]}),
    "POST /chat": Row("read", body={"message": SECRET, "session_id": "{session}"}),
    "GET /chat/streams/{stream_id}": Row("read"),
    "DELETE /chat/streams/{stream_id}": Row("read"),
    "GET /chat/ws": Row("read"),
    "WS /chat/ws": Row("read", stream=True),
    "GET /suggestions": Row("read"),
    "GET /sessions": Row("read"),
    "DELETE /sessions": Row("read", params={"all": False}),
    "GET /sessions/{session_id}": Row("read"),
    "PATCH /sessions/{session_id}": Row("read", body={"title": "taken"}),
    "DELETE /sessions/{session_id}": Row("read"),
    "GET /shares": Row("read"),
    "POST /shares": Row("read", body={"answer_id": "{answer}"}),
    "GET /feedback": Row("read"),
    "POST /feedback": Row("read", body={"answer_id": "{answer}", "rating": "up"}),
    "GET /shares/{share_id}": Row("read"),
    "DELETE /shares/{share_id}": Row("read", administered=True),
    "POST /embedding": Row("read", body={"input": "x"}),
    "GET /traces": Row("read"),
    "GET /traces/{trace_id}": Row("read"),
    "POST /traces/{trace_id}/replay": Row("read", body={"settings": {}}),
    "POST /evaluations": Row("write", body={"questions": "none"}),
    "GET /evaluations": Row("write"),
    "GET /evaluations/{evaluation_id}": Row("write"),
    "POST /tunings": Row("write", body={"set_id": "none"}),
    "GET /tunings": Row("write"),
    "GET /tunings/{tuning_id}": Row("write"),
    "POST /tunings/{tuning_id}/apply": Row("administer"),
    "GET /evaluation-sets": Row("write"),
    "GET /evaluation-sets/{set_id}": Row("write"),
    "DELETE /evaluation-sets/{set_id}": Row("write"),
    "POST /evaluation-sets": Row("write"),
    "PUT /evaluation-sets/{set_id}/questions": Row("write", body={"text": "x", "chunk_ids": ["{document}.v.0"]}),
    "GET /users": Row("administer"),
    "POST /users": Row("administer", body={"name": ""}),
    "GET /users/{user_id}": Row("administer"),
    "GET /users/{user_id}/usage": Row("administer"),
    "PATCH /users/{user_id}": Row("administer", body={"role": "reader"}),
    "DELETE /users/{user_id}": Row("administer"),
    "GET /groups": Row("administer"),
    "POST /groups": Row("administer", body={"name": ""}),
    "GET /groups/{group_id}": Row("administer"),
    "PUT /groups/{group_id}/members/{user_id}": Row("administer"),
    "DELETE /groups/{group_id}/members/{user_id}": Row("administer"),
    "DELETE /groups/{group_id}": Row("administer"),
    "GET /keys": Row("administer"),
    "POST /keys": Row("administer", body={"name": "x", "user": "nobody here"}),
    "DELETE /keys/{key_id}": Row("administer"),
    "GET /providers/llm": Row("administer"),
    "PUT /providers/llm": Row("administer", body={"provider": "no such provider"}),
    "GET /me/keys": Row("read"),
    "POST /me/keys": Row("read", body={"name": ""}),
    "DELETE /me/keys/{key_id}": Row("read"),
    "GET /audit": Row("administer"),
    "POST /audit/verify": Row("administer"),
    "GET /settings": Row("administer"),
    "PUT /settings": Row("administer", body={"no.such.setting": 1}),
    "GET /settings/schema": Row("administer"),
    "GET /settings/history": Row("administer"),
    "POST /settings/undo": Row("administer"),
    "POST /settings/apply": Row("administer", body={"profile": "nosuch"}),
    "GET /profiles": Row("administer"),
    "GET /profiles/{profile}": Row("administer"),
    "POST /providers/test": Row("administer", body={"model": "nosuch"}),
    "GET /providers/models": Row("administer"),
    "POST /api/query": Row("read", body={"query": SECRET, "documentIds": ["{document}"]}),
    "POST /api/chat": Row("read", body={"message": SECRET, "sessionId": "{session}"}),
    "POST /vectorstore/documents/upload": Row("write", form=True),
    "POST /vectorstore/documents/start": Row("write", body={"docId": "{document}"}),
    "POST /vectorstore/documents/read": Row("read", body={"doc_id": "{document}"}),
    "POST /vectorstore/query-many": Row("read", body={"queries": [SECRET], "documentIds": ["{document}"]}),
    "POST /v1/chat/completions": Row(
        "read", body={"messages": [{"role": "user", "content": f"Where is {SECRET}?"}], "document_ids": ["{document}"]}
    ),
    "GET /v1/models": Row("read"),
    "GET /v1/models/{model_id:path}": Row("read"),
    "POST /v1/embeddings": Row("read", body={"input": "x"}),
    "POST /flows/run": Row(
        "read",
        body={
            "nodes": [{"id": "r", "type": "rag", "document_ids": ["{document}"]}, {"id": "c", "type": "completion"}],
            "edges": [{"from": "r", "to": "c"}],
            "input": f"Where is the {SECRET}?",
        },
    ),
    "GET /graph/entities": Row("read", {"q": "x"}),
    "GET /graph/entities/{entity}": Row("read"),
    "GET /graph/path": Row("read", {"from": "x", "to": "y"}),
    "GET /flows": Row("read"),
    "PUT /flows/{name}": Row("read", body={"nodes": [{"id": "c", "type": "completion"}]}),
    "GET /flows/{name}": Row("read"),
    "GET /flows/{name}/versions": Row("read"),
    "POST /flows/{name}/run": Row("read", body={"input": "x"}),
    "DELETE /flows/{name}": Row("read"),
    "POST /mcp": Row(
        "read",
        body={
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {
                "name": "read_document",
                "arguments": {"doc_id": "{document}"},
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {},
                },
            },
        },
        headers={
            "Accept": "application/json, text/event-stream",
            "Mcp-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": "read_document",
        },
    ),
    "DELETE /mcp": Row("read"),
    "GET /docs": Row(None),
    "GET /docs/docs.js": Row(None),
    "GET /docs/docs.css": Row(None),
    "GET /sources": Row("administer"),
    "POST /sources": Row("administer", body={"kind": "nosuch"}),
    "GET /sources/{source_id}": Row("administer"),
    "POST /sources/{source_id}/sync": Row("administer"),
    "DELETE /sources/{source_id}": Row("administer"),
    "POST /v1/responses": Row("read", body={"input": f"Where is the {SECRET}?", "document_ids": ["{document}"]}),
}
ELSEWHERE = ("/api/", "/v1/", "/mcp", "/docs")
"""How paths begin that are not under `/api/v1`."""
REPEATS = (
    "/search",
    "/query-many",
    "/query",
    "/chat",
    "/vectorstore/query-many",
    "/api/query",
    "/api/chat",
    "/v1/chat/completions",
    "/v1/responses",
    "/flows/run",
)
"""Routes that repeat what they were asked."""
OWN = ("document", "job", "session", "trace", "answer", "share")
"""Ids in paths and bodies that belong to somebody; a share's is its reference, for its link is meant for others."""
CALLERS: dict[str, Role] = {
    "reader": "reader",
    "editor": "editor",
    "other administrator": "administrator",
    "other group": "editor",
}
"""Everybody here is somebody else than the owner, and nothing of the owner's is shared with them."""


def routes() -> Iterator[tuple[str, str | None]]:
    """Every route there is, with the right it declares."""
    for router in ROUTERS:
        for route in router.routes:
            assert isinstance(route, APIRoute | APIWebSocketRoute)
            if route.endpoint in (web_ui.document, web_ui.file):
                continue  # the page's files: tried in test_page.py, open to all, and they hold nothing of anybody's
            for method in sorted(getattr(route, "methods", None) or ["WS"]):
                yield f"{method} {route.path.removeprefix(API)}", required_permission(route)


@dataclass
class World:
    """An owner with things of every kind, and others with nothing."""

    live_server: LiveServer
    own: dict[str, str]
    clients: dict[str, httpx2.Client]

    def ask(self, who: str, name: str, ids: Mapping[str, str]) -> httpx2.Response:
        method, path = name.split(" ", 1)
        row = TABLE[name]
        for kind, value in ids.items():
            path = path.replace(f"{{{kind}_id}}", value).replace(f"{{{kind}}}", value)
        path = path.replace("{", "").replace("}", "")  # ids nobody has
        body = json.loads(_filled(json.dumps(row.body), ids)) if row.body is not None else None
        more: dict[str, Any] = {"files": {"file": ("m.md", "# M")}} if row.form else {"json": body} if body else {}
        address = path if path.startswith(ELSEWHERE) else f"{API}{path}"
        return self.clients[who].request(method, address, params=dict(row.params), headers=dict(row.headers), **more)


def _code(response: httpx2.Response) -> str:
    """What went wrong, in whichever shape it is told."""
    told = response.json()
    return str(told.get("error", told)["code"])


def _filled(text: str, ids: Mapping[str, str]) -> str:
    for kind, value in ids.items():
        text = text.replace(f"{{{kind}}}", value)
    return text


@pytest.fixture(scope="module")
def world(live_server: LiveServer) -> Iterator[World]:
    with live_server.client() as boss:
        keys: dict[str, str] = {}
        roles: dict[str, Role] = {"owner": "editor", **CALLERS, "suspended": "administrator", "group member": "reader"}
        for who, role in roles.items():
            boss.post(f"{API}/users", json={"name": who, "role": role})
            keys[who] = boss.post(f"{API}/keys", json={"name": who, "user": who, "role": role}).json()["key"]
        boss.post(f"{API}/groups", json={"name": "matrix staff", "members": ["group member"]})
        boss.post(f"{API}/groups", json={"name": "matrix others", "members": ["other group"]})
        assert boss.patch(f"{API}/users/suspended", json={"suspended": True}).json()["suspended"] is True
    clients = {
        who: httpx2.Client(base_url=live_server.url, headers={"Authorization": f"Bearer {key}"}, timeout=300)
        for who, key in keys.items()
    }
    clients["anonymous"] = httpx2.Client(base_url=live_server.url, timeout=300)
    owner = clients["owner"]
    upload(owner, "secret.md", f"# {SECRET}\n\nThe {SECRET} lives here.\n", folder="matrix-secret")
    [document] = completed(owner, "matrix-secret")
    upload(owner, "held.md", "# Held", folder="matrix-held", start="false")
    [job] = owner.get(f"{API}/jobs").json()["items"]
    answer = owner.post(f"{API}/chat", json={"message": f"Where does the {SECRET} live?"}).json()
    share = owner.post(f"{API}/shares", json={"answer_id": answer["id"]}).json()
    flow = {"nodes": [{"id": "c", "type": "completion"}], "input": SECRET}
    owner.put(f"{API}/flows/name", json=flow).raise_for_status()  # the others ask for this name
    own = {
        "document": document["id"],
        "job": str(job["id"]),
        "session": answer["session_id"],
        "trace": answer["metadata"]["trace_id"],
        "answer": answer["id"],
        "share": share["reference"],
        "number": "1",
    }
    yield World(live_server, own, clients)
    for client in clients.values():
        client.close()


def test_every_route_is_in_the_table() -> None:
    assert {name: row.right for name, row in TABLE.items()} == dict(routes())


@pytest.mark.parametrize("who", ["anonymous", "suspended"])
def test_unauthenticated_callers_are_refused_everywhere(world: World, who: str) -> None:
    for name in sorted(TABLE):
        if name.startswith("WS") or TABLE[name].right is None:
            continue
        for ids in (world.own, MISSING):
            response = world.ask(who, name, ids)
            assert (name, response.status_code, _code(response)) == (name, 401, "unauthorized")


@pytest.mark.parametrize("who", sorted(CALLERS))
def test_others_act_by_role_and_see_nothing_of_the_owner(world: World, who: str) -> None:
    for name in sorted(TABLE):
        if not TABLE[name].stream:
            _assert_role_is_kept(world, who, name)


def _assert_role_is_kept(world: World, who: str, name: str) -> None:
    row, may = TABLE[name], PERMISSIONS[CALLERS[who]]
    if row.administered and "administer" in may:
        return
    response = world.ask(who, name, world.own)
    assert response.status_code < 500, (name, response.text)
    if row.right is not None and row.right not in may:
        assert (name, response.status_code, _code(response)) == (name, 403, "not_allowed")
        return
    assert (response.status_code == 403) == row.off, name
    if name.removeprefix("POST ") not in REPEATS:
        assert SECRET not in response.text, name
    else:
        assert "lives here" not in response.text, name
    if name == "GET /traces/{trace_id}" and "administer" in may:  # how it went, and not a word of it
        assert (response.json()["owner"], response.json()["content"], response.json()["options"]) == ("owner", None, {})
        return
    if any(f"{{{kind}_id}}" in name or f"{{{kind}}}" in json.dumps(row.body) for kind in OWN):
        missing = world.ask(who, name, MISSING)
        assert response.status_code == missing.status_code, name
        if response.status_code == 404:
            assert _alike(response.text, world.own) == _alike(missing.text, MISSING), name


def _alike(text: str, ids: Mapping[str, str]) -> dict[str, Any]:
    """An answer without what must differ: the ids that were asked for, and the request's own."""
    for kind, value in ids.items():
        text = text.replace(f"'{value}'", kind)
    told: dict[str, Any] = json.loads(text)
    return {name: value for name, value in told.items() if name != "request_id"}


def test_afterwards_the_owners_data_is_unchanged(world: World) -> None:
    owner = world.clients["owner"]
    document = owner.get(f"{API}/documents/{world.own['document']}").json()
    assert (document["title"], document["status"]) == (SECRET, "completed")
    assert document["access"] == {
        "owner": "owner", "users": [], "groups": [], "everyone": False, "roles": [],
    }  # fmt: skip
    assert owner.get(f"{API}/sessions/{world.own['session']}").status_code == 200
    assert owner.get(f"{API}/flows/name").json()["definition"]["input"] == SECRET
    assert world.own["job"] in {str(job["id"]) for job in owner.get(f"{API}/jobs").json()["items"]}
    found = owner.post(f"{API}/search", json={"query": SECRET}).json()["results"]
    assert found[0]["metadata"]["document_id"] == world.own["document"]


def test_the_owner_is_never_refused(world: World) -> None:
    for name in sorted(n for n in TABLE if TABLE[n].right == "read" and n.startswith("GET ") and not TABLE[n].stream):
        response = world.ask("owner", name, world.own)
        assert response.status_code not in (401, 403), name
        assert response.status_code < 500, name
        if any(f"{{{kind}_id}}" in name for kind in OWN) and not name.endswith(("/diff", "/pages/{number}")):
            assert response.status_code == 200, (name, response.text)


def test_a_member_reads_what_is_shared_with_the_group_and_changes_nothing(world: World) -> None:
    owner, member, document = world.clients["owner"], world.clients["group member"], world.own["document"]
    address = f"{API}/documents/{document}"
    assert member.get(address).status_code == 404
    shared = owner.patch(address, json={"access": {"groups": ["matrix staff"]}}).json()
    assert shared["access"]["groups"] == ["matrix staff"]
    assert member.get(address).json()["access"] == {
        "owner": "owner", "users": [], "groups": [], "everyone": False, "roles": [],
    }  # fmt: skip
    found = member.post(f"{API}/search", json={"query": SECRET}).json()["results"]
    assert [hit["metadata"]["document_id"] for hit in found] == [document]
    assert member.patch(address, json={"title": "x"}).status_code == 403  # a reader anyhow
    with world.live_server.client() as boss:
        assert boss.patch(f"{API}/users/group member", json={"role": "editor"}).json()["role"] == "editor"
        editor = boss.post(f"{API}/keys", json={"name": "e", "user": "group member", "role": "editor"}).json()["key"]
    headers = {"Authorization": f"Bearer {editor}"}
    for method, path, body in (
        ("PATCH", address, {"title": "x"}),
        ("PATCH", address, {"access": {"everyone": True}}),
        ("DELETE", address, None),
        ("POST", f"{API}/documents/reindex", {"document_ids": [document]}),
    ):
        refused = world.clients["anonymous"].request(method, path, headers=headers, json=body)
        assert (refused.status_code, refused.json()["code"]) == (403, "not_allowed"), refused.text
    owner.patch(address, json={"access": None})
    assert member.get(address).status_code == 404
    assert member.post(f"{API}/search", json={"query": SECRET}).json()["results"] == []
