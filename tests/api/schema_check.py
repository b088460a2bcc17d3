"""Every JSON response of the tests is compared with the schema of its operation."""

import re
from functools import cache
from typing import Any

import httpx2
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from pincite.api.paths import API
from pincite.api.response_schemas import RESPONSES


def check_response(response: httpx2.Response) -> None:
    """Compare a success with its schema; a hook of the tests' HTTP clients."""
    if not response.is_success or not response.headers.get("content-type", "").startswith("application/json"):
        return
    name = operation_of(response.request.method, response.request.url.path)
    validator = _validator(name) if name else None
    if validator is None:
        return
    response.read()
    wrong = next(iter(validator.iter_errors(response.json())), None)
    assert wrong is None, f"{name}: {wrong.json_path if wrong else ''}: {wrong.message[:300] if wrong else ''}"


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """The operations with the patterns of their paths; those without parts in braces first."""
    names = sorted(RESPONSES, key=lambda name: name.count("{"))
    return [(name, re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(name)))) for name in names]


@cache
def operation_of(method: str, path: str) -> str | None:
    """The name of the operation in the table of responses, if there is one."""
    asked = f"{method} {path.removeprefix(API)}"
    return next((name for name, pattern in _patterns() if pattern.fullmatch(asked)), None)


@cache
def _validator(name: str) -> Any:
    kind = RESPONSES[name][1]
    if kind is None or isinstance(kind, str):
        return None
    return Draft202012Validator(TypeAdapter(kind).json_schema(mode="serialization"))
