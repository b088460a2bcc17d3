import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pincite.core.query.plan import Search
from pincite.core.query.question import Question
from pincite.core.run import Run
from pincite.query.understand.analysis import query_analysis


@pytest.mark.parametrize(
    ("question", "settings", "strategy", "engines"),
    [
        (Question("q"), {}, "hybrid", ["dense", "lexical"]),
        (Question("q"), {"rag__use_hybrid_search": False}, "dense_only", ["dense"]),
        (Question("q", strategy="lexical_only"), {}, "lexical_only", ["lexical"]),
        (Question("q", strategy="two_stage"), {}, "two_stage", ["dense", "lexical"]),
        (Question("q"), {"rag__strategy": "hierarchical"}, "hierarchical", ["dense", "lexical"]),
    ],
)
def test_the_strategy_decides_the_searches(
    make_run: Callable[..., Run], question: Question, settings: dict[str, Any], strategy: str, engines: list[str]
) -> None:
    plan = asyncio.run(query_analysis(make_run(**settings), question))
    assert plan.strategy == strategy
    assert [search.via for search in plan.searches] == engines


def test_each_query_is_searched_by_each_engine(make_run: Callable[..., Run]) -> None:
    plan = asyncio.run(query_analysis(make_run(), Question("a", also=("b",))))
    assert Search("b", "lexical", 1) in plan.searches
    assert len(plan.searches) == 4


def test_a_large_top_k_widens_the_search(make_run: Callable[..., Run]) -> None:
    plan = asyncio.run(query_analysis(make_run(), Question("a", top_k=500)))
    assert plan.candidates == 500


def test_a_follow_up_is_searched_by_what_it_means_and_a_guess_beside_what_was_asked(
    make_run: Callable[..., Run],
) -> None:
    asked = Question("And in summer?", standalone="When does it open in summer?")
    plan = asyncio.run(query_analysis(make_run(), asked))
    assert plan.text == "When does it open in summer?"
    assert {(search.text, search.weight) for search in plan.searches} == {(plan.text, 1.0)}
    guess = replace(asked, guessed=True)
    plan = asyncio.run(query_analysis(make_run(), guess))
    assert {(search.text, search.query, search.weight) for search in plan.searches} == {
        ("When does it open in summer?", 0, 0.3), ("And in summer?", 1, 1.0),
    }  # fmt: skip
    assert plan.queries == (plan.text,)


def test_the_plan_says_what_kind_of_answer_is_wanted(make_run: Callable[..., Run]) -> None:
    assert asyncio.run(query_analysis(make_run(), Question("List all telescopes."))).intent == "LIST"


def test_the_plan_says_why_it_is_as_it_is(make_run: Callable[..., Run]) -> None:
    run = make_run(rag__strategy="auto")
    plan = asyncio.run(run.step(query_analysis, Question("Compare Alpha and Beta since 2019")))
    assert plan.analysis.entities != ()
    intent, kind, strategy, passages, level = plan.reasons
    assert intent.startswith("intent COMPARISON (0.")
    assert kind.startswith("type comparative (0.")
    assert strategy == "strategy fusion: it has several parts"
    assert passages == "20 passages, spread over documents"
    assert level == (
        "level standard: the settings as they are; verification by rules; would benefit from chain of thought, a graph"
    )
    told = run.spans[0].attributes
    assert (told["intent"], told["question_type"], told["strategy"]) == ("COMPARISON", "comparative", "fusion")
    assert told["intent_confidence"] == plan.analysis.intent_confidence
    assert "Alpha" not in str(told)


@pytest.mark.parametrize(
    ("question", "levels"),
    [
        (Question("Summarise the report."), (2,)),
        (Question("Summarise the report.", strategy="hierarchical"), (0, 1)),
        (Question("Summarise the report.", strategy="hierarchical", levels=(2, 1)), (1, 2)),
        (Question("Who?", levels=(0,)), (0,)),
    ],
)
def test_levels_are_those_of_the_request_before_those_that_serve_the_question(
    make_run: Callable[..., Run], question: Question, levels: tuple[int, ...]
) -> None:
    plan = asyncio.run(query_analysis(make_run(), question))
    assert plan.levels == levels
    assert (plan.reads >= 300 and plan.candidates >= 300) == (levels != (2,))


@pytest.mark.parametrize(
    ("mode", "wish", "text", "looked"),
    [
        ("always", None, "Hello!", True),
        ("always", False, "When does it open?", False),
        ("automatic", None, "Hello!", False),
        ("automatic", None, "When does it open?", True),
        ("automatic", True, "Hello!", True),
        ("manual", None, "When does it open?", False),
        ("manual", True, "When does it open?", True),
    ],
)
def test_the_mode_decides_about_retrieval_unless_the_request_does(
    make_run: Callable[..., Run], mode: str, wish: bool | None, text: str, looked: bool
) -> None:
    plan = asyncio.run(query_analysis(make_run(rag__mode=mode), Question(text, retrieve=wish)))
    assert plan.retrieves is looked


def test_what_a_reranker_sees_is_the_strategys(make_run: Callable[..., Run]) -> None:
    def seen(strategy: Any) -> int | None:
        return asyncio.run(query_analysis(make_run(), Question("q", strategy=strategy))).rerank_top

    assert [seen(strategy) for strategy in ("dense_only", "hybrid", "two_stage")] == [0, 20, 50]
