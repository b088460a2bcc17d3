import asyncio

from pincite.providers.cosine import Options, make_reranker
from pincite.providers.scripted import Options as Scripted
from pincite.providers.scripted import make_embedder


def test_the_best_window_counts() -> None:
    reranker = make_reranker(Options(), make_embedder(Scripted()))
    buried = "filler " * 400 + "cats purr"
    near, far, inside = asyncio.run(reranker.score("cats purr", ["cats purr", "stock market", buried]))
    assert near > 0.99
    assert near > inside > far
    assert asyncio.run(reranker.score("q", [])) == []
