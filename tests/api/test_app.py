"""The application: public routes, OpenAPI description, declared permissions."""

import re

import httpx2
import pytest
from fastapi import APIRouter
from fastapi.routing import APIRoute

from pincite.api import app
from pincite.api.app import ROUTERS, make_app
from pincite.api.dependencies import required_permission
from pincite.api.middleware.authenticate import is_public
from pincite.api.routes import evaluations
from pincite.core.accounts.access import Role
from pincite.core.evaluations import Evaluation
from pincite.engine.app import AsyncPincite
from tests.api.live_server import LiveServer, assert_problem

ROUTES = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]
GUARDED = [(method, route) for route in ROUTES if not is_public(route.path) for method in sorted(route.methods)]
HOSTILE = ["%00", "..%2f..%2fetc%2fpasswd", "a" * 5000, "%ff%fe", "'%20or%201=1--", "%0d%0aX-Evil:1", "%F0%9F%98%80"]
BODIES = [
    b"",
    b"null",
    b"[]",
    b"7",
    b"{",
    b"{}",
    b"\xff\xfe\x00",
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b'{"query": NaN}',
    b'{"query": "\\ud800"}',
    b'{"query": 1e999}',
    b'{"query": ' + b"9" * 5000 + b"}",
    b'{"query": {"query": {}}}',
    b'{"queries": ["a", null]}',
    b'{"document_ids": ["a\\u0000b"]}',
    b'{"doc_id": "a\\u0000b"}',
    b'{"query": "x", "folder": "a\\u0000b"}',
    b'{"query": "x", "folder": "../.."}',
    b'{"input": [""]}',
    b'{"source_uri": "\\u0000"}',
    b'{"name": "a\\u0000b"}',
    b'{"name": "n", "expires_days": 99999999999999999999}',
    b'{"query": "x", "document_ids": []}',
    b'{"query": "\\u0000"}',
    b'{"__proto__": 1}',
    b'{"\\ud800": 1}',
    b'{"document_ids": ["\\ud800"]}',
    b'{"query": "x", "document_ids": ["\\ud800"]}',
    b'{"doc_id": "\\udfff"}',
    b'{"source_uri": "\\udfff"}',
    b'{"input": "\\ud800"}',
    b'{"queries": ["\\ud800"]}',
    b'{"message": "\\ud800"}',
    b'{"messages": [{"role": "user", "content": "\\ud800"}]}',
    b'{"messages": [null]}',
    b'{"message": "x", "session_id": "a\\u0000b"}',
    b'{"message": "\\u0000"}',
    b'{"messages": {"role": "user"}}',
]


def path_of(route: APIRoute, value: str = "x") -> str:
    return re.sub(r"{\w+}", value, route.path_format)


def assert_refused(response: httpx2.Response, status: int, code: str) -> None:
    """A problem, or what stands for one where clients of OpenAI's API come in."""
    if response.url.path.startswith("/v1/"):
        assert (response.status_code, response.json()["error"]["code"]) == (status, code)
    else:
        assert_problem(response, status, code)


def test_a_route_without_permission_prevents_the_application(
    live_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    forgotten = APIRouter()
    forgotten.add_api_route("/api/v1/forgotten", lambda: None)
    forgotten.add_api_websocket_route("/api/v1/socket", lambda: None)
    monkeypatch.setattr(app, "ROUTERS", [*ROUTERS, forgotten])
    with pytest.raises(RuntimeError, match="/api/v1/forgotten, /api/v1/socket"):
        make_app(live_server.pincite)


@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer pc_wrong"}, {"Authorization": "Basic dTpw"}, {"X-Api-Key": "x"}], ids=str
)
def test_every_other_route_needs_a_key(anyone: httpx2.Client, headers: dict[str, str]) -> None:
    for method, route in GUARDED:
        response = anyone.request(method, path_of(route), headers=headers)
        assert_refused(response, 401, "unauthorized")
        assert response.headers["www-authenticate"] == "Bearer", (method, route.path)


@pytest.mark.parametrize(
    ("role", "allowed"),
    [
        ("reader", {"read"}),
        ("editor", {"read", "write"}),
        ("administrator", {"read", "write", "administer", "measure"}),
    ],
)
def test_every_route_asks_for_the_right_it_declares(live_server: LiveServer, role: Role, allowed: set[str]) -> None:
    with live_server.client(role) as client:
        for method, route in GUARDED:
            response = _opened(client, method, route)
            if required_permission(route) in allowed:
                expected = (200, 201, 202, 404, 409, 422, 426) if route.path != "/mcp" else (400, 406)
                expected = (*expected, 400) if route.path.startswith("/v1/") else expected
                assert response.status_code in expected, (method, route.path, response.text)
            else:
                assert_problem(response, 403, "not_allowed")


def _opened(client: httpx2.Client, method: str, route: APIRoute) -> httpx2.Response:
    with client.stream(method, path_of(route), json={} if method == "POST" else None) as response:
        if not response.headers["content-type"].startswith("text/event-stream"):  # those end when one leaves
            response.read()
    return response


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_addresses_are_refused_plainly(client: httpx2.Client, value: str) -> None:
    for method, route in GUARDED:
        address = path_of(route, value) + f"?q={value}&cursor={value}&version={value}"
        with client.stream(method, address) as response:
            assert response.status_code < 500, (method, route.path)
            assert "x-evil" not in response.headers


@pytest.fixture
def no_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    """End evaluations as soon as they begin: every second of these requests would ask a set of questions."""

    async def end(pincite: AsyncPincite, run: Evaluation, *_: object) -> None:
        await pincite.questions.evaluations.fail(await pincite.scope(), run.id, "not run")

    monkeypatch.setattr(evaluations, "_run", end)


@pytest.mark.usefixtures("no_evaluation")
@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
def test_hostile_bodies_are_refused_plainly(client: httpx2.Client, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    for method, route in GUARDED:
        if method == "POST" and not route.path.endswith("/keys"):
            response = client.post(path_of(route), content=body, headers=headers)
            assert response.status_code < 500, (route.path, response.text)


def test_the_description_is_open_and_names_every_route(anyone: httpx2.Client) -> None:
    described = anyone.get("/api/v1/openapi.json").json()
    assert set(described["paths"]) == {route.path_format for route in ROUTES if route.include_in_schema}
    query = described["paths"]["/api/v1/query"]["post"]
    assert query["security"] == [{"key": []}]
    assert "422" not in query["responses"]  # no promise of the framework's own error shape
    form = described["paths"]["/api/v1/documents/upload"]["post"]["requestBody"]["content"]["multipart/form-data"]
    assert form["schema"]["required"] == ["file"]


@pytest.mark.parametrize("path", ["/redoc", "/nowhere", "/api/v1/documents/", "/api/v1//documents"])
def test_other_paths_are_not_found(client: httpx2.Client, path: str) -> None:
    assert_problem(client.get(path), 404, "not_found")


def test_a_wrong_method_lists_the_allowed_ones(client: httpx2.Client) -> None:
    response = client.put("/api/v1/search")
    assert_problem(response, 405, "method_not_allowed")
    assert response.headers["allow"] == "POST"


def test_there_is_no_cors(client: httpx2.Client) -> None:
    response = client.get("/api/v1/documents", headers={"Origin": "https://evil.example"})
    assert not [name for name in response.headers if name.startswith("access-control")]
