"""The engine of the summary tree in a search: its question, its limit, and what it needs."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pincite.core.protocols import Match
from pincite.core.query.question import Filters, Question
from pincite.core.run import Run
from pincite.errors import Unavailable
from pincite.query.retrieve.engines import FirstPass
from pincite.query.retrieve.fusion import Fusion
from pincite.query.retrieve.tree import tree_search
from pincite.query.understand.analysis import query_analysis


class Tree:
    async def search(self, text: str, vector: Any, **options: Any) -> list[Match]:
        self.asked = text, list(vector), options
        return [Match(3, 0.5)]


def test_the_question_and_its_filters_reach_the_tree(make_run: Callable[..., Run]) -> None:
    tree, run = Tree(), make_run({1: "one"}, {1: 0.5}, {1: 1.0})
    run.kit = replace(run.kit, tree=tree)
    filters = Filters(folder="f")

    async def go() -> Any:
        plan = await query_analysis(run, Question("which documents", filters=filters))
        first = FirstPass({0: [1.0, 0.0]}, (), Fusion((), None, run.settings.rag, many=False))
        return plan, await tree_search(run, plan, first)

    plan, found = asyncio.run(go())
    assert found == [Match(3, 0.5)]
    assert tree.asked == (
        "which documents",
        [1.0, 0.0],
        {"scope": run.scope, "filters": filters, "limit": plan.candidates},
    )


def test_without_the_questions_vector_it_is_left_out(make_run: Callable[..., Run]) -> None:
    run = make_run({1: "one"}, {1: 0.5}, {1: 1.0})
    run.kit = replace(run.kit, tree=Tree())

    async def go() -> None:
        plan = await query_analysis(run, Question("which documents"))
        await tree_search(run, plan, FirstPass({}, (), Fusion((), None, run.settings.rag, many=False)))

    with pytest.raises(Unavailable, match="no vector"):
        asyncio.run(go())
