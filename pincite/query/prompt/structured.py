"""Output in JSON: the schemas that short calls of the model ask for, and how their output is read.

A server that can constrain its output follows the schema. Others write text, which each call reads by itself.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

REWRITTEN_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"question": {"type": "string"}},
    "required": ["question"],
    "additionalProperties": False,
}
"""The schema of a rewritten question."""

_FENCE = re.compile(r"^\s*```(?:json)?\s*|\s*```\s*$")


def verdict_schema(count: int) -> dict[str, Any]:
    """The schema of a verdict, yes or no, on each of so many things by their numbers."""
    numbers = [str(number) for number in range(1, count + 1)]
    return {
        "type": "object",
        "properties": {number: {"type": "string", "enum": ["yes", "no"]} for number in numbers},
        "required": numbers,
        "additionalProperties": False,
    }


def parse_object(text: str) -> dict[str, Any] | None:
    """The JSON object that a text consists of, with or without a fence; None where it is none."""
    try:
        found = json.loads(_FENCE.sub("", text))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
