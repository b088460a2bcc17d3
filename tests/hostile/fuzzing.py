"""Requests made from the service's own description, right and wrong ones: none may break it."""

from collections.abc import Iterator
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode

API = "/api/v1"
ENDLESS = ("/jobs/events", "/chat/ws")
"""What goes on until somebody leaves."""
LEFT_ALONE = ("/auth/setup", "/index/switch", "/index/rollback")
"""What would take the ground from under the rest."""


def operations(url: str) -> Iterator[Any]:
    """What the service says can be asked of it."""
    schema = schemathesis.openapi.from_url(f"{url}{API}/openapi.json")
    for found in schema.get_all_operations():
        operation = found.ok()
        if not operation.path.endswith((*ENDLESS, *LEFT_ALONE)):
            yield operation


def broken(operation: Any, url: str, key: str, examples: int) -> list[str]:
    """So many requests of each kind to one route; what was answered with a status of 500 or more."""
    wrong: list[str] = []
    right = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
    odd = operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)

    @seed(7)
    @settings(
        max_examples=examples, deadline=None, database=None, phases=[Phase.generate], verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(st.one_of(right, odd))
    def ask(case: Any) -> None:
        response = case.call(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=30)
        if response.status_code >= 500:
            wrong.append(f"{case.method} {case.formatted_path} {case.query} {case.body!r:.300}: {response.text:.300}")

    ask()
    return wrong
