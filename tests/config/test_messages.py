"""Wrong input in words: near names only where they are near, and no validator's English."""

from typing import Literal

import pytest
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from pincite.config.messages import closest, describe_error, nearest
from pincite.config.schema import catalogue
from pincite.config.settings import environment_name

OPTIONS = ["top_k", "strategy", "folder", "stop", "stream", "query", "document_ids"]


@pytest.mark.parametrize(
    ("word", "meant"),
    [("topK", "top_k"), ("top-k", "top_k"), ("TOP_K", "top_k"), ("qurey", "query"), ("documentIds", "document_ids"),
     ("strem", "stream"), ("bogus", None), ("as_of", None), ("", None), ("_", None)],
)  # fmt: skip
def test_an_option_is_found_by_its_letters_and_only_where_it_is_near(word: str, meant: str | None) -> None:
    assert closest(word, OPTIONS) == meant


@pytest.mark.parametrize(
    ("word", "meant"),
    [("rag.topk", "rag.top_k"), ("rag.bogus", None), ("retrieval.multi_query_rrf_k", "rag.multi_query_rrf_k"),
     ("RAG.Alhpa", "rag.alpha"), ("zzz", None), ("llm.fallback.modle", "llm.fallback.model")],
)  # fmt: skip
def test_of_a_dotted_name_the_last_part_decides(word: str, meant: str | None) -> None:
    assert closest(word, catalogue()) == meant


def test_names_of_the_environment_do_not_count_as_near_for_their_beginning() -> None:
    names = [environment_name(key) for key in catalogue()]
    assert closest("PINCITE_RAG__TOPK", names) == "PINCITE_RAG__TOP_K"
    assert closest("PINCITE_DTA", names) == "PINCITE_DATA"
    assert closest("PINCITE_RAG__BOGUS", names) is None


def test_the_nearest_is_asked_for() -> None:
    assert nearest("topK", OPTIONS) == "; did you mean 'top_k'?"
    assert nearest("bogus", OPTIONS) == ""


class _Body(BaseModel):
    number: int = Field(default=1, ge=1, le=10)
    share: float = Field(default=0.5, gt=0)
    words: list[str] = Field(default=["x"], min_length=1, max_length=2)
    name: str = Field(default="x", max_length=3)
    way: Literal["a", "b"] = "a"
    on: bool = False


@pytest.mark.parametrize(
    ("given", "said"),
    [({"number": "x"}, "must be a whole number"), ({"number": 1.5}, "must be a whole number"),
     ({"number": 0}, "must be at least 1"), ({"number": 11}, "must be at most 10"), ({"share": 0}, "must be more than 0"),
     ({"share": "x"}, "must be a number"), ({"words": []}, "must have at least 1 entry"),
     ({"words": ["a"] * 3}, "may have at most 2 entries"), ({"words": "a"}, "must be a list"),
     ({"name": "long"}, "may have at most 3 characters"), ({"name": 5}, "must be text"), ({"way": "c"}, "must be 'a' or 'b'"),
     ({"on": "maybe"}, "must be true or false")],
)  # fmt: skip
def test_common_faults_are_told_in_our_words(given: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError) as raised:
        _Body.model_validate(given)
    assert describe_error(raised.value.errors()[0]) == said


def test_what_our_own_checks_say_stays_as_it_is() -> None:
    assert describe_error({"type": "value_error", "msg": "Value error, send one of them"}) == "send one of them"
    with pytest.raises(ValidationError) as raised:
        TypeAdapter(dict[str, int]).validate_python([])
    assert describe_error(raised.value.errors()[0]) == "must be an object"
