"""What every reranker in the folder must do."""

import asyncio
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pincite import plugins
from pincite.core.protocols import Reranker
from pincite.models.resilient import close
from pincite.providers.scripted import Options, make_embedder
from pincite.stub import StubLLM
from tests.cross_encoder_maker import make_cross_encoder

NAMES = plugins.names("pincite.providers", "make_reranker")
SHAPES = ("tei", "cohere", "jina")


@pytest.fixture(scope="module")
def stub() -> Iterator[StubLLM]:
    with StubLLM() as started:
        yield started


@pytest.fixture(params=[name for name in NAMES if name != "rerank_api"] + [f"rerank_api {shape}" for shape in SHAPES])
def reranker(request: pytest.FixtureRequest, stub: StubLLM, tmp_path: Path) -> Reranker:
    name, _, shape = request.param.partition(" ")
    options: dict[str, Any] = {"base_url": stub.url, "model": "m", "shape": shape, "batch": 2}
    if name == "cross_encoder":
        options = {"path": make_cross_encoder(tmp_path)}
    return plugins.load(Reranker, "pincite.providers", name, options, embedder=make_embedder(Options()))


def scored(reranker: Reranker, query: str, *asked: list[str]) -> list[list[float]]:
    """The scores of one list of texts after the other."""

    async def go() -> list[list[float]]:
        try:
            return [await reranker.score(query, texts) for texts in asked]
        finally:
            await close(reranker)

    return asyncio.run(go())


def test_there_are_some() -> None:
    assert {"cosine", "cross_encoder", "rerank_api", "scripted"} <= set(NAMES)


def test_same_length_same_order_higher_is_better(reranker: Reranker) -> None:
    [scores] = scored(
        reranker, "why cats purr", ["the stock market fell", "cats purr because they are content", "we had fish"]
    )
    assert len(scores) == 3
    assert all(math.isfinite(score) for score in scores)
    assert max(scores) == scores[1] > max(scores[0], scores[2])


def test_nothing_to_score(reranker: Reranker) -> None:
    assert scored(reranker, "q", []) == [[]]


def test_a_texts_score_does_not_depend_on_its_company(reranker: Reranker) -> None:
    [alone], company = scored(reranker, "c", ["c d e"], ["a b c", "g " * 300, "c d e"])
    assert company[2] == alone


def test_it_is_deterministic(reranker: Reranker) -> None:
    texts = ["a b c", "c d e", "e f g"]
    first, again = scored(reranker, "c", texts, texts)
    assert first == again
