"""Maximal marginal relevance: passages that say something else, of other documents, go before more of the same."""

from collections.abc import Sequence
from dataclasses import replace

from pincite.config.branches.retrieval import Rag
from pincite.core.query.hits import Adjustment, Hit, Scale
from pincite.core.query.plan import Plan
from pincite.query.rank.relevance import chunk_terms

MOST = 100
"""So many are chosen one after the other; the rest follow by what they are worth beside these."""
SAME_DOCUMENT = 0.5
"""Two passages of one document are at least so alike."""


def diversifies(plan: Plan, rag: Rag) -> bool:
    """Whether passages are spread: where the settings say so, and, unless they forbid it, where that serves the question."""
    return rag.mmr == "on" or (rag.mmr == "auto" and plan.analysis.hints.mmr)


def mmr(hits: Sequence[Hit], weight: float, wanted: int) -> list[Hit]:
    """The hits in the order in which each adds most; the score becomes what it was worth when it was chosen.

    That never rises from one to the next, so the order can be worked out again from the scores.
    """
    if len(hits) < 2:
        return list(hits)
    scores = [hit.score for hit in hits]
    scale = Scale(weight, min(scores), (max(scores) - min(scores)) or 1.0)
    held = [chunk_terms(hit.chunk) for hit in hits]
    likeness, left, chosen = [0.0] * len(hits), list(range(len(hits))), list[Hit]()

    def worth(n: int) -> float:
        return scale.share(scores[n]) - (1 - weight) * likeness[n]

    def spread(n: int) -> Hit:
        adjustment = Adjustment("mmr", likeness[n], scores[n], worth(n), scale)
        return replace(hits[n], score=worth(n), adjustments=(*hits[n].adjustments, adjustment))

    while left and len(chosen) < min(wanted, MOST):
        best = max(left, key=worth)
        chosen.append(spread(best))
        left.remove(best)
        for n in left:
            same = SAME_DOCUMENT if hits[n].chunk.document_id == hits[best].chunk.document_id else 0.0
            likeness[n] = max(likeness[n], same, len(held[n] & held[best]) / len(held[n] | held[best] or {""}))
    return chosen + [spread(n) for n in sorted(left, key=worth, reverse=True)[: wanted - len(chosen)]]
