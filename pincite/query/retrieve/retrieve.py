"""Run the searches of the plan concurrently and fuse their rankings into hits with their scores."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from pincite.core.documents.document import HIDDEN_CONTENT_TYPE
from pincite.core.protocols import Fetched, TitleMatch, Vector
from pincite.core.query.hits import Hit, RetrievedChunk
from pincite.core.query.plan import Plan, Search
from pincite.core.run import Run
from pincite.core.traces import span
from pincite.errors import Unavailable
from pincite.query.retrieve.across_languages import compares_languages, nearest_keys, with_usual_lexical_score
from pincite.query.retrieve.engines import FirstPass, FurtherEngines
from pincite.query.retrieve.fusion import Fusion, Ranking
from pincite.query.retrieve.title_links import (
    NAMING_PASSAGES,
    QUESTION_MENTION_SCORE,
    MentionedNames,
    boost_named_documents,
    mentioned_names,
)

FOREIGN_VECTORS_STAGE = "vectors"
"""Name in `degraded` for documents embedded by another model: they cannot be compared with the question's vector."""
NOTHING = Fetched({}, {})
MAX_ATTEMPTS = 5
"""Attempts of a search; it starts again where a document was replaced between search and fetch, or hidden chunks were found."""


async def retrieval(run: Run, plan: Plan) -> list[Hit]:
    """Run every search concurrently, fuse the rankings and fetch the best chunks from one snapshot.

    Further engines (`engines.py`) begin with what dense and lexical search found.
    """
    vectors: Mapping[int, Vector] = {}
    hidden: set[int] = set()
    for attempt in range(MAX_ATTEMPTS):
        wider = replace(plan, candidates=plan.candidates + len(hidden)) if hidden else plan
        vectors, rankings = await _search(run, wider, vectors)
        rankings = [_without(ranking, hidden, plan.candidates) for ranking in rankings] if hidden else rankings
        fusion = _fuse(run, plan, rankings)
        if further := await FurtherEngines(run, plan).rankings(FirstPass(vectors, rankings, fusion)):
            fusion = _fuse(run, plan, [*rankings, *further])
        best = sorted(fusion.scores, key=lambda key: (-fusion.scores[key], key))[: _fetch_limit(run, plan)]
        titles = await _titles_ahead(run, plan, vectors, fusion, best) if attempt == 0 else None
        nearest = nearest_keys(rankings) if compares_languages(run, plan) else []
        wanted = list(dict.fromkeys([*best, *nearest, *(titles.keys_beside(best) if titles else ())]))
        with span("passage_fetch", passages=len(wanted)):
            fetched = await run.kit.index.fetch(
                wanted, _scoring_vectors(plan, vectors), scope=run.scope, filters=plan.question.filters
            )
        if _hidden_in(fetched):
            hidden |= await _hidden_among(run, plan, rankings, fetched)
        elif len(fetched.chunks) == len(wanted) and not fetched.outdated:
            break
    if vectors and fetched.strangers:
        foreign = f"{fetched.strangers} document{'s' if fetched.strangers > 1 else ''}"
        run.degrade(
            FOREIGN_VECTORS_STAGE,
            f"{foreign} embedded by another model: searched by words alone; renew with: pincite reindex --stale",
        )
    hits = [_hit(fusion, chunk, fetched) for key in best if (chunk := fetched.chunks.get(key))]
    if nearest:
        beside = [chunk for key in nearest if key not in best and (chunk := fetched.chunks.get(key))]
        hits = with_usual_lexical_score(plan.text, hits, [_hit(fusion, chunk, fetched) for chunk in beside])
    if not _follows_titles(run, plan, vectors):
        return hits
    if titles is None:
        titles = await _find_titles(run, plan, vectors[0], hits)
        new = titles.keys_beside(best)
        filters = plan.question.filters
        fetched = await run.kit.index.fetch(new, [vectors[0]], scope=run.scope, filters=filters) if new else NOTHING
    return _with_titled(run, fusion, hits, titles, fetched)


def _hidden_in(fetched: Fetched) -> set[int]:
    """The chunks that are never results."""
    return {key for key, chunk in fetched.chunks.items() if chunk.content_type == HIDDEN_CONTENT_TYPE}


