"""Fuzzes the API with valid and invalid requests generated from its OpenAPI description."""

from collections.abc import Iterator
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode

API = "/api/v1"
ENDLESS = ("/jobs/events", "/chat/ws")
"""Routes that stream until the client disconnects."""
EXCLUDED = ("/auth/setup", "/index/switch", "/index/rollback")
"""Routes that would change the server under the other requests."""


def operations(url: str) -> Iterator[Any]:
    """The operations of the OpenAPI description."""
    schema = schemathesis.openapi.from_url(f"{url}{API}/openapi.json")
    for found in schema.get_all_operations():
        operation = found.ok()
        if not operation.path.endswith((*ENDLESS, *EXCLUDED)):
            yield operation


def broken(operation: Any, url: str, key: str, examples: int) -> list[str]:
    """Send `examples` requests to one route; return those that were answered with a status of 500 or more."""
    wrong: list[str] = []
    right = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
    odd = operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)

    @seed(7)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.one_of(right, odd))
    def ask(case: Any) -> None:
        response = case.call(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=30)
        if response.status_code >= 500:
            wrong.append(f"{case.method} {case.formatted_path} {case.query} {case.body!r:.300}: {response.text:.300}")

    ask()
    return wrong
