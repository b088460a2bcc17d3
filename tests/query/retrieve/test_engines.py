"""Engines beside dense and lexical search: fused, explained, and named where they are left out."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pincite.core.accounts.access import Scope
from pincite.core.engines import BuiltEngine
from pincite.core.protocols import Match
from pincite.core.query.hits import Hit
from pincite.core.query.plan import Plan
from pincite.core.query.question import Question
from pincite.core.run import Run
from pincite.errors import StoreDown
from pincite.query.retrieve import engines
from pincite.query.retrieve.engines import Engine, FirstPass, in_fusion
from pincite.query.retrieve.retrieve import retrieval
from pincite.query.understand.analysis import query_analysis

TEXTS = {1: "one", 2: "two", 3: "three", 4: "four"}
DENSE = {1: 0.9, 2: 0.5, 3: 0.1}
LEXICAL = {2: 8.0, 4: 4.0, 1: 0.0}


class Built:
    def __init__(self, *built: BuiltEngine) -> None:
        self._built = built

    async def built(self, scope: Scope) -> Collection[BuiltEngine]:
        return self._built


def hits_of(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    search: Any,
    *built: BuiltEngine,
    question: Question = Question("q"),  # noqa: B008
) -> list[Hit]:
    engine = Engine("tree", "tree_search", "tree", 0.4, lambda rag: rag.tree, in_fusion, search)
    monkeypatch.setattr(engines, "ENGINES", (engine,))
    run.kit = replace(run.kit, builds=Built(*built))

    async def go() -> list[Hit]:
        return await retrieval(run, await query_analysis(run, question))

    return asyncio.run(go())


async def third_and_first(run: Run, plan: Plan, first: FirstPass) -> Sequence[Match]:
    assert first.best(1) == [2]
    return [Match(3, 1.0), Match(1, 0.5)]


def test_its_scores_are_added_by_weight_and_explained(
    make_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(TEXTS, DENSE, LEXICAL, rag__alpha=0.5, rag__relative_to="found", rag__tree=True)
    found = hits_of(run, monkeypatch, third_and_first, "tree")
    # Without the engine: 2: .75, 1: .5, 4: .25, 3: 0. It adds .4 to the third, and with the scale of what it found, 0.
    assert {hit.chunk.key: round(hit.score, 6) for hit in found} == {2: 0.75, 1: 0.5, 3: 0.4, 4: 0.25}
    [placing] = [one for hit in found if hit.chunk.key == 3 for one in hit.placings if one.via == "tree"]
    assert (placing.rank, placing.raw, placing.share) == (1, 1.0, 0.4)


def test_it_is_fused_by_rank(make_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(TEXTS, DENSE, LEXICAL, rag__fusion="rrf", rag__rrf_k=30, rag__tree=True)
    found = hits_of(run, monkeypatch, third_and_first, "tree")
    assert {hit.chunk.key: round(hit.score, 6) for hit in found}[3] == round(
        1 / 33 + 1 / 31, 6
    )  # the weight is for scores


def test_it_is_off_unless_a_setting_or_the_strategy_asks_for_it(
    make_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    for question, used in ((Question("q"), False), (Question("q", strategy="fusion"), True)):
        run = make_run(TEXTS, DENSE, LEXICAL)
        found = hits_of(run, monkeypatch, third_and_first, "tree", question=question)
        assert any(one.via == "tree" for hit in found for one in hit.placings) is used
        assert run.degraded == []


def test_what_is_not_built_is_named_if_it_was_asked_for(
    make_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(TEXTS, DENSE, LEXICAL, rag__tree=True)
    hits_of(run, monkeypatch, third_and_first, "graph")
    assert [note.stage for note in run.degraded] == ["tree"]
    assert "pincite reindex --tree" in run.degraded[0].reason
    silent = make_run(TEXTS, DENSE, LEXICAL)
    hits_of(silent, monkeypatch, third_and_first, question=Question("q", strategy="fusion"))
    assert silent.degraded == []


def test_one_that_fails_is_left_out_and_named(make_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(run: Run, plan: Plan, first: FirstPass) -> Sequence[Match]:
        raise StoreDown("no connection")

    run = make_run(TEXTS, DENSE, LEXICAL, rag__tree=True)
    assert len(hits_of(run, monkeypatch, fails, "tree")) == 4
    assert [(note.stage, note.reason) for note in run.degraded] == [("tree", "it was left out: no connection")]
