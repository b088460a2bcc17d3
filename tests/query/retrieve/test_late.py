"""Late interaction in a search: which candidates are ranked, and by which score."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pincite.config.sources import with_values
from pincite.core.protocols import Match
from pincite.core.query.plan import Search
from pincite.core.query.question import Question
from pincite.core.run import Run
from pincite.models.token_vectors import pack
from pincite.query.retrieve import late
from pincite.query.retrieve.engines import FirstPass
from pincite.query.retrieve.fusion import Fusion, Ranking
from pincite.query.understand.analysis import query_analysis

QUESTION = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)
PASSAGES = {1: [[1.0, 0.0]], 2: [[1.0, 0.0], [0.0, 1.0]], 3: [[-1.0, 0.0]], 9: [[0.0, 1.0]]}


class Tokens:
    def __init__(self, near: Sequence[int] | None = ()) -> None:
        self._near = near

    async def tokens(self, keys: Sequence[int], model: str, **_: Any) -> dict[int, bytes]:
        assert model == "tokens"
        return {key: pack(np.array(PASSAGES[key], np.float32)) for key in keys if key in PASSAGES}

    async def near(self, question: Any, model: str, **_: Any) -> list[int] | None:
        assert question == QUESTION.tolist()
        return None if self._near is None else list(self._near)


def search(run: Run, tokens: Tokens, monkeypatch: pytest.MonkeyPatch, *, by_tokens: bool = False) -> list[Match]:
    async def question_tokens(run: Run, text: str) -> Any:
        return SimpleNamespace(name="tokens"), QUESTION

    monkeypatch.setattr(late, "_question_tokens", question_tokens)
    run.kit = replace(run.kit, late=tokens)
    run.settings = with_values(run.settings, {"late.search": by_tokens})
    rankings = [
        Ranking(Search("q", "dense", 0), [Match(1, 0.9), Match(2, 0.8)]),
        Ranking(Search("q", "tree", 0), [Match(3, 0.4), Match(4, 0.3)]),
    ]

    async def go() -> list[Match]:
        first = FirstPass({}, rankings, Fusion((), None, run.settings.rag, many=False))
        return list(await late.late_search(run, await query_analysis(run, Question("q")), first))

    return asyncio.run(go())


@pytest.fixture
def run(make_run: Callable[..., Run]) -> Run:
    return make_run({1: "one"}, {1: 0.5}, {1: 1.0})


def test_the_candidates_of_all_engines_are_ranked_by_max_sim(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    found = search(run, Tokens(), monkeypatch)  # 4 has no token vectors
    assert [(match.key, round(match.score, 3), match.most) for match in found] == [
        (2, 1.0, 1.0),
        (1, 0.5, 1.0),
        (3, 0.0, 1.0),
    ]


def test_the_token_index_adds_candidates(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    found = search(run, Tokens([9]), monkeypatch, by_tokens=True)
    assert [match.key for match in found] == [2, 1, 9, 3]


def test_a_library_that_is_too_large_for_the_token_index_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    found = search(run, Tokens(None), monkeypatch, by_tokens=True)
    assert [match.key for match in found] == [2, 1, 3]
    assert [note.stage for note in run.degraded] == ["late.search"]