async def _hidden_among(run: Run, plan: Plan, rankings: Sequence[Ranking], fetched: Fetched) -> set[int]:
    """All chunks of the rankings that are never results; the search starts again without them."""
    others = list({match.key for ranking in rankings for match in ranking.matches} - fetched.chunks.keys())
    rest = await run.kit.index.fetch(others, [], scope=run.scope, filters=plan.question.filters) if others else NOTHING
    return _hidden_in(fetched) | _hidden_in(rest)


def _without(ranking: Ranking, hidden: set[int], most: int) -> Ranking:
    """A ranking as if the index did not hold some chunks."""
    kept = [match for match in ranking.matches if match.key not in hidden]
    return replace(ranking, matches=kept[:most], more=ranking.more or len(kept) > most)


def _fuse(run: Run, plan: Plan, rankings: Sequence[Ranking]) -> Fusion:
    depth = max(plan.top_k, plan.reads)
    return Fusion(rankings, plan.question.alpha, run.settings.rag, many=plan.many, depth=depth)


def _follows_titles(run: Run, plan: Plan, vectors: Mapping[int, Vector]) -> bool:
    """Whether title links are followed: one question, searched by both engines."""
    both = len({search.via for search in plan.searches}) > 1
    one = set(vectors) == {0} or (bool(plan.extra and vectors) and len(plan.queries) == 1)
    return run.settings.rag.follow_titles > 0 and both and one


@dataclass(frozen=True, slots=True)
class _Titles:
    """What the question and the best passages mention, and the documents with such a title."""

    mentioned: MentionedNames
    found: Sequence[TitleMatch]

    def keys_beside(self, known: Collection[int]) -> list[int]:
        """The nearest passage of each of these documents, but for the known ones."""
        return [key for key in dict.fromkeys(one.nearest.key for one in self.found) if key not in known]


async def _titles_ahead(
    run: Run, plan: Plan, vectors: Mapping[int, Vector], fusion: Fusion, best: Sequence[int]
) -> _Titles | None:
    """The titles, before the passages are read, if the texts of the best ones are known; else None.

    Their passages are then read together with the others. If one of all these may not be read, nothing of it counts:
    the search starts again.
    """
    if not _follows_titles(run, plan, vectors):
        return None
    first = best[:NAMING_PASSAGES]
    known = run.kit.index.remembered(first, scope=run.scope, filters=plan.question.filters)
    if len(known) < len(first):
        return None
    return await _find_titles(run, plan, vectors[0], [_hit(fusion, known[key], NOTHING) for key in first])


async def _find_titles(run: Run, plan: Plan, vector: Vector, hits: Sequence[Hit]) -> _Titles:
    """The documents whose title the question or the best of the hits mention."""
    mentioned = mentioned_names(
        plan.text, hits, QUESTION_MENTION_SCORE * hits[0].score if plan.many and hits else QUESTION_MENTION_SCORE
    )
    with span("title_search", names=len(mentioned.names)) as it:
        found = await run.kit.index.documents_named(
            mentioned.names, vector, scope=run.scope, filters=plan.question.filters
        )
        it.attributes["found"] = len(found)
    return _Titles(mentioned, found)


def _with_titled(run: Run, fusion: Fusion, hits: Sequence[Hit], titles: _Titles, fetched: Fetched) -> list[Hit]:
    """The hits in a new order: the best passage of each document whose title is mentioned gets a higher score."""
    if not titles.found:
        return list(hits)
    known = {hit.chunk.key: hit for hit in hits}
    cosines = {one.nearest.key: one.nearest.score for one in titles.found}
    new = {key: fetched.chunks[key] for key in cosines if key not in known and key in fetched.chunks}
    known.update((key, _hit(fusion, chunk, fetched, cosines[key])) for key, chunk in new.items())
    named = {one.document_id: titles.mentioned.naming(one.name) for one in titles.found}
    boosted = boost_named_documents(known.values(), named, run.settings.rag.follow_titles)
    moved = {hit.chunk.key: hit for hit in (*hits, *boosted)}
    return sorted(moved.values(), key=lambda hit: (-hit.score, hit.chunk.key))


