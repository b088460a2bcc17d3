"""Every search of the plan at once, then one ranking: hits with the scores that led to them."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pincite.core.answers import Hit, Placing, Plan, Search
from pincite.core.genai import embedding
from pincite.core.protocols import Match, Vector
from pincite.core.run import Run
from pincite.core.traces import span
from pincite.errors import Unavailable
from pincite.settings import Rag

FOREIGN = "vectors"
"""The stage that is degraded where documents cannot be compared with the question by meaning."""
ROUNDS = 3
"""A document replaced between searching and reading back makes the search start again, this often at most."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """What one search brought, best first."""

    search: Search
    matches: Sequence[Match]


async def retrieve(run: Run, plan: Plan) -> list[Hit]:
    """Run every search at once, fuse what they found and read the best back from one snapshot."""
    vectors: Mapping[int, Vector] = {}
    for _ in range(ROUNDS):
        vectors, rankings = await _search(run, plan, vectors)
        placings = _place(rankings, plan.question.alpha, run.settings.rag)
        scores = _fuse(placings, run.settings.rag, many=plan.question.many or bool(plan.question.also))
        best = sorted(scores, key=lambda key: (-scores[key], key))[: _wanted(run, plan)]
        with span("passage_fetch", passages=len(best)):
            fetched = await run.kit.index.fetch(
                best, _judging(plan, vectors), scope=run.scope, filters=plan.question.filters
            )
        if len(fetched.chunks) == len(best):
            break
    if vectors and fetched.strangers:
        many = f"{fetched.strangers} document{'s' if fetched.strangers > 1 else ''}"
        run.note(FOREIGN, f"what another model embedded ({many}) was searched by words alone; add the files again")
    return [
        Hit(chunk, scores[key], fetched.similarities.get(key, 0.0), 0.0, scores[key], tuple(placings[key]))
        for key in best
        if (chunk := fetched.chunks.get(key))
    ]


def _judging(plan: Plan, vectors: Mapping[int, Vector]) -> list[Vector]:
    """The vectors of what passages are judged by: what was asked beside a guess only helps to find them."""
    return [vector for number, vector in vectors.items() if number < len(plan.queries)]


def _wanted(run: Run, plan: Plan) -> int:
    """How many to read back: enough for what is dropped or moved up later, and no more."""
    if plan.question.min_score is not None:
        return plan.candidates
    return max(2 * plan.top_k, run.settings.rag.rerank_top if run.kit.reranker else 0)


async def _search(run: Run, plan: Plan, vectors: Mapping[int, Vector]) -> tuple[Mapping[int, Vector], list[Ranking]]:
    """Words are looked up while the question is still being embedded."""
    lexical = [
        asyncio.ensure_future(_lexical(run, plan, search)) for search in plan.searches if search.via == "lexical"
    ]
    try:
        vectors = vectors or await _embed(run, plan)
        wanted = [search for search in plan.searches if search.via == "dense" and search.query in vectors]
        dense = await asyncio.gather(*(_dense(run, plan, search, vectors[search.query]) for search in wanted))
        words = await asyncio.gather(*lexical)
    finally:
        for task in lexical:
            task.cancel()
    if not words and not any(ranking.matches for ranking in dense):  # dense was all there was, and brought nothing
        words = [await _lexical(run, plan, Search(text, "lexical", n)) for n, text in enumerate(plan.searched)]
    return vectors, [*dense, *words]


async def _embed(run: Run, plan: Plan) -> Mapping[int, Vector]:
    """The queries' vectors by number; none where the embedder is down, and then the answer says so."""
    embedder = run.kit.embedder
    try:
        with span("query_embedding", **embedding(run.settings.embedding.provider, embedder.name, len(plan.searched))):
            return dict(enumerate(await embedder.embed(plan.searched, as_query=True)))
    except Unavailable as error:
        run.note("embedding", f"search by meaning was left out: {error}")
        return {}


async def _dense(run: Run, plan: Plan, search: Search, vector: Vector) -> Ranking:
    filters = plan.question.filters
    with span("vector_search", query=search.query) as it:
        found = await run.kit.index.dense(vector, scope=run.scope, filters=filters, limit=plan.candidates)
        it.attributes["found"] = len(found)
    return Ranking(search, found)


async def _lexical(run: Run, plan: Plan, search: Search) -> Ranking:
    filters = plan.question.filters
    with span("lexical_search", query=search.query) as it:
        found = await run.kit.index.lexical(search.text, scope=run.scope, filters=filters, limit=plan.candidates)
        it.attributes["found"] = len(found)
    return Ranking(search, found)


def _place(rankings: Sequence[Ranking], alpha: float | None, rag: Rag) -> dict[int, list[Placing]]:
    """Each chunk's place in each ranking, and what that place adds to its score."""
    placings: dict[int, list[Placing]] = {}
    both = len({ranking.search.via for ranking in rankings}) > 1
    dense_weight = rag.alpha if alpha is None else alpha
    for ranking in rankings:
        weight = (dense_weight if ranking.search.via == "dense" else 1 - dense_weight) if both else 1.0
        shares = _shares([match.score for match in ranking.matches], rag)
        for rank, (match, share) in enumerate(zip(ranking.matches, shares, strict=True), start=1):
            added = (share if rag.fusion == "rrf" else weight * share) * ranking.search.weight
            placing = Placing(ranking.search.via, ranking.search.query, rank, match.score, added)
            placings.setdefault(match.key, []).append(placing)
    return placings


def _shares(scores: Sequence[float], rag: Rag) -> list[float]:
    """Relative score: 1 for the best and 0 for the last; reciprocal rank: 1 / (k + rank)."""
    if rag.fusion == "rrf":
        return [1 / (rag.rrf_k + rank) for rank in range(1, len(scores) + 1)]
    if not scores:
        return []
    low, high = min(scores), max(scores)
    return [(score - low) / (high - low) if high > low else 1.0 for score in scores]


def _fuse(placings: Mapping[int, Sequence[Placing]], rag: Rag, *, many: bool) -> dict[int, float]:
    """One score a chunk: the sum of its shares; between several queries of one call reciprocal rank."""
    if not many:
        return {key: sum(place.share for place in places) for key, places in placings.items()}
    by_query: dict[int, dict[int, float]] = {}
    for key, places in placings.items():
        for place in places:
            scores = by_query.setdefault(place.query, {})
            scores[key] = scores.get(key, 0.0) + place.share
    fused: dict[int, float] = {}
    for scores in by_query.values():
        order = sorted(scores, key=lambda key: (-scores[key], key))
        for rank, key in enumerate(order, start=1):
            fused[key] = fused.get(key, 0.0) + 1 / (rag.multi_query_rrf_k + rank)
    return fused
