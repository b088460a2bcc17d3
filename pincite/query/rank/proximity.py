"""Proximity boost: the second stage of the strategy `two_stage` where no reranker is configured.

A passage gains by how many of the question's words it holds and how near these are to each other; docs/evaluation.md
has the effect.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from pincite.core.query.hits import Hit, RetrievedChunk, Scale, ScoreContribution
from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.text.terms import query_terms, terms

PROXIMITY_WEIGHT = 0.1
"""Share of the best score that a passage gains which holds every word of the question, all adjacent."""


async def proximity_boost(run: Run, plan: Plan, hits: Sequence[Hit]) -> list[Hit]:
    """The hits reordered by proximity; unchanged where a reranker is configured, which then reorders them."""
    if run.kit.reranker is not None:
        return list(hits)
    run.observe(passages=len(hits))
    return await asyncio.to_thread(_rerank_by_proximity, plan.text, hits)


def _rerank_by_proximity(text: str, hits: Sequence[Hit]) -> list[Hit]:
    best = max((hit.score for hit in hits), default=0.0)
    wanted = {language: set(query_terms(text, [language])) for language in {hit.chunk.language for hit in hits}}
    boosted = [_boost_by_proximity(wanted[hit.chunk.language], hit, best) for hit in hits]
    return sorted(boosted, key=lambda hit: (-hit.score, hit.chunk.key))


def _boost_by_proximity(wanted: set[str], hit: Hit, best: float) -> Hit:
    scale, proximity = Scale(best * PROXIMITY_WEIGHT, 0.0, 1.0), closeness(wanted, _ordered_terms(hit.chunk))
    contribution = ScoreContribution("near", 0, None, proximity, scale.share(proximity), scale)
    score = hit.score + contribution.share
    return replace(hit, score=score, hybrid_score=score, placings=(*hit.placings, contribution))


def _ordered_terms(chunk: RetrievedChunk) -> list[str]:
    return terms(f"{chunk.title} {' '.join(chunk.heading_path)} {chunk.header} {chunk.text}", chunk.language)


def closeness(wanted: set[str], held: Sequence[str]) -> float:
    """The share of the words that a text holds, times their density: 1 for all adjacent, 0 for fewer than two."""
    positions = [(position, word) for position, word in enumerate(held) if word in wanted]
    found = {word for _, word in positions}
    if len(found) < 2:
        return 0.0
    return len(found) / len(wanted) * len(found) / _shortest_span(positions, len(found))


def _shortest_span(positions: Sequence[tuple[int, str]], different: int) -> int:
    """The length in words of the shortest span that holds all `different` words."""
    counts: dict[str, int] = {}
    best, first = positions[-1][0] - positions[0][0] + 1, 0
    for position, word in positions:
        counts[word] = counts.get(word, 0) + 1
        while len(counts) == different:
            start, oldest = positions[first]
            best = min(best, position - start + 1)
            counts[oldest] -= 1
            if not counts[oldest]:
                del counts[oldest]
            first += 1
    return best
