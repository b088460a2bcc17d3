"""The second of two stages, where no reranker is configured: a closer look at many passages.

What was found by its score is looked at word by word: how many of the question's words a passage holds, and how near to
each other they stand in it. That adds to the score; docs/evaluation.md shows what it brings.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from pincite.core.query.hits import Hit, RetrievedChunk, Scale, ScoreContribution
from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.text.terms import query_terms, terms

PROXIMITY_WEIGHT = 0.1
"""What a passage that holds every word, all of them side by side, gains: so much of the best score."""


async def proximity_boost(run: Run, plan: Plan, hits: Sequence[Hit]) -> list[Hit]:
    """The hits in their order after a second look; where a reranker is configured, that is its task."""
    if run.kit.reranker is not None:
        return list(hits)
    run.observe(passages=len(hits))
    return await asyncio.to_thread(_rerank_by_proximity, plan.text, hits)


def _rerank_by_proximity(text: str, hits: Sequence[Hit]) -> list[Hit]:
    best = max((hit.score for hit in hits), default=0.0)
    wanted = {language: set(query_terms(text, [language])) for language in {hit.chunk.language for hit in hits}}
    seen = [_boost_by_proximity(wanted[hit.chunk.language], hit, best) for hit in hits]
    return sorted(seen, key=lambda hit: (-hit.score, hit.chunk.key))


def _boost_by_proximity(wanted: set[str], hit: Hit, best: float) -> Hit:
    scale, near = Scale(best * PROXIMITY_WEIGHT, 0.0, 1.0), closeness(wanted, _ordered_terms(hit.chunk))
    gain = ScoreContribution("near", 0, None, near, scale.share(near), scale)
    score = hit.score + gain.share
    return replace(hit, score=score, hybrid_score=score, placings=(*hit.placings, gain))


def _ordered_terms(chunk: RetrievedChunk) -> list[str]:
    return terms(f"{chunk.title} {' '.join(chunk.heading_path)} {chunk.header} {chunk.text}", chunk.language)


def closeness(wanted: set[str], held: Sequence[str]) -> float:
    """The share of the words that a text holds, times how near they stand: 1 for all side by side, 0 for one or none."""
    places = [(place, word) for place, word in enumerate(held) if word in wanted]
    found = {word for _, word in places}
    if len(found) < 2:
        return 0.0
    return len(found) / len(wanted) * len(found) / _shortest_span(places, len(found))


def _shortest_span(places: Sequence[tuple[int, str]], different: int) -> int:
    """The length of the shortest stretch that holds each of the words that there are."""
    counts: dict[str, int] = {}
    best, first = places[-1][0] - places[0][0] + 1, 0
    for place, word in places:
        counts[word] = counts.get(word, 0) + 1
        while len(counts) == different:
            start, oldest = places[first]
            best = min(best, place - start + 1)
            counts[oldest] -= 1
            if not counts[oldest]:
                del counts[oldest]
            first += 1
    return best
