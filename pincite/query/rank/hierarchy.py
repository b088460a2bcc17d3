"""Documents and sections as results, and as what lends weight to their passages; both are scored by their parts."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace

from pincite.core.query.hits import Cause, Hit, RetrievedChunk, Scale, ScoreContribution
from pincite.core.query.plan import Plan
from pincite.core.run import Run

PARTS = 3
"""So many of the best passages speak for what they stand in."""
FURTHER = 0.25
"""What the second best adds to the best, by its own score; the third a quarter of that again."""
LENT = 0.25
"""What a passage gains of the score of its section, and of that of its document."""

_PLACE: Mapping[int, Callable[[RetrievedChunk], Hashable]] = {
    0: lambda chunk: chunk.document_id,
    1: lambda chunk: (chunk.document_id, chunk.parent, chunk.heading_path),
}
"""What passages of one document, and of one section, have in common."""


def combined(scores: Sequence[float]) -> float:
    """The score of a whole by those of its parts: the best, and a little for each of the next; one alone counts as it is."""
    best = sorted(scores, reverse=True)[:PARTS]
    return sum(score * FURTHER**place for place, score in enumerate(best))


def _wholes(hits: Sequence[Hit], level: int) -> dict[Hashable, float]:
    parts: dict[Hashable, list[float]] = {}
    for hit in hits:
        parts.setdefault(_PLACE[level](hit.chunk), []).append(hit.score)
    return {place: combined(scores) for place, scores in parts.items()}


async def parent_boost(run: Run, plan: Plan, hits: Sequence[Hit]) -> list[Hit]:
    """Passages in the order of their documents, sections and themselves: each lends a part of its score."""
    documents, sections = _wholes(hits, 0), _wholes(hits, 1)
    run.observe(documents=len(documents), sections=len(sections))
    lent = [_lent(hit, sections[_PLACE[1](hit.chunk)], documents[_PLACE[0](hit.chunk)]) for hit in hits]
    return sorted(lent, key=lambda hit: (-hit.score, hit.chunk.key))


def _lent(hit: Hit, section: float, document: float) -> Hit:
    added = (_gain("section", section), _gain("document", document))
    score = hit.score + sum(placing.share for placing in added)
    return replace(hit, score=score, hybrid_score=score, placings=(*hit.placings, *added))


def _gain(via: Cause, raw: float) -> ScoreContribution:
    scale = Scale(LENT, 0.0, 1.0)
    return ScoreContribution(via, 0, None, raw, scale.share(raw), scale)


async def level_promotion(run: Run, plan: Plan, hits: Sequence[Hit]) -> list[Hit]:
    """Results of the levels that are wanted: the sections and documents that the passages stand in, best first.

    A whole has the score of its parts, and the placings of the best of them.
    """
    found = list(hits) if 2 in plan.levels else []
    for level in sorted({0, 1} & set(plan.levels)):
        scores, best = _wholes(hits, level), dict[Hashable, Hit]()
        for hit in sorted(hits, key=lambda hit: -hit.score):
            best.setdefault(_PLACE[level](hit.chunk), hit)
        places = sorted(best, key=lambda place: (-scores[place], best[place].chunk.key))[: 2 * plan.top_k]
        wholes = await run.kit.index.parents([best[place].chunk.key for place in places], level, scope=run.scope)
        for place in places:
            if whole := wholes.get(best[place].chunk.key):
                found.append(_whole(whole, [hit for hit in hits if _PLACE[level](hit.chunk) == place]))
    run.observe(levels={str(level): sum(hit.chunk.level == level for hit in found) for level in plan.levels})
    return sorted(found, key=lambda hit: (-hit.score, -hit.chunk.level, hit.chunk.key))


def _whole(chunk: RetrievedChunk, parts: Sequence[Hit]) -> Hit:
    """A section or document as a hit: the best of its parts, and what the next ones add."""
    best, *further = sorted(parts, key=lambda hit: (-hit.score, hit.chunk.key))[:PARTS]
    added = tuple(_further(rank, hit.score) for rank, hit in enumerate(further, start=2))
    score = best.score + sum(placing.share for placing in added)
    similarity = max(hit.similarity for hit in parts)
    return Hit(chunk, score, similarity, 0.0, score, (*best.placings, *added))


def _further(rank: int, score: float) -> ScoreContribution:
    scale = Scale(FURTHER ** (rank - 1), 0.0, 1.0)
    return ScoreContribution("part", 0, rank, score, scale.share(score), scale)


def drop_nested(hits: Sequence[Hit]) -> list[Hit]:
    """The hits as an answer uses them: no section beside the passage it holds, whichever of them is better stands."""
    if len({hit.chunk.level for hit in hits}) < 2:
        return list(hits)
    kept: list[Hit] = []
    for hit in hits:
        if not any(_within(hit.chunk, other.chunk) or _within(other.chunk, hit.chunk) for other in kept):
            kept.append(hit)
    return kept


def _within(one: RetrievedChunk, other: RetrievedChunk) -> bool:
    same = one.document_id == other.document_id and one.level != other.level
    return same and other.start_char <= one.start_char and one.end_char <= other.end_char