def _hit(fusion: Fusion, chunk: RetrievedChunk, fetched: Fetched, cosine: float | None = None) -> Hit:
    """A chunk with its scores; a chunk in no ranking is scored by its cosine, or 0 where several queries are fused."""
    if cosine is not None and fusion.joined:
        return Hit(chunk, 0.0, fetched.similarities.get(chunk.key, 0.0), 0.0, 0.0)
    placings = fusion.placings(chunk.key, cosine)
    score = fusion.scores.get(chunk.key) if cosine is None else sum(place.share for place in placings)
    similarity = fetched.similarities.get(chunk.key, 0.0)
    return Hit(chunk, score or 0.0, similarity, 0.0, score or 0.0, placings)


def _scoring_vectors(plan: Plan, vectors: Mapping[int, Vector]) -> list[Vector]:
    """The vectors that similarities are computed with; those of further queries only help to find passages."""
    return [vector for number, vector in vectors.items() if number < len(plan.queries)]


def _fetch_limit(run: Run, plan: Plan) -> int:
    """The number of chunks to fetch: enough for those that later stages drop or move up."""
    if plan.question.min_score is not None:
        return max(plan.candidates, plan.max_results)
    rerank_top = run.settings.rag.rerank_top if plan.rerank_top is None else plan.rerank_top
    return max(2 * plan.max_results, plan.reads, rerank_top if run.kit.reranker else 0)


async def _search(run: Run, plan: Plan, vectors: Mapping[int, Vector]) -> tuple[Mapping[int, Vector], list[Ranking]]:
    """Run the lexical searches while the queries are being embedded, then the dense searches."""
    if run.kit.index.answers_at_once(run.scope, plan.question.filters):
        words = [await _lexical(run, plan, search) for search in plan.searches if search.via == "lexical"]
        vectors = vectors or await _embed(run, plan)
        dense = [await _dense(run, plan, search, vectors[search.query]) for search in _dense_searches(plan, vectors)]
        return vectors, await _never_nothing(run, plan, dense, words)
    lexical = [
        asyncio.ensure_future(_lexical(run, plan, search)) for search in plan.searches if search.via == "lexical"
    ]
    try:
        vectors = vectors or await _embed(run, plan)
        wanted = _dense_searches(plan, vectors)
        dense = await asyncio.gather(*(_dense(run, plan, search, vectors[search.query]) for search in wanted))
        words = await asyncio.gather(*lexical)
    finally:
        for task in lexical:
            task.cancel()
    return vectors, await _never_nothing(run, plan, dense, words)


def _dense_searches(plan: Plan, vectors: Mapping[int, Vector]) -> list[Search]:
    return [search for search in plan.searches if search.via == "dense" and search.query in vectors]


async def _never_nothing(run: Run, plan: Plan, dense: Sequence[Ranking], words: Sequence[Ranking]) -> list[Ranking]:
    """All rankings; where no lexical search was planned and the dense ones found nothing, those of lexical ones."""
    if not words and not any(ranking.matches for ranking in dense):
        words = [await _lexical(run, plan, Search(text, "lexical", n)) for n, text in enumerate(plan.searched)]
    return [*dense, *words]


async def _embed(run: Run, plan: Plan) -> Mapping[int, Vector]:
    """The vectors of the queries by number; empty where the embedder is down, which is reported as a degradation."""
    try:
        return dict(enumerate(await run.embed_queries(plan.searched)))
    except Unavailable as error:
        run.degrade("query_embedding", f"search by meaning was left out: {error}")
        return {}


async def _dense(run: Run, plan: Plan, search: Search, vector: Vector) -> Ranking:
    filters = plan.question.filters
    with span("vector_search", query=search.query) as it:
        found = await run.kit.index.dense(vector, scope=run.scope, filters=filters, limit=plan.candidates)
        it.attributes["found"] = len(found)
    return Ranking(search, found, more=len(found) >= plan.candidates)


async def _lexical(run: Run, plan: Plan, search: Search) -> Ranking:
    filters = plan.question.filters
    with span("lexical_search", query=search.query) as it:
        found = await run.kit.index.lexical(search.text, scope=run.scope, filters=filters, limit=plan.candidates)
        it.attributes["found"] = len(found)
    return Ranking(search, found, more=len(found) >= plan.candidates)
