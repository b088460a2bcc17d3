"""Request options and the questions made from them."""

from datetime import UTC, datetime
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from pincite.api.requests import ManyBody, QueryBody, RagOptions, SearchBody
from pincite.core.query.question import Filters, Question, Sampling, Strategy
from pincite.errors import Invalid


def fault(body: type, **values: Any) -> str:
    with pytest.raises(ValidationError) as raised:
        body(**values)
    return str(raised.value.errors()[0]["msg"])


def test_a_bare_question() -> None:
    assert QueryBody(query="q").question() == Question("q")


def test_everything_that_can_be_asked_for() -> None:
    body = QueryBody(
        query="q", stream=True, strategy="lexical_only", top_k=7, folder="/hr/", document_ids=["a", "b"], min_score=0.2,
        temperature_override=0, top_p=0.5, sampling_top_k=40, max_tokens=9, stop=["x", "y"], model="m",
        system_prompt="s",
        rag={"hybrid_alpha": 0.3, "query": "other words"},
    )  # fmt: skip
    assert body.question() == Question(
        "q", (), False, Filters("hr", ("a", "b")), 7, 0.2, "lexical_only", 0.3,
        Sampling("m", 0, 0.5, 9, ("x", "y"), "s", top_k=40), query="other words",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["folder", "folder_id", "collection_filter"])
def test_a_folder_has_three_names(name: str) -> None:
    assert QueryBody(query="q", **{name: "hr/policies"}).question().filters == Filters("hr/policies")


def test_the_top_folder_is_everything() -> None:
    assert SearchBody(query="q", folder="/").question().filters == Filters()


def test_as_of_is_a_filter_and_invalid_times_are_refused() -> None:
    then = datetime(2026, 5, 1, 12, tzinfo=UTC)
    assert SearchBody(query="q", as_of="2026-05-01T12:00:00Z").question().filters == Filters(as_of=then)
    assert QueryBody(query="q", as_of="2026-05-01T14:00+02:00").question().filters.as_of == then
    for wrong in ("2024", "soon", 1714560000, True):
        assert "should be a time such as" in fault(QueryBody, query="q", as_of=wrong)


def test_a_single_stop_word() -> None:
    assert QueryBody(query="q", stop="END").question().sampling.stop == ("END",)


def test_equal_values_of_an_option_are_accepted_and_different_ones_refused() -> None:
    assert QueryBody(query="q", top_k=5, rag={"search_limit": 5}).question().top_k == 5
    for values in (
        {"top_k": 5, "rag": {"search_limit": 6}},
        {"min_score": 0.5, "rag": {"search_threshold": 0}},
        {"folder": "a", "folder_id": "b"},
    ):
        with pytest.raises(Invalid, match="different values"):
            QueryBody(query="q", **values).question()


def test_a_rag_query_equal_to_the_question_is_no_second_search() -> None:
    assert QueryBody(query="q", rag={"query": "q"}).question().also == ()


def test_several_queries() -> None:
    assert ManyBody(queries=["a", "b", "c"], top_k=3).question() == Question("a", ("b", "c"), many=True, top_k=3)


def test_an_unknown_option_is_named_with_the_nearest() -> None:
    assert "there is no option 'topk'; did you mean 'top_k'?" in fault(QueryBody, query="q", topk=3)
    assert "there is no option 'zzz'; there are: " in fault(QueryBody, query="q", zzz=3)
    assert "did you mean 'search_limit'?" in fault(RagOptions, searchLimit=3)
    assert "did you mean 'top_k'?" in fault(QueryBody, query="q", topK=3)
    assert len(fault(QueryBody, query="q", **{"x" * 10_000: 1})) < 1000


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mode", "chat"), ("resumable", False),
        ("enable_verification", None), ("max_documents_to_expand", None), ("profile", None), ("as_of", None),
        ("level_filter", None),
    ],
)  # fmt: skip
def test_options_that_change_nothing_may_be_sent(name: str, value: Any) -> None:
    assert QueryBody(query="q", **{name: value}).question() == Question("q")


@pytest.mark.parametrize("wish", [True, False, None])
def test_the_request_decides_on_retrieval(wish: bool | None) -> None:
    assert QueryBody(query="q", rag={"enabled": wish}).question() == Question("q", retrieve=wish)


def test_levels_have_two_names() -> None:
    assert SearchBody(query="q", levels=[1, 0, 1]).question() == Question("q", levels=(0, 1))
    assert ManyBody(queries=["q"], levels=[2]).question().levels == (2,)
    assert QueryBody(query="q", level_filter=[2, 1]).question() == Question("q", levels=(1, 2))
    with pytest.raises(Invalid, match="levels and level_filter are the same option"):
        QueryBody(query="q", level_filter=[1], levels=[2]).question()


def test_an_unknown_strategy_is_refused_with_those_there_are() -> None:
    message = fault(SearchBody, query="q", strategy="magic")
    assert all(name in message for name in get_args(Strategy))


@pytest.mark.parametrize(
    "values",
    [
        {"top_k": 0}, {"top_k": 1001}, {"min_score": -0.1}, {"min_score": float("nan")}, {"top_p": 0},
        {"temperature_override": 2.1}, {"max_tokens": 0}, {"document_ids": [""]}, {"folder": "a\0b"},
        {"document_ids": ["x"] * 1001}, {"rag": {"search_limit": 0}}, {"rag": None}, {"rag": []}, {"query": "\ud800"},
        {"document_ids": ["\udfff"]}, {"levels": []}, {"levels": [3]}, {"level_filter": ["1"]}, {"levels": 1},
        {"system_prompt": "\ud800"}, {"rag": {"query": "\ud800"}},
    ],
)  # fmt: skip
def test_values_out_of_bounds_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        QueryBody(**{"query": "q", **values})


def test_a_request_overrides_verification_and_expansion() -> None:
    body = QueryBody(
        query="q", enable_verification=False, enable_document_expansion=True, max_documents_to_expand=2,
        max_chunks_per_document=5, expansion_threshold=0,
    )  # fmt: skip
    assert dict(body.question().changes) == {
        "rag.verification_enabled": False,
        "rag.expansion.enabled": True,
        "rag.expansion.max_documents": 2,
        "rag.expansion.max_chunks": 5,
        "rag.expansion.threshold": 0,
    }
    for name, value in (("max_documents_to_expand", 0), ("max_chunks_per_document", 201), ("expansion_threshold", 1.1)):
        assert "Input should be" in fault(QueryBody, query="q", **{name: value})


def test_the_cache_can_be_bypassed() -> None:
    assert QueryBody(query="q", no_cache=True).question() == Question("q", fresh=True)
    assert QueryBody(query="q", no_cache=False).question() == Question("q")


def test_a_level_and_switches_become_the_requests_own_settings() -> None:
    body = QueryBody(
        query="q",
        intelligence_level="enhanced",
        enable_cot=False,
        ensemble_voting=True,
        extended_thinking=True,
        second_look=False,
        enable_verification=True,
    )
    asked = body.question()
    assert asked.intelligence_level == "enhanced"
    assert dict(asked.changes) == {
        "answers.chain_of_thought": "off", "answers.ensemble_voting": True, "answers.extended_thinking": True,
        "rag.second_look": False, "rag.verification_enabled": True,
    }  # fmt: skip
