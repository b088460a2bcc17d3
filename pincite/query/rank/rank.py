"""The final order of the hits: reranking, penalties, deduplication, MMR, cap per owner."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from pincite.config.branches.retrieval import Penalties, Rag
from pincite.core.documents.document import HIDDEN_CONTENT_TYPE
from pincite.core.protocols import Reranker
from pincite.core.query.hits import Adjustment, Hit
from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.errors import ProviderError, Unavailable
from pincite.models.calibration import LEXICAL_ONLY, Calibration, known_calibration, learn_calibration
from pincite.query.rank.diversity import dedupe, diversifies, mmr
from pincite.query.rank.relevance import has_cosines, relevance

COSINE_RERANKER = "cosine"
"""The reranker whose scores the search has computed already, from the stored vectors."""
MAX_RERANK_SCORE = 1e12
"""A reranker score of a higher absolute value is invalid."""
MAX_INLINE_HITS = 60
"""Up to this many hits are ranked on the event loop; more would delay other requests and go to a thread."""


async def ranking(run: Run, plan: Plan, hits: Sequence[Hit]) -> list[Hit]:
    """Put the hits into their final order: penalties, deduplication, MMR, and the cut to `max_results`."""
    ordered = apply_penalties(list(hits), run.settings.rag.penalties)
    embedded = has_cosines(run)
    if plan.question.min_score is not None and embedded:
        ordered = _similar(run, ordered, plan.question.min_score)
    elif plan.question.min_score is not None:
        run.degrade("ranking", "min_score was not applied: without the embedder there is no similarity")
    calibration = await _calibration(run) if embedded else LEXICAL_ONLY
    inline = len(ordered) <= MAX_INLINE_HITS  # a change of threads would take longer
    ordered = cap_per_owner(ordered, run.settings.rag.max_per_owner, run.caller.person)
    select = partial(_select, plan, ordered, run.settings.rag, calibration)
    selected = select() if inline else await asyncio.to_thread(select)
    run.observe(
        found=len(selected),
        repeated=sum(len(hit.also_in) for hit in selected),
        hits=[[hit.chunk.id, round(hit.score, 6)] for hit in selected],
    )
    return selected


def _similar(run: Run, hits: Sequence[Hit], min_score: float) -> list[Hit]:
    """The hits with at least this cosine; a warning says so if there are none."""
    similar = [hit for hit in hits if hit.similarity >= min_score]
    if hits and not similar:
        found = "1 passage was" if len(hits) == 1 else f"{len(hits)} passages were"
        best = max(hit.similarity for hit in hits)
        run.warnings.append(
            f"{found} found, but none is similar enough: the best has a similarity of {best:.2f}, below {min_score:g}"
        )
    return similar


def _select(plan: Plan, hits: Sequence[Hit], rag: Rag, calibration: Calibration) -> list[Hit]:
    spread, queries = diversifies(plan, rag), plan.queries
    kept = dedupe(hits, None if spread else plan.max_results) if rag.drop_duplicates else list(hits)
    if spread:
        kept = mmr(kept, rag.mmr_lambda, plan.max_results)
    return [
        hit.with_relevance(relevance(queries, hit.chunk, hit.similarity, calibration))
        for hit in kept[: plan.max_results]
    ]


def cap_per_owner(hits: Sequence[Hit], limit: int, caller: str) -> list[Hit]:
    """The hits with at most `limit` of each owner other than the caller; 0 is no limit."""
    if not limit:
        return list(hits)
    seen: Counter[str] = Counter()
    kept = list[Hit]()
    for hit in hits:
        seen[hit.chunk.owner] += 1
        if hit.chunk.owner == caller or seen[hit.chunk.owner] <= limit:
            kept.append(hit)
    return kept


async def _calibration(run: Run) -> Calibration:
    """The calibration of the embedder, learned on first use; without the embedder, the one for words alone."""
    try:
        return known_calibration(run.kit.embedder) or await learn_calibration(run.kit.embedder)
    except Unavailable as error:
        run.degrade("ranking", f"relevance was estimated by words alone: {error}")
        return LEXICAL_ONLY


def reranks(run: Run, plan: Plan, hits: Sequence[Hit]) -> bool:
    """Whether a reranker is configured and this search uses it."""
    return run.kit.reranker is not None and bool(hits) and plan.rerank_top != 0


async def reranking(run: Run, plan: Plan, hits: Sequence[Hit]) -> list[Hit]:
    """Order the best hits by the reranker's score; the fused score is kept beside it.

    Hits that the reranker did not see have no score of its own: the lowest that it gave keeps them behind the others.
    """
    assert run.kit.reranker is not None
    rerank_top = run.settings.rag.rerank_top if plan.rerank_top is None else plan.rerank_top
    top, rest = hits[:rerank_top], hits[rerank_top:]
    run.observe(reranker=run.settings.rag.reranker, passages=len(top))
    scores = await _rerank_scores(run.kit.reranker, plan, top, stored=run.settings.rag.reranker == COSINE_RERANKER)
    rescored = [replace(hit, score=score, rerank_score=score) for hit, score in zip(top, scores, strict=True)]
    return sorted(rescored, key=lambda hit: -hit.score) + [replace(hit, score=min(scores)) for hit in rest]


async def _rerank_scores(reranker: Reranker, plan: Plan, hits: Sequence[Hit], *, stored: bool) -> list[float]:
    """The reranker's scores; with `stored`, the cosines of the stored vectors, where a hit has one."""
    unscored = [hit.chunk.text for hit in hits if not (stored and hit.similarity)]
    made = _checked_scores(await reranker.score(plan.text, unscored), len(unscored)) if unscored else []
    given = iter(made)
    return [hit.similarity if stored and hit.similarity else next(given) for hit in hits]


def _checked_scores(scores: Sequence[float], count: int) -> list[float]:
    """The scores as numbers; `ProviderError` where one is missing or no finite number."""
    try:
        numbers = [float(score) for score in scores]
    except (TypeError, ValueError, OverflowError):
        numbers = []
    if len(numbers) != count or not all(abs(number) <= MAX_RERANK_SCORE for number in numbers):  # False for NaN
        raise ProviderError(f"the reranker did not give a number for each of {count} passages")
    return numbers


def apply_penalties(hits: Sequence[Hit], penalties: Penalties) -> list[Hit]:
    """The visible hits, their scores lowered by the penalties on their content types, in their new order."""
    visible = [hit for hit in hits if hit.chunk.content_type != HIDDEN_CONTENT_TYPE]
    amounts = {kind: getattr(penalties, kind, 0.0) for kind in {hit.chunk.content_type for hit in visible}}
    if not any(amounts.values()):
        return visible
    penalised = [_apply_penalty(hit, amounts[hit.chunk.content_type]) for hit in visible]
    return sorted(penalised, key=lambda hit: -hit.score) if any(hit.adjustments for hit in penalised) else visible


def _apply_penalty(hit: Hit, amount: float) -> Hit:
    if not amount:
        return hit
    score = hit.score - amount * abs(hit.score)  # a reranker score may be negative
    return replace(hit, score=score, adjustments=(*hit.adjustments, Adjustment("penalty", amount, hit.score, score)))
