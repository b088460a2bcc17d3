"""Output in JSON: its schemas, and how it is read."""

import pytest

from pincite.query.prompt.structured import parse_object, verdict_schema


def test_the_schema_of_two_verdicts() -> None:
    word = {"type": "string", "enum": ["yes", "no"]}
    assert verdict_schema(2) == {
        "type": "object",
        "properties": {"1": word, "2": word},
        "required": ["1", "2"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize("text", ['{"a": 1}', ' {"a": 1}\n', '```json\n{"a": 1}\n```', '```\n{"a": 1}```'])
def test_an_object_is_read_with_or_without_a_fence(text: str) -> None:
    assert parse_object(text) == {"a": 1}


@pytest.mark.parametrize("text", ["", "1: yes", "[1]", '{"a": 1', 'Here: {"a": 1}', "[" * 100_000])
def test_other_text_is_no_object(text: str) -> None:
    assert parse_object(text) is None
