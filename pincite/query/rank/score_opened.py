"""Passages that were opened rather than found become hits: as near to the question as they are."""

from collections.abc import Sequence

from pincite.core.query.hits import Hit, RetrievedChunk
from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.errors import Unavailable
from pincite.models.calibration import LEXICAL_ONLY, known_calibration
from pincite.query.rank.relevance import has_cosines, relevance


async def passage_scoring(run: Run, plan: Plan, passages: Sequence[RetrievedChunk]) -> list[Hit]:
    """The passages in their order, each with its cosine and its relevance to the question; without vectors, by words."""
    cosines = await _cosines(run, plan, passages)
    calibration = (known_calibration(run.kit.embedder) if cosines and has_cosines(run) else None) or LEXICAL_ONLY
    weighed = []
    for chunk in passages:
        cosine = cosines.get(chunk.key, 0.0)
        near = relevance(plan.queries, chunk, cosine, calibration)
        weighed.append(Hit(chunk, near, cosine, near, near))
    return weighed


async def _cosines(run: Run, plan: Plan, passages: Sequence[RetrievedChunk]) -> dict[int, float]:
    try:
        vectors = await run.embed([plan.text])
    except Unavailable as error:
        run.degrade("query_embedding", f"search by meaning was left out: {error}")
        return {}
    keys = [chunk.key for chunk in passages]
    fetched = await run.kit.index.fetch(keys, vectors, scope=run.scope, filters=plan.question.filters)
    return dict(fetched.similarities)
