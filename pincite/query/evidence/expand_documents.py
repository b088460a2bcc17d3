"""Document expansion: add the further passages of the best documents to the hits."""

from collections.abc import Sequence

from pincite.core.documents.document import HIDDEN_CONTENT_TYPE
from pincite.core.query.hits import Hit
from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.models.calibration import LEXICAL_ONLY, known_calibration
from pincite.query.evidence.relevance_filter import threshold_score
from pincite.query.rank.diversity import dedupe
from pincite.query.rank.hierarchy import drop_nested
from pincite.query.rank.relevance import relevance


async def document_expansion(run: Run, plan: Plan, hits: Sequence[Hit]) -> list[Hit]:
    """The hits, then all further passages of the best documents that pass the threshold, most similar first.

    A document is as good as its best hit. The added passages have a cosine and a relevance, but no score: no search
    ranked them. Of a long document, the nearest ones are added.
    """
    expansion, filters = run.settings.rag.expansion, plan.question.filters
    documents = _documents(run, hits)[: expansion.max_documents]
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
        found = relevance(plan.queries, chunk, cosine, calibration)
        added.append(Hit(chunk, last, cosine, found, None, ranked=False))
    added.sort(key=lambda hit: -hit.similarity)
    both = drop_nested([*hits, *added])
    both = dedupe(both) if run.settings.rag.drop_duplicates else both
    run.observe(documents=len(documents), found=len(new), joined=len(both) - len(hits))
    return both


def _documents(run: Run, hits: Sequence[Hit]) -> list[str]:
    """The documents whose best hit passes the threshold, in the order of the hits."""
    best: dict[str, float] = {}
    for hit in hits:
        score = threshold_score(run, hit)
        best[hit.chunk.document_id] = max(score, best.get(hit.chunk.document_id, score))
    return [document for document, score in best.items() if score >= run.settings.rag.expansion.threshold]
