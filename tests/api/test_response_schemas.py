"""The OpenAPI description has a schema for every response, and real responses follow it."""

from typing import Any

import httpx2
import jsonschema
import pytest

from pincite.api.paths import API
from pincite.api.response_schemas import RESPONSES, operation_name
from tests.api.live_server import LiveServer

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
        and not name.startswith("GET /graph/")  # these need a query
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


def test_an_error_is_a_problem_of_the_schema(client: httpx2.Client, described: dict[str, Any]) -> None:
    wrong = client.get(f"{API}/documents/nosuchdocument00")
    schema = described["paths"][f"{API}/documents/{{document_id}}"]["get"]["responses"]["default"]["content"]
    jsonschema.validate(
        wrong.json(), {**schema["application/problem+json"]["schema"], "components": described["components"]}
    )
