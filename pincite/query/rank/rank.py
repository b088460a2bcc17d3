"""The final order of a search."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from pincite.config.branches.retrieval import Penalties, Rag
from pincite.core.query.hits import Adjustment, Hit
from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.errors import ProviderError, Unavailable
from pincite.models.calibration import WORDS_ALONE, Calibration, known, learn
from pincite.query.rank.diversity import dedupe, diversifies, mmr
from pincite.query.rank.relevance import has_cosines, relevance

MAX_RERANK_SCORE = 1e12
"""No reranker means a higher score; what it does mean cannot be told."""
MAX_INLINE_HITS = 30
"""So many hits are judged at once; more would keep other requests waiting."""


async def ranking(run: Run, plan: Plan, hits: Sequence[Hit]) -> list[Hit]:
    """Put the hits into their final order: penalties, deduplication, MMR, and the cut to `top_k`."""
    ordered = apply_penalties(list(hits), run.settings.rag.penalties)
    embedded = has_cosines(run)
    if plan.question.min_score is not None and embedded:
        ordered = [hit for hit in ordered if hit.similarity >= plan.question.min_score]
    elif plan.question.min_score is not None:
        run.degrade("ranking", "min_score was not applied: without the embedder there is no similarity")
    calibration = await _calibration(run) if embedded else WORDS_ALONE
    at_hand = len(ordered) <= MAX_INLINE_HITS  # changing threads takes longer than so little
    ordered = cap_per_owner(ordered, run.settings.rag.max_per_owner, run.caller.person)
    choose = partial(_select, plan, ordered, run.settings.rag, calibration)
    chosen = choose() if at_hand else await asyncio.to_thread(choose)
    run.observe(
        found=len(chosen), repeated=sum(len(hit.also_in) for hit in chosen),
        hits=[[hit.chunk.id, round(hit.score, 6)] for hit in chosen],
    )  # fmt: skip
    return chosen


def _select(plan: Plan, hits: Sequence[Hit], rag: Rag, calibration: Calibration) -> list[Hit]:
    spread = diversifies(plan, rag)
    kept = dedupe(hits, None if spread else plan.top_k) if rag.drop_duplicates else list(hits)
    if spread:
        kept = mmr(kept, rag.mmr_lambda, plan.top_k)
    return [
        replace(hit, relevance=relevance(plan.queries, hit.chunk, hit.similarity, calibration))
        for hit in kept[: plan.top_k]
    ]


def cap_per_owner(hits: Sequence[Hit], most: int, asker: str) -> list[Hit]:
    """The hits without what any one other person has beyond so many: nobody else fills an answer alone."""
    seen: Counter[str] = Counter()
    kept = list[Hit]()
    for hit in hits:
        seen[hit.chunk.owner] += 1
        if not most or hit.chunk.owner == asker or seen[hit.chunk.owner] <= most:
            kept.append(hit)
    return kept


async def _calibration(run: Run) -> Calibration:
    """The embedder's calibration, learned on first use; without the embedder, relevance goes by words."""
    try:
        return known(run.kit.embedder) or await learn(run.kit.embedder)
    except Unavailable as error:
        run.degrade("ranking", f"relevance was estimated by words alone: {error}")
        return WORDS_ALONE


def reranks(run: Run, plan: Plan, hits: Sequence[Hit]) -> bool:
    """Whether a reranker is configured and this search uses it."""
    return run.kit.reranker is not None and bool(hits) and plan.rerank_top != 0


async def reranking(run: Run, plan: Plan, hits: Sequence[Hit]) -> list[Hit]:
    """Order the best hits by the reranker's score; the fused score is kept beside it.

    Hits that the reranker did not see get the lowest score that it gave.
    """
    assert run.kit.reranker is not None
    most = run.settings.rag.rerank_top if plan.rerank_top is None else plan.rerank_top
    top, rest = hits[:most], hits[most:]
    run.observe(reranker=run.settings.rag.reranker, passages=len(top))
    scores = _checked_scores(await run.kit.reranker.score(plan.text, [hit.chunk.text for hit in top]), len(top))
    rescored = [replace(hit, score=score, rerank_score=score) for hit, score in zip(top, scores, strict=True)]
    return sorted(rescored, key=lambda hit: -hit.score) + [
        replace(hit, score=min(scores), rerank_score=min(scores)) for hit in rest
    ]


def _checked_scores(scores: Sequence[float], count: int) -> list[float]:
    """The scores, if there is a number for each passage: an order by anything else would be wrong in silence."""
    try:
        numbers = [float(score) for score in scores]
    except (TypeError, ValueError, OverflowError):
        numbers = []
    if len(numbers) != count or not all(abs(number) <= MAX_RERANK_SCORE for number in numbers):  # NaN is not
        raise ProviderError(f"the reranker did not give a number for each of {count} passages")
    return numbers


HIDDEN_CONTENT_TYPE = "hypothetical_question"
"""Questions made up beforehand help to find a passage and are none themselves."""


def apply_penalties(hits: Sequence[Hit], penalties: Penalties) -> list[Hit]:
    """The hits that may be shown, in the order of what the penalties on their kinds leave of their scores."""
    shown = [hit for hit in hits if hit.chunk.content_type != HIDDEN_CONTENT_TYPE]
    moved = [_apply_penalty(hit, getattr(penalties, hit.chunk.content_type, 0.0)) for hit in shown]
    return sorted(moved, key=lambda hit: -hit.score) if any(hit.adjustments for hit in moved) else shown


def _apply_penalty(hit: Hit, amount: float) -> Hit:
    if not amount:
        return hit
    score = hit.score - amount * abs(hit.score)  # a reranker's score may be below zero, where a share of it is a gain
    return replace(hit, score=score, adjustments=(*hit.adjustments, Adjustment("penalty", amount, hit.score, score)))
