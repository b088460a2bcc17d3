"""Fuzzing of every route: the service always answers, and text is never executed as a command."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.api.live_server import LiveServer
from tests.hostile.fuzzing import API, broken, operations

EXAMPLES = 3
COMMANDS = [
    "' OR '1'='1",
    "'; drop table pincite.document; --",
    '" or ""="',
    "1); select pg_sleep(5); --",
    "%' --",
    "\\",
    "\\'",
    "%",
    "_",
    "*",
    "a*",
    "-a",
    "NEAR(a b)",
    "a & b | !c",
    "a <-> b",
    ":*",
    "title:x",
    "(",
    ")",
    "((",
    '"',
    '"a',
    "$1",
    "%s",
    "{0}",
    '{"a": 1}',
    "$.a[*]",
    "$$",
    "@@",
    "||",
    "AND",
    "OR NOT",
    "a AND",
    "\0",
    "\ud800",
    "\u202e",
    "🏖️",
    "union select null",
    "admin'--",
    "/* */",
    "\x1b[31m",
    "\r\nX-Evil: 1",
    "../../etc/passwd",
]
TEXTS = st.lists(st.sampled_from(COMMANDS) | st.text(max_size=10), min_size=1, max_size=4).map(" ".join)
PLENTY = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def fuzzed(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with LiveServer(tmp_path_factory.mktemp("fuzz") / "data", **{"database.url": module_database_url}) as door:
        door.add("real", leave="# Leave\n\nFive vacation days carry over.\n")
        yield door


@pytest.fixture(scope="module")
def client(fuzzed: LiveServer) -> Iterator[httpx2.Client]:
    with fuzzed.client() as made:
        yield made


def sent(client: httpx2.Client, path: str, body: Any) -> httpx2.Response:
    """Post a JSON body, also with characters that the client library would refuse."""
    return client.post(f"{API}{path}", content=json.dumps(body), headers={"content-type": "application/json"})


def test_no_generated_request_breaks_a_route(fuzzed: LiveServer) -> None:
    wrong: list[str] = []
    asked = 0
    for operation in operations(fuzzed.url):
        asked += 1
        wrong += broken(operation, fuzzed.url, fuzzed.keys["administrator"], EXAMPLES)
    assert asked > 60
    assert wrong == []
    with fuzzed.client() as alive:
        assert alive.get(f"{API}/health/ready").status_code == 200


@given(TEXTS, st.sampled_from(["hybrid", "lexical_only", "fusion", "two_stage", "hierarchical"]))
@PLENTY
def test_operators_in_a_question_are_plain_words(client: httpx2.Client, text: str, strategy: str) -> None:
    response = sent(client, "/search", {"query": text, "strategy": strategy})
    assert response.status_code in (200, 422), response.text
    combined = sent(client, "/search", {"query": f"vacation {text}", "strategy": strategy})
    assert combined.status_code in (200, 422), combined.text


@given(TEXTS)
@PLENTY
def test_a_filter_that_looks_like_a_command_matches_nothing(client: httpx2.Client, text: str) -> None:
    for filters in ({"folder": f"x{text}"}, {"document_ids": [text]}, {"tags": [f"x{text}"]}):
        response = sent(client, "/search", {"query": "vacation days", **filters})
        assert response.status_code in ((404, 422) if "folder" in filters else (200, 422)), response.text
        if response.status_code == 200:
            assert response.json()["results"] == []


@given(TEXTS)
@PLENTY
def test_listings_accept_any_text(client: httpx2.Client, text: str) -> None:
    plain = text.encode("utf-8", "replace").decode()
    for path, name in (
        ("/documents", "q"),
        ("/documents", "tag"),
        ("/documents", "cursor"),
        ("/sessions", "q"),
        ("/traces", "cursor"),
    ):
        response = client.get(f"{API}{path}", params={name: plain})
        assert response.status_code in (200, 400 if "\0" in plain else 422, 422), response.text


@pytest.mark.parametrize("depth", [100, 5_000, 100_000])
def test_deeply_nested_json_is_refused(client: httpx2.Client, depth: int) -> None:
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        text = f'{{"query": {opening * depth}1{closing * depth}}}'
        response = client.post(f"{API}/search", content=text, headers={"content-type": "application/json"})
        assert 400 <= response.status_code < 500, response.text
