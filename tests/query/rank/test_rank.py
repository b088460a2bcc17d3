"""The final order: reranking, penalties, deduplication, MMR."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pincite.config.branches.retrieval import Penalties
from pincite.core.query.hits import Hit
from pincite.core.query.plan import Hints, Plan, QuestionAnalysis
from pincite.core.run import Run
from pincite.errors import ProviderError
from pincite.models.calibration import LEXICAL_ONLY
from pincite.providers.scripted import Options, ScriptedEmbedder
from pincite.query.rank.rank import apply_penalties, cap_per_owner, ranking, reranking, reranks
from pincite.query.rank.relevance import relevance
from tests.builders import hit, plan


class Reranker:
    def __init__(self, scores: Any) -> None:
        self._scores = scores

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        if self._scores is None:
            raise ProviderError("the reranker is down")
        return self._scores  # type: ignore[no-any-return]


class Stranger(ScriptedEmbedder):
    """An embedder of another name, which may be down."""

    name = "stranger/1"

    def __init__(self, *, down: bool = False) -> None:
        super().__init__(Options())
        self.down = down
        self.calls = 0

    async def embed(self, texts: Sequence[str], *, as_query: bool) -> list[list[float]]:
        self.calls += 1
        if self.down:
            raise ProviderError("the embedder is down")
        return await super().embed(texts, as_query=as_query)


HITS = [hit("cats purr", key=1, score=0.9), hit("dogs bark", key=2, score=0.5), hit("birds sing", key=3, score=0.2)]


def in_order(run: Run, asked: Plan | None = None, hits: Sequence[Hit] = HITS) -> list[Hit]:
    """The hits reranked, where there is a reranker, and ranked, as the pipeline does it."""

    async def rerank_and_rank() -> list[Hit]:
        wanted = asked or plan("cats")
        ordered = list(hits)
        if reranks(run, wanted, ordered):
            ordered = await run.attempt(ordered, reranking, wanted, ordered)
        return await ranking(run, wanted, ordered)

    return asyncio.run(rerank_and_rank())


def ranked(run: Run, asked: Plan | None = None, hits: Sequence[Hit] = HITS) -> list[int]:
    return [found.chunk.key for found in in_order(run, asked, hits)]


def test_a_reranker_orders_anew_and_the_fused_score_is_kept(make_run: Callable[..., Run]) -> None:
    run = make_run(reranker=Reranker([0.1, 0.9, 0.5]))
    assert ranked(run) == [2, 3, 1]
    best = in_order(run)[0]
    assert (best.score, best.rerank_score, best.hybrid_score) == (0.9, 0.9, 0.5)


def test_the_cosine_reranker_uses_stored_vectors_and_scores_only_passages_without_one(
    make_run: Callable[..., Run],
) -> None:
    shown = list[Sequence[str]]()

    class Recording(Reranker):
        async def score(self, query: str, texts: Sequence[str]) -> list[float]:
            shown.append(texts)
            return [0.6] * len(texts)

    stored = [replace(one, similarity=cosine) for one, cosine in zip(HITS, (0.2, 0.9, 0.5), strict=True)]
    run = make_run(reranker=Recording([]), **{"rag.reranker": "cosine"})
    assert [(one.chunk.key, one.rerank_score) for one in in_order(run, hits=stored)] == [(2, 0.9), (3, 0.5), (1, 0.2)]
    assert shown == []
    stored[0] = replace(stored[0], similarity=0.0)
    assert [(one.chunk.key, one.rerank_score) for one in in_order(run, hits=stored)] == [(2, 0.9), (1, 0.6), (3, 0.5)]
    assert shown == [["cats purr"]]


def test_only_the_best_are_shown_to_the_reranker_and_the_others_follow_them(make_run: Callable[..., Run]) -> None:
    run = make_run(reranker=Reranker([0.1, 0.9]), **{"rag.rerank_top": 2})
    found = in_order(run)
    told = [(one.chunk.key, one.score, one.rerank_score) for one in found]
    assert told == [(2, 0.9, 0.9), (1, 0.1, 0.1), (3, 0.1, None)]


def test_a_reranker_that_fails_or_talks_nonsense_leaves_the_order_and_is_noted(make_run: Callable[..., Run]) -> None:
    nan, inf = float("nan"), float("inf")
    wrong = [
        [0.5],
        [0.5] * 4,
        [],
        [nan] * 3,
        [0.1, inf, 0.2],
        [0.1, None, 0.2],
        [0.1, 10**400, 0.2],
        [1e308, -1e308, 0.2],
        5,
    ]
    for scores in (None, *wrong):
        run = make_run(reranker=Reranker(scores))
        assert ranked(run) == [1, 2, 3]
        assert [note.stage for note in run.degraded] == ["reranking"]


def test_a_penalty_acts_on_the_last_score_also_after_a_reranker(make_run: Callable[..., Run]) -> None:
    hits = [hit("cats: purr", key=1, score=0.9, content_type="glossary"), HITS[1], HITS[2]]
    assert ranked(make_run(rag__penalties__glossary=0.5), hits=hits) == [2, 1, 3]
    assert ranked(make_run(rag__penalties__glossary=0.0), hits=hits) == [1, 2, 3]
    reranked = make_run(reranker=Reranker([0.9, 0.8, 0.1]))
    assert ranked(reranked, hits=hits) == [2, 1, 3]


def test_questions_made_up_beforehand_are_never_returned(make_run: Callable[..., Run]) -> None:
    hits = [hit("Do cats purr?", key=1, score=0.9, content_type="hypothetical_question"), *HITS[1:]]
    assert ranked(make_run(), hits=hits) == [2, 3]


def test_duplicates_make_room_for_other_passages(make_run: Callable[..., Run]) -> None:
    hits = [HITS[0], hit("Cats purr!", key=4, score=0.8), *HITS[1:]]
    asked = replace(plan("cats"), top_k=3)
    assert ranked(make_run(), asked, hits) == [1, 2, 3]
    assert ranked(make_run(rag__drop_duplicates=False), asked, hits) == [1, 4, 2]


@pytest.mark.parametrize(("mmr", "compares", "order"), [
    ("auto", True, [1, 3, 2, 4]), ("auto", False, [1, 2, 3, 4]), ("on", False, [1, 3, 2, 4]),
    ("off", True, [1, 2, 3, 4]),
])  # fmt: skip
def test_comparisons_draw_on_several_documents(
    make_run: Callable[..., Run], mmr: str, compares: bool, order: list[int]
) -> None:
    hits = [
        hit("cats purr at night", key=1, score=0.9, document_id="a"),
        hit("cats purr at noon", key=2, score=0.8, document_id="a"),
        hit("dogs bark", key=3, score=0.75, document_id="b"),
        hit("stones are silent", key=4, score=0.1, document_id="c"),
    ]
    asked = replace(plan("cats or dogs"), analysis=QuestionAnalysis(hints=Hints(mmr=compares)))
    assert ranked(make_run(rag__mmr=mmr, rag__mmr_lambda=0.5), asked, hits) == order


def test_an_unknown_embedder_is_calibrated_once(make_run: Callable[..., Run]) -> None:
    embedder = Stranger()
    run = make_run(embedder=embedder)
    assert (ranked(run), ranked(run)) == ([1, 2, 3], [1, 2, 3])
    assert embedder.calls == 2


def test_without_calibration_relevance_uses_words_and_is_degraded(make_run: Callable[..., Run]) -> None:
    embedder = Stranger(down=True)
    embedder.name = "silent/1"
    run = make_run(embedder=embedder)
    best = in_order(run)[0]
    assert [note.stage for note in run.degraded] == ["ranking"]
    assert best.relevance == relevance(["cats"], best.chunk, 0.0, LEXICAL_ONLY)


def test_hits_of_other_owners_are_capped() -> None:
    hits = [hit(f"Text {n}.", key=n, owner=owner) for n, owner in enumerate(["eve", "eve", "me", "eve", "me", "bob"])]
    assert [one.chunk.owner for one in cap_per_owner(hits, 1, "me")] == ["eve", "me", "me", "bob"]
    assert cap_per_owner(hits, 0, "me") == hits


@pytest.mark.parametrize(("kind", "left"), [("glossary", 0.7), ("contents", 0.5), ("image_credits", 0.6)])
def test_each_kind_loses_its_share_and_the_step_is_kept(kind: str, left: float) -> None:
    [found] = apply_penalties([hit("x", score=0.8, content_type=kind)], Penalties())
    assert found.score == pytest.approx(0.8 * left)
    assert found.hybrid_score == 0.8
    [step] = found.adjustments
    assert (step.stage, step.before, step.score) == ("penalty", 0.8, found.score)
    assert step.before - step.amount * abs(step.before) == step.score


def test_a_score_below_zero_goes_down_as_well() -> None:
    [found] = apply_penalties([hit("x", score=-2.0, content_type="contents")], Penalties())
    assert found.score == -3.0


def test_ordinary_passages_stay_as_they_are_in_their_order() -> None:
    hits = [hit("x", key=n, score=1.0, content_type=kind) for n, kind in enumerate(("prose", "table", "list", "code"))]
    assert apply_penalties(hits, Penalties()) == hits
