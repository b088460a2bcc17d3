"""Error messages: suggestions of similar names only, and plain messages for validation errors."""

from typing import Literal

import pytest
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from pincite.config.messages import closest, describe_error, did_you_mean
from pincite.config.schema import catalogue
from pincite.config.settings import environment_name

OPTIONS = ["top_k", "strategy", "folder", "stop", "stream", "query", "document_ids"]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("topK", "top_k"),
        ("top-k", "top_k"),
        ("TOP_K", "top_k"),
        ("qurey", "query"),
        ("documentIds", "document_ids"),
        ("strem", "stream"),
        ("bogus", None),
        ("as_of", None),
        ("", None),
        ("_", None),
    ],
)
def test_closest_finds_a_misspelt_option(word: str, meant: str | None) -> None:
    assert closest(word, OPTIONS) == meant


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("rag.topk", "rag.top_k"),
        ("rag.bogus", None),
        ("retrieval.multi_query_rrf_k", "rag.multi_query_rrf_k"),
        ("RAG.Alhpa", "rag.alpha"),
        ("zzz", None),
        ("llm.fallback.modle", "llm.fallback.model"),
    ],
)
def test_closest_compares_the_last_part_of_a_dotted_name(word: str, meant: str | None) -> None:
    assert closest(word, catalogue()) == meant


def test_closest_ignores_the_common_prefix_of_environment_variables() -> None:
    names = [environment_name(key) for key in catalogue()]
    assert closest("PINCITE_RAG__TOPK", names) == "PINCITE_RAG__TOP_K"
    assert closest("PINCITE_DTA", names) == "PINCITE_DATA"
    assert closest("PINCITE_RAG__BOGUS", names) is None


def test_did_you_mean_suggests_the_closest_name() -> None:
    assert did_you_mean("topK", OPTIONS) == "; did you mean 'top_k'?"
    assert did_you_mean("bogus", OPTIONS) == ""


class _Body(BaseModel):
    number: int = Field(default=1, ge=1, le=10)
    share: float = Field(default=0.5, gt=0)
    words: list[str] = Field(default=["x"], min_length=1, max_length=2)
    name: str = Field(default="x", max_length=3)
    way: Literal["a", "b"] = "a"
    on: bool = False


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"number": "x"}, "must be a whole number"),
        ({"number": 1.5}, "must be a whole number"),
        ({"number": 0}, "must be at least 1"),
        ({"number": 11}, "must be at most 10"),
        ({"share": 0}, "must be more than 0"),
        ({"share": "x"}, "must be a number"),
        ({"words": []}, "must have at least 1 entry"),
        ({"words": ["a"] * 3}, "may have at most 2 entries"),
        ({"words": "a"}, "must be a list"),
        ({"name": "long"}, "may have at most 3 characters"),
        ({"name": 5}, "must be text"),
        ({"way": "c"}, "must be 'a' or 'b'"),
        ({"on": "maybe"}, "must be true or false"),
    ],
)
def test_common_validation_errors_have_plain_messages(given: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError) as raised:
        _Body.model_validate(given)
    assert describe_error(raised.value.errors()[0]) == said


def test_messages_of_our_own_validators_are_kept() -> None:
    assert describe_error({"type": "value_error", "msg": "Value error, send one of them"}) == "send one of them"
    with pytest.raises(ValidationError) as raised:
        TypeAdapter(dict[str, int]).validate_python([])
    assert describe_error(raised.value.errors()[0]) == "must be an object"
