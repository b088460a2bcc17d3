import asyncio
from collections.abc import Callable
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
