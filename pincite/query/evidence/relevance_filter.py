"""Relevance filter: drop passages below the threshold, and those far less relevant than the best."""

from collections.abc import Sequence

from pincite.core.query.hits import Hit
from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.core.traces import span
from pincite.query.rank.relevance import has_cosines, scaled_similarity

MIN_RELEVANCE = 0.02
"""Minimum relevance of a passage for an answer, whatever its cosine is."""
MIN_SHARE_OF_BEST = 0.08
"""Minimum relevance as a share of the best passage's; docs/evaluation.md has the results of other values."""
FIRST_KEPT = 3
"""Passages that an extractive answer keeps by their place, if any is relevant: with words that few documents have, or in
German, the right passage often comes first in the search although its estimated relevance is low."""
EXTRACTIVE_FACTOR = 0.25
"""Factor on these thresholds for extractive answers: these check every sentence and can refuse by themselves."""


async def relevance_filter(run: Run, plan: Plan, hits: Sequence[Hit]) -> list[Hit]:
    """The hits above the threshold; with verification, without those far less relevant than the best.

    Unless no hit is left, title matches are kept as well: a multi-hop question needs them, and they share few words
    with it.
    """
    rag = run.settings.rag
    factor = EXTRACTIVE_FACTOR if run.kit.llm is run.kit.extractive and rag.threshold_on == "relevance" else 1.0
    raised = rag.similarity_threshold > MIN_RELEVANCE  # a raised threshold is not lowered
    threshold = rag.similarity_threshold if raised else factor * rag.similarity_threshold
    if plan.question.min_score is not None and has_cosines(run):
        threshold = -1.0  # the request has its own, which the ranking applied
    strong = [hit for hit in hits if threshold_score(run, hit) >= threshold]
    verified = strong
    if rag.verification_enabled:
        with span("verification", passages=len(strong)) as it:
            verified = drop_irrelevant(strong, factor * MIN_RELEVANCE)
            it.attributes["kept"] = len(verified)
    first = hits[:FIRST_KEPT] if factor < 1 and not raised else []
    chosen = {hit.chunk.key for hit in (*verified, *first)}
    kept = [hit for hit in hits if hit.chunk.key in chosen or is_title_match(hit)] if verified else []
    run.observe(weak=len(hits) - len(strong), unverified=len(strong) - len(verified), kept=len(kept))
    if hits and not kept:
        run.warnings.append(_reason(run, hits, threshold) if not strong else _reason(run, hits))
    return kept


def _reason(run: Run, hits: Sequence[Hit], threshold: float | None = None) -> str:
    """Why no hit is used: all are below the threshold, which can be changed, or verification dropped them."""
    found = "1 passage was" if len(hits) == 1 else f"{len(hits)} passages were"
    text = f"{found} found, but none is relevant enough for an answer"
    if threshold is None or run.settings.rag.threshold_on != "similarity":
        return text
    best = max(threshold_score(run, hit) for hit in hits)
    return f"{text}: the best has a similarity of {best:.2f}, below {threshold:g} (rag.similarity_threshold)"


def drop_irrelevant(hits: Sequence[Hit], low: float = MIN_RELEVANCE) -> list[Hit]:
    """The hits whose relevance is neither below `low` nor far below the best."""
    threshold = max(low, MIN_SHARE_OF_BEST * max((hit.relevance for hit in hits), default=0.0))
    return [hit for hit in hits if hit.relevance >= threshold]


def is_title_match(hit: Hit) -> bool:
    """Whether the question or a better passage mentions the title of the hit's document."""
    return any(place.via == "named" for place in hit.placings)


def threshold_score(run: Run, hit: Hit) -> float:
    """The score that thresholds apply to: the scaled cosine or the relevance, as `rag.threshold_on` says."""
    by_cosine = run.settings.rag.threshold_on == "similarity" and has_cosines(run)
    return scaled_similarity(run, hit) if by_cosine else hit.relevance
