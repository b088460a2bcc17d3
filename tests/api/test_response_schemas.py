"""The OpenAPI description has a schema for every response, and real responses follow it."""

from typing import Any

import httpx2
import jsonschema
import pytest

from pincite.api.paths import API
from pincite.api.response_schemas import RESPONSES, operation_name
from pincite.serialize.schemas.responses import ObjectJson
from tests.api.live_server import LiveServer
from tests.api.schema_check import check_response, operation_of

LEAVE = "# Leave\n\n## Carrying over\n\nUp to five vacation days carry over into the next year.\n"
QUESTION = "How many vacation days carry over?"


@pytest.fixture(scope="module")
def document(live_server: LiveServer) -> dict[str, Any]:
    return live_server.add("schemas", leave=LEAVE)["leave"]


@pytest.fixture(scope="module")
def described(live_server: LiveServer) -> dict[str, Any]:
    with live_server.client() as client:
        return dict(client.get(f"{API}/openapi.json").json())


def test_every_operation_has_its_response_in_the_table(described: dict[str, Any]) -> None:
    found = {operation_name(method, path) for path, methods in described["paths"].items() for method in methods}
    assert found == set(RESPONSES), "add new routes to pincite/api/response_schemas.py"


def test_every_reference_leads_to_a_schema(described: dict[str, Any]) -> None:
    def references(value: Any) -> set[str]:
        if isinstance(value, dict):
            own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
            return own.union(*(references(one) for one in value.values()))
        return set().union(*(references(one) for one in value)) if isinstance(value, list) else set()

    known = {f"#/components/schemas/{name}" for name in described["components"]["schemas"]}
    assert references(described) <= known


def check(described: dict[str, Any], response: httpx2.Response, method: str, path: str) -> None:
    responses = described["paths"][path][method.lower()]["responses"]
    assert str(response.status_code) in responses, (path, response.status_code, response.text[:300])
    schema = responses[str(response.status_code)]["content"]["application/json"]["schema"]
    whole = {**schema, "components": described["components"]}
    jsonschema.validate(response.json(), whole)


CALLS: list[tuple[str, str, Any]] = [
    ("POST", "/search", {"query": QUESTION, "explain": True}),
    ("POST", "/query-many", {"queries": [QUESTION, "leave"]}),
    ("POST", "/query", {"query": QUESTION, "folder": "schemas"}),
    ("POST", "/query", {"query": QUESTION, "mode": "agent"}),
    ("POST", "/chat", {"message": QUESTION}),
    ("POST", "/documents/read", {"doc_id": "{document_id}"}),
    ("POST", "/embedding", {"input": ["x"]}),
    ("POST", "/groups", {"name": "schemas staff"}),
    ("POST", "/keys", {"name": "schemas key"}),
    ("POST", "/providers/test", None),
    ("POST", "/audit/verify", {}),
    ("POST", "/v1/chat/completions", {"messages": [{"role": "user", "content": QUESTION}]}),
    ("POST", "/v1/responses", {"input": QUESTION}),
    ("POST", "/v1/embeddings", {"input": "x"}),
    ("POST", "/api/query", {"query": QUESTION}),
    *(
        ("GET", name.removeprefix("GET "), None)
        for name, (status, kind) in RESPONSES.items()
        if name.startswith("GET ")
        and status == 200
        and not isinstance(kind, str)
        and name.count("{") == 0
        and name != "GET /graph/path"  # it needs a query
    ),
    *(("GET", f"/documents/{{document_id}}{part}", None) for part in ("", "/versions", "/chunks")),
]


@pytest.mark.parametrize(("method", "path", "body"), CALLS, ids=[f"{method} {path}" for method, path, _ in CALLS])
def test_real_responses_follow_the_schema(
    client: httpx2.Client, described: dict[str, Any], document: dict[str, Any], method: str, path: str, body: Any
) -> None:
    whole = path if path.startswith(("/v1/", "/api/")) else f"{API}{path}"
    if isinstance(body, dict) and "doc_id" in body:
        body = {"doc_id": document["id"]}
    response = client.request(method, whole.replace("{document_id}", document["id"]), json=body)
    check(described, response, method, whole)


def test_only_messages_of_other_protocols_have_no_form() -> None:
    loose = {name for name, (_, kind) in RESPONSES.items() if kind is ObjectJson}
    assert loose == {"POST /vectorstore/query-many", "POST /mcp"}


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("GET", "/api/v1/documents/abc/pages/3", "GET /documents/{document_id}/pages/{number}"),
        ("GET", "/api/v1/settings/history", "GET /settings/history"),
        ("GET", "/v1/models/pincite", "GET /v1/models/{model_id}"),
        ("GET", "/api/v1/nothing", None),
    ],
)
def test_a_response_is_compared_with_the_schema_of_its_operation(method: str, path: str, name: str | None) -> None:
    assert operation_of(method, path) == name


def test_a_response_of_another_form_is_noticed() -> None:
    request = httpx2.Request("GET", f"http://x{API}/graph/entities")
    check_response(httpx2.Response(200, json={"items": [], "build": "off"}, request=request))
    with pytest.raises(AssertionError, match="build"):
        check_response(httpx2.Response(200, json={"items": []}, request=request))


def test_an_error_is_a_problem_of_the_schema(client: httpx2.Client, described: dict[str, Any]) -> None:
    wrong = client.get(f"{API}/documents/nosuchdocument00")
    schema = described["paths"][f"{API}/documents/{{document_id}}"]["get"]["responses"]["default"]["content"]
    jsonschema.validate(
        wrong.json(), {**schema["application/problem+json"]["schema"], "components": described["components"]}
    )
