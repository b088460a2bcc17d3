"""Document expansion: add further passages of the best documents to the hits."""

from collections.abc import Sequence

from pincite.core.query.hits import Hit
from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.models.calibration import LEXICAL_ONLY, known_calibration
from pincite.query.evidence.relevance_filter import threshold_score
from pincite.query.rank.diversity import dedupe
from pincite.query.rank.rank import HIDDEN_CONTENT_TYPE
from pincite.query.rank.relevance import relevance


async def document_expansion(run: Run, plan: Plan, hits: Sequence[Hit]) -> list[Hit]:
    """The hits, then further passages of the best documents that pass the threshold, most similar first."""
    expansion, filters = run.settings.rag.expansion, plan.question.filters
    documents = list(dict.fromkeys(hit.chunk.document_id for hit in hits))[: expansion.max_documents]
    if not documents:
        return list(hits)
    [vector] = await run.embed_queries([plan.text])
    near = await run.kit.index.nearest_in_documents(
        documents, vector, scope=run.scope, filters=filters, limit=expansion.max_chunks
    )
    known_keys = {hit.chunk.key for hit in hits}
    new = [match.key for match in near if match.key not in known_keys]
    fetched = await run.kit.index.fetch(new, [vector], scope=run.scope, filters=filters)
    calibration, last = known_calibration(run.kit.embedder) or LEXICAL_ONLY, hits[-1].score
    added = list[Hit]()
    for key in new:
        chunk = fetched.chunks.get(key)
        if chunk is None or chunk.content_type == HIDDEN_CONTENT_TYPE:
            continue
        cosine = fetched.similarities.get(key, 0.0)
        hit = Hit(chunk, min(cosine, last), cosine, relevance(plan.queries, chunk, cosine, calibration), 0.0)
        if threshold_score(run, hit) >= expansion.threshold:
            added.append(hit)
    run.observe(documents=len(documents), found=len(new), joined=len(added))
    added.sort(key=lambda hit: -hit.similarity)
    return dedupe([*hits, *added]) if run.settings.rag.drop_duplicates else [*hits, *added]
