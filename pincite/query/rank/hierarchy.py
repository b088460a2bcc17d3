"""Documents and sections as results, and as what lends weight to their passages; both are scored by their parts."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace

from pincite.core.query.hits import Cause, Hit, RetrievedChunk, Scale, ScoreContribution
from pincite.core.query.plan import Plan
from pincite.core.run import Run

MAX_PARTS = 3
"""So many of the best passages speak for what they stand in."""
FURTHER_PART_WEIGHT = 0.25
"""What the second best adds to the best, by its own score; the third a quarter of that again."""
PARENT_WEIGHT = 0.25
"""What a passage gains of the score of its section, and of that of its document."""

_PARENT_KEY: Mapping[int, Callable[[RetrievedChunk], Hashable]] = {
    0: lambda chunk: chunk.document_id,
    1: lambda chunk: (chunk.document_id, chunk.parent, chunk.heading_path),
}
"""What passages of one document, and of one section, have in common."""


def combine_scores(scores: Sequence[float]) -> float:
    """The score of a whole by those of its parts: the best, and a little for each of the next; one alone counts as it is."""
    best = sorted(scores, reverse=True)[:MAX_PARTS]
    return sum(score * FURTHER_PART_WEIGHT**place for place, score in enumerate(best))


def _parent_scores(hits: Sequence[Hit], level: int) -> dict[Hashable, float]:
    parts: dict[Hashable, list[float]] = {}
    for hit in hits:
        parts.setdefault(_PARENT_KEY[level](hit.chunk), []).append(hit.score)
    return {place: combine_scores(scores) for place, scores in parts.items()}


async def parent_boost(run: Run, plan: Plan, hits: Sequence[Hit]) -> list[Hit]:
    """Passages in the order of their documents, sections and themselves: each lends a part of its score."""
    documents, sections = _parent_scores(hits, 0), _parent_scores(hits, 1)
    run.observe(documents=len(documents), sections=len(sections))
    lent = [
        _boost_by_parents(hit, sections[_PARENT_KEY[1](hit.chunk)], documents[_PARENT_KEY[0](hit.chunk)])
        for hit in hits
    ]
    return sorted(lent, key=lambda hit: (-hit.score, hit.chunk.key))


def _boost_by_parents(hit: Hit, section: float, document: float) -> Hit:
    added = (_parent_contribution("section", section), _parent_contribution("document", document))
    score = hit.score + sum(placing.share for placing in added)
    return replace(hit, score=score, hybrid_score=score, placings=(*hit.placings, *added))


def _parent_contribution(via: Cause, raw: float) -> ScoreContribution:
    scale = Scale(PARENT_WEIGHT, 0.0, 1.0)
    return ScoreContribution(via, 0, None, raw, scale.share(raw), scale)


async def level_promotion(run: Run, plan: Plan, hits: Sequence[Hit]) -> list[Hit]:
    """Results of the levels that are wanted: the sections and documents that the passages stand in, best first.

    A whole has the score of its parts, and the placings of the best of them.
    """
    found = list(hits) if 2 in plan.levels else []
    for level in sorted({0, 1} & set(plan.levels)):
        scores, best = _parent_scores(hits, level), dict[Hashable, Hit]()
        for hit in sorted(hits, key=lambda hit: -hit.score):
            best.setdefault(_PARENT_KEY[level](hit.chunk), hit)
        places = sorted(best, key=lambda place: (-scores[place], best[place].chunk.key))[: 2 * plan.top_k]
        wholes = await run.kit.index.around([best[place].chunk.key for place in places], level, scope=run.scope)
        for place in places:
            if whole := wholes.get(best[place].chunk.key):
                found.append(_parent_hit(whole, [hit for hit in hits if _PARENT_KEY[level](hit.chunk) == place]))
    run.observe(levels={str(level): sum(hit.chunk.level == level for hit in found) for level in plan.levels})
    return sorted(found, key=lambda hit: (-hit.score, -hit.chunk.level, hit.chunk.key))


def _parent_hit(chunk: RetrievedChunk, parts: Sequence[Hit]) -> Hit:
    """A section or document as a hit: the best of its parts, and what the next ones add."""
    best, *further = sorted(parts, key=lambda hit: (-hit.score, hit.chunk.key))[:MAX_PARTS]
    added = tuple(_part_contribution(rank, hit.score) for rank, hit in enumerate(further, start=2))
    score = best.score + sum(placing.share for placing in added)
    similarity = max(hit.similarity for hit in parts)
    return Hit(chunk, score, similarity, 0.0, score, (*best.placings, *added))


def _part_contribution(rank: int, score: float) -> ScoreContribution:
    scale = Scale(FURTHER_PART_WEIGHT ** (rank - 1), 0.0, 1.0)
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
