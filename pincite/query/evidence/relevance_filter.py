"""Which passages an answer may stand on, by rules: relevant enough, and not far behind the best."""

from collections.abc import Sequence

from pincite.core.query.hits import Hit
from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.core.traces import span
from pincite.query.rank.relevance import has_cosines

MIN_RELEVANCE = 0.02
"""A passage of lower relevance does not ground an answer, whatever its cosine is."""
MIN_SHARE_OF_BEST = 0.08
"""A passage with less than this share of the best one's relevance is low; docs/evaluation.md has what others bring."""
EXTRACTIVE_FACTOR = 0.25
"""Where no model writes, so much of these will do: code weighs every sentence of a passage, and refuses by itself."""


async def relevance_filter(run: Run, plan: Plan, hits: Sequence[Hit]) -> list[Hit]:
    """Those over the threshold; where passages are verified, of these the ones that ground the question.

    Where there are any, a passage found by its name goes with them: the step that names it needs it, and it shares few
    words with the question.
    """
    rag = run.settings.rag
    part = EXTRACTIVE_FACTOR if run.kit.llm is run.kit.extractive and rag.threshold_on == "relevance" else 1.0
    wished = rag.similarity_threshold > MIN_RELEVANCE  # whoever raised it means it
    least = rag.similarity_threshold if wished else part * rag.similarity_threshold
    strong = [hit for hit in hits if threshold_score(run, hit) >= least]
    sound = strong
    if rag.verification_enabled:
        with span("verification", passages=len(strong)) as it:
            sound = drop_irrelevant(strong, part * MIN_RELEVANCE)
            it.attributes["kept"] = len(sound)
    chosen = {hit.chunk.key for hit in sound}
    kept = [hit for hit in hits if hit.chunk.key in chosen or is_title_match(hit)] if sound else []
    run.observe(weak=len(hits) - len(strong), unverified=len(strong) - len(sound), kept=len(kept))
    if hits and not kept:
        found = "1 passage was" if len(hits) == 1 else f"{len(hits)} passages were"
        run.warnings.append(f"{found} found, none of it relevant enough to answer from")
    return kept


def drop_irrelevant(hits: Sequence[Hit], low: float = MIN_RELEVANCE) -> list[Hit]:
    """The hits that ground the question: those whose relevance is neither low nor far below the best."""
    least = max(low, MIN_SHARE_OF_BEST * max((hit.relevance for hit in hits), default=0.0))
    return [hit for hit in hits if hit.relevance >= least]


def is_title_match(hit: Hit) -> bool:
    """Whether a better passage, or the question, names the document it is of."""
    return any(place.via == "named" for place in hit.placings)


def threshold_score(run: Run, hit: Hit) -> float:
    """What thresholds read; without vectors there is no cosine, and relevance stands in for it."""
    by_cosine = run.settings.rag.threshold_on == "similarity" and has_cosines(run)
    return hit.similarity if by_cosine else hit.relevance
