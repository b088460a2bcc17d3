"""Score passages that a tool opened by reading, not by searching."""

from collections.abc import Sequence

from pincite.core.query.hits import Hit, RetrievedChunk
from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.errors import Unavailable
from pincite.models.calibration import LEXICAL_ONLY, known_calibration
from pincite.query.rank.relevance import has_cosines, relevance


async def passage_scoring(run: Run, plan: Plan, passages: Sequence[RetrievedChunk]) -> list[Hit]:
    """The passages as hits in their order, with cosine and relevance; without vectors, relevance by words alone."""
    cosines = await _cosines(run, plan, passages)
    calibration = (known_calibration(run.kit.embedder) if cosines and has_cosines(run) else None) or LEXICAL_ONLY
    hits = []
    for chunk in passages:
        cosine = cosines.get(chunk.key, 0.0)
        score = relevance(plan.queries, chunk, cosine, calibration)
        hits.append(Hit(chunk, score, cosine, score, None))
    return hits


async def _cosines(run: Run, plan: Plan, passages: Sequence[RetrievedChunk]) -> dict[int, float]:
    try:
        vectors = await run.embed_queries([plan.text])
    except Unavailable as error:
        run.degrade("query_embedding", f"search by meaning was left out: {error}")
        return {}
    keys = [chunk.key for chunk in passages]
    fetched = await run.kit.index.fetch(keys, vectors, scope=run.scope, filters=plan.question.filters)
    return dict(fetched.similarities)
