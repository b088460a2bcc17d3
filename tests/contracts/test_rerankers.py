"""What every reranker in the folder must do."""

import asyncio
import math

import pytest

from pincite import plugins
from pincite.core.protocols import Reranker
from pincite.providers.scripted import Options, make_embedder

NAMES = plugins.names("pincite.providers", "make_reranker")


@pytest.fixture(params=NAMES)
def reranker(request: pytest.FixtureRequest) -> Reranker:
    return plugins.load(Reranker, "pincite.providers", request.param, {}, embedder=make_embedder(Options()))


def test_there_are_some() -> None:
    assert {"cosine", "scripted"} <= set(NAMES)


def test_same_length_same_order_higher_is_better(reranker: Reranker) -> None:
    scores = asyncio.run(reranker.score("why cats purr", ["the stock market fell", "cats purr", ""]))
    assert len(scores) == 3
    assert all(math.isfinite(score) for score in scores)
    assert max(scores) == scores[1]


def test_nothing_to_score(reranker: Reranker) -> None:
    assert asyncio.run(reranker.score("q", [])) == []


def test_it_is_deterministic(reranker: Reranker) -> None:
    texts = ["a b c", "c d e", "e f g"]
    assert asyncio.run(reranker.score("c", texts)) == asyncio.run(reranker.score("c", texts))
