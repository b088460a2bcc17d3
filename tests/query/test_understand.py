import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pincite.core.answers import Question, Search
from pincite.core.run import Event, Planned, Run
from pincite.query.understand import understand


@pytest.mark.parametrize(
    ("question", "settings", "strategy", "engines"),
    [
        (Question("q"), {}, "hybrid", ["dense", "lexical"]),
        (Question("q"), {"rag__use_hybrid_search": False}, "dense_only", ["dense"]),
        (Question("q", strategy="lexical_only"), {}, "lexical_only", ["lexical"]),
    ],
)
def test_the_strategy_decides_the_searches(
    make_run: Callable[..., Run], question: Question, settings: dict[str, Any], strategy: str, engines: list[str]
) -> None:
    plan = asyncio.run(understand(make_run(**settings), question))
    assert plan.strategy == strategy
    assert [search.via for search in plan.searches] == engines


def test_each_query_is_searched_by_each_engine(make_run: Callable[..., Run]) -> None:
    plan = asyncio.run(understand(make_run(), Question("a", also=("b",))))
    assert Search("b", "lexical", 1) in plan.searches
    assert len(plan.searches) == 4


def test_a_large_top_k_widens_the_search(make_run: Callable[..., Run]) -> None:
    events: list[Event] = []
    plan = asyncio.run(understand(make_run(events=events), Question("a", top_k=500)))
    assert plan.candidates == 500
    assert events == [Planned(plan)]


def test_a_follow_up_is_searched_by_what_it_means_and_a_guess_beside_what_was_asked(
    make_run: Callable[..., Run],
) -> None:
    asked = Question("And in summer?", standalone="When does it open in summer?")
    plan = asyncio.run(understand(make_run(), asked))
    assert plan.text == "When does it open in summer?"
    assert {(search.text, search.weight) for search in plan.searches} == {(plan.text, 1.0)}
    guess = replace(asked, guessed=True)
    plan = asyncio.run(understand(make_run(), guess))
    assert {(search.text, search.query, search.weight) for search in plan.searches} == {
        ("When does it open in summer?", 0, 0.5), ("And in summer?", 1, 1.0),
    }  # fmt: skip
    assert plan.queries == (plan.text,)


def test_the_plan_says_what_kind_of_answer_is_wanted(make_run: Callable[..., Run]) -> None:
    assert asyncio.run(understand(make_run(), Question("List all telescopes."))).intent == "LIST"
