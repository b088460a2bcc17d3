"""Documents and sections: as results, and as a boost for their passages; both are scored by their passages."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace

from pincite.core.query.hits import Cause, Hit, RetrievedChunk, Scale, ScoreContribution
from pincite.core.query.plan import Plan
from pincite.core.run import Run

MAX_PARTS = 3
"""Best passages that count for the score of their section or document."""
FURTHER_PART_WEIGHT = 0.25
"""Weight of the second-best passage; the third has the square of it."""
PARENT_WEIGHT = 0.25
"""Share of the scores of its section and of its document that a passage gains."""

_PARENT_KEY: Mapping[int, Callable[[RetrievedChunk], Hashable]] = {
    0: lambda chunk: chunk.document_id,
    1: lambda chunk: (chunk.document_id, chunk.parent, chunk.heading_path),
}
"""The key of the document (level 0) and of the section (level 1) of a passage."""


def combine_scores(scores: Sequence[float]) -> float:
    """The score of a section or document: that of its best passage plus a weighted part of the next ones."""
    best = sorted(scores, reverse=True)[:MAX_PARTS]
    return sum(score * FURTHER_PART_WEIGHT**number for number, score in enumerate(best))


def _parent_scores(hits: Sequence[Hit], level: int) -> dict[Hashable, float]:
    parts: dict[Hashable, list[float]] = {}
    for hit in hits:
        parts.setdefault(_PARENT_KEY[level](hit.chunk), []).append(hit.score)
    return {key: combine_scores(scores) for key, scores in parts.items()}


async def parent_boost(run: Run, plan: Plan, hits: Sequence[Hit]) -> list[Hit]:
    """The passages, boosted by the scores of their sections and documents, in their new order."""
    documents, sections = _parent_scores(hits, 0), _parent_scores(hits, 1)
    run.observe(documents=len(documents), sections=len(sections))
    boosted = [
        _boost_by_parents(hit, sections[_PARENT_KEY[1](hit.chunk)], documents[_PARENT_KEY[0](hit.chunk)])
        for hit in hits
    ]
    return sorted(boosted, key=lambda hit: (-hit.score, hit.chunk.key))


def _boost_by_parents(hit: Hit, section: float, document: float) -> Hit:
    added = (_parent_contribution("section", section), _parent_contribution("document", document))
    score = hit.score + sum(contribution.share for contribution in added)
    return replace(hit, score=score, hybrid_score=score, placings=(*hit.placings, *added))


def _parent_contribution(via: Cause, raw: float) -> ScoreContribution:
    scale = Scale(PARENT_WEIGHT, 0.0, 1.0)
    return ScoreContribution(via, 0, None, raw, scale.share(raw), scale)


async def level_promotion(run: Run, plan: Plan, hits: Sequence[Hit]) -> list[Hit]:
    """The results of the requested levels: sections and documents of the passages, best first.

    A section or document has the combined score of its passages and the placings of the best one.
    """
    found = list(hits) if 2 in plan.levels else []
    for level in sorted({0, 1} & set(plan.levels)):
        scores, best = _parent_scores(hits, level), dict[Hashable, Hit]()
        for hit in sorted(hits, key=lambda hit: -hit.score):
            best.setdefault(_PARENT_KEY[level](hit.chunk), hit)
        keys = sorted(best, key=lambda key: (-scores[key], best[key].chunk.key))[: 2 * plan.max_results]
        parents = await run.kit.index.parents([best[key].chunk.key for key in keys], level, scope=run.scope)
        for key in keys:
            if parent := parents.get(best[key].chunk.key):
                found.append(_parent_hit(parent, [hit for hit in hits if _PARENT_KEY[level](hit.chunk) == key]))
    run.observe(levels={str(level): sum(hit.chunk.level == level for hit in found) for level in plan.levels})
    return sorted(found, key=lambda hit: (-hit.score, -hit.chunk.level, hit.chunk.key))


def _parent_hit(chunk: RetrievedChunk, parts: Sequence[Hit]) -> Hit:
    """A section or document as a hit, scored by its best passage plus the contributions of the next ones."""
    best, *further = sorted(parts, key=lambda hit: (-hit.score, hit.chunk.key))[:MAX_PARTS]
    added = tuple(_part_contribution(rank, hit.score) for rank, hit in enumerate(further, start=2))
    score = best.score + sum(contribution.share for contribution in added)
    similarity = max(hit.similarity for hit in parts)
    return Hit(chunk, score, similarity, 0.0, score, (*best.placings, *added))


def _part_contribution(rank: int, score: float) -> ScoreContribution:
    scale = Scale(FURTHER_PART_WEIGHT ** (rank - 1), 0.0, 1.0)
    return ScoreContribution("part", 0, rank, score, scale.share(score), scale)


def drop_nested(hits: Sequence[Hit]) -> list[Hit]:
    """The hits without those that contain, or lie inside, a better hit."""
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
