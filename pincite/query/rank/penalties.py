"""Passages that hold many words and seldom an answer lose a share of their score."""

from collections.abc import Sequence
from dataclasses import replace

from pincite.config.branches.retrieval import Penalties
from pincite.core.query.hits import Adjustment, Hit

NEVER_SHOWN = "hypothetical_question"
"""Questions made up beforehand help to find a passage and are none themselves."""


def penalised(hits: Sequence[Hit], penalties: Penalties) -> list[Hit]:
    """The hits that may be shown, in the order of what the penalties on their kinds leave of their scores."""
    shown = [hit for hit in hits if hit.chunk.content_type != NEVER_SHOWN]
    moved = [_penalised(hit, getattr(penalties, hit.chunk.content_type, 0.0)) for hit in shown]
    return sorted(moved, key=lambda hit: -hit.score) if any(hit.adjustments for hit in moved) else shown


def _penalised(hit: Hit, amount: float) -> Hit:
    if not amount:
        return hit
    score = hit.score - amount * abs(hit.score)  # a reranker's score may be below zero, where a share of it is a gain
    return replace(hit, score=score, adjustments=(*hit.adjustments, Adjustment("penalty", amount, hit.score, score)))
