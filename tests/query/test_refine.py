import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pincite.core.run import Run
from pincite.errors import ProviderError
from pincite.query.refine import rank, refine
from tests.builders import hit, plan


class Reranker:
    def __init__(self, scores: Any) -> None:
        self._scores = scores

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        if self._scores is None:
            raise ProviderError("the reranker is down")
        return self._scores  # type: ignore[no-any-return]


HITS = [hit("cats purr", key=1, score=0.9), hit("dogs bark", key=2, score=0.5), hit("birds sing", key=3, score=0.2)]


def ranked(run: Run) -> list[int]:
    return [found.chunk.key for found in asyncio.run(rank(run, plan("cats"), HITS))]


def test_a_reranker_orders_anew_and_the_fused_score_is_kept(make_run: Callable[..., Run]) -> None:
    run = make_run(reranker=Reranker([0.1, 0.9, 0.5]))
    assert ranked(run) == [2, 3, 1]
    best = asyncio.run(rank(run, plan("cats"), HITS))[0]
    assert (best.score, best.rerank_score, best.hybrid_score) == (0.9, 0.9, 0.5)


def test_only_the_best_are_shown_to_the_reranker_and_the_others_follow_them(make_run: Callable[..., Run]) -> None:
    run = make_run(reranker=Reranker([0.1, 0.9]), **{"rag.rerank_top": 2})
    found = asyncio.run(rank(run, plan("cats"), HITS))
    told = [(one.chunk.key, one.score, one.rerank_score) for one in found]
    assert told == [(2, 0.9, 0.9), (1, 0.1, 0.1), (3, 0.1, None)]


def test_a_reranker_that_fails_or_talks_nonsense_leaves_the_order_and_is_noted(make_run: Callable[..., Run]) -> None:
    nan, inf = float("nan"), float("inf")
    wrong = [[0.5], [0.5] * 4, [], [nan] * 3, [0.1, inf, 0.2], [0.1, None, 0.2], [0.1, 10**400, 0.2], 5]
    for scores in (None, *wrong):
        run = make_run(reranker=Reranker(scores))
        assert ranked(run) == [1, 2, 3]
        assert [note.stage for note in run.degraded] == ["rerank"]


def test_what_is_weak_or_repeated_is_no_evidence(make_run: Callable[..., Run]) -> None:
    hits = [hit("cats purr loudly", key=1), hit("cats purr loudly", key=2), hit("cats sleep", key=3, relevance=0.01)]
    evidence = asyncio.run(refine(make_run(rag__similarity_threshold=0.1), plan("why do cats purr"), hits))
    assert [found.chunk.key for found in evidence.hits] == [1]


def test_evidence_says_which_words_it_lacks(make_run: Callable[..., Run]) -> None:
    evidence = asyncio.run(refine(make_run(), plan("Do cats purr in Patagonia?"), [hit("Cats purr.")]))
    assert evidence.missing == ("Patagonia",)
    assert 0.6 < evidence.coverage < 0.7


def test_no_hits_are_no_evidence(make_run: Callable[..., Run]) -> None:
    evidence = asyncio.run(refine(make_run(), plan("cats"), []))
    assert evidence.hits == ()
    assert evidence.coverage == 0.0


def test_the_threshold_reads_what_the_settings_say(make_run: Callable[..., Run]) -> None:
    hits = [
        replace(hit("cats purr", key=1, relevance=0.9), similarity=0.1),
        replace(hit("dogs", key=2, relevance=0.1), similarity=0.9),
    ]

    def kept(run: Run) -> list[int]:
        return [found.chunk.key for found in asyncio.run(refine(run, plan("cats"), hits)).hits]

    by_relevance = make_run(**{"rag.similarity_threshold": 0.5})
    by_cosine = make_run(**{"rag.similarity_threshold": 0.5, "rag.threshold_on": "similarity"})
    assert (kept(by_relevance), kept(by_cosine)) == ([1], [2])
    by_cosine.note("vectors", "some are of another model")  # and then there is no cosine to go by
    assert kept(by_cosine) == [1]
