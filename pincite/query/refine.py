"""Order anew, drop what is weak or repeated → Evidence."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace

from pincite.core.answers import Evidence, Hit, Plan
from pincite.core.run import Run
from pincite.errors import ProviderError
from pincite.query.relevance import held_terms, relevance
from pincite.words import query_terms, question_language, terms

SAME = 0.95
"""Passages that share so much of their words say the same."""
MOST = 50
"""No answer stands on more passages."""


async def rank(run: Run, plan: Plan, hits: Sequence[Hit]) -> list[Hit]:
    """The final order of a search: reranked where there is a reranker, then cut to what was asked for."""
    ordered = list(hits)
    if run.kit.reranker is not None and hits:
        ordered = await run.attempt(ordered, rerank, plan, ordered)
    embedded = _embedded(run)
    if plan.question.min_score is not None and embedded:
        ordered = [hit for hit in ordered if hit.similarity >= plan.question.min_score]
    elif plan.question.min_score is not None:
        run.note("rank", "min_score was not applied: without the embedder there is no similarity")
    judged = await asyncio.to_thread(_judged, plan, ordered[: plan.top_k], embedded)
    run.observe(found=len(judged), hits=[[hit.chunk.id, round(hit.score, 6)] for hit in judged])
    return judged


def _judged(plan: Plan, hits: Sequence[Hit], embedded: bool) -> list[Hit]:
    return [
        replace(hit, relevance=relevance(plan.queries, hit.chunk, hit.similarity if embedded else None)) for hit in hits
    ]


async def rerank(run: Run, plan: Plan, hits: Sequence[Hit]) -> list[Hit]:
    """The best hits in the reranker's order; its score becomes the score, the fused one is kept."""
    assert run.kit.reranker is not None
    top, rest = hits[: run.settings.rag.rerank_top], hits[run.settings.rag.rerank_top :]
    run.observe(reranker=run.settings.rag.reranker, passages=len(top))
    scores = _finite(await run.kit.reranker.score(plan.text, [hit.chunk.text for hit in top]), len(top))
    rescored = [replace(hit, score=score, rerank_score=score) for hit, score in zip(top, scores, strict=True)]
    return sorted(rescored, key=lambda hit: -hit.score) + [replace(hit, score=min(scores)) for hit in rest]


def _finite(scores: Sequence[float], count: int) -> list[float]:
    """The scores, if there is a number for each passage: an order by anything else would be wrong in silence."""
    try:
        numbers = [float(score) for score in scores]
    except (TypeError, ValueError, OverflowError):
        numbers = []
    if len(numbers) != count or not all(map(math.isfinite, numbers)):
        raise ProviderError(f"the reranker did not give a number for each of {count} passages")
    return numbers


async def refine(run: Run, plan: Plan, hits: Sequence[Hit]) -> Evidence:
    """What an answer will stand on: relevant enough, each thing once, best first."""
    strong = [hit for hit in hits if _strength(run, hit) >= run.settings.rag.similarity_threshold][:MOST]
    kept = _once(strong)
    words = _content_words(plan.text, {hit.chunk.language for hit, _ in kept})
    held = frozenset[str]().union(*(words_held for _, words_held in kept))
    missing = tuple(word for word, variants in words.items() if not variants & held)
    run.observe(weak=len(hits) - len(strong), repeated=len(strong) - len(kept), kept=len(kept))
    return Evidence(tuple(hit for hit, _ in kept), 1 - len(missing) / len(words) if words else 0.0, missing)


def _strength(run: Run, hit: Hit) -> float:
    """What the threshold reads; without vectors there is no cosine, and relevance stands in for it."""
    by_cosine = run.settings.rag.threshold_on == "similarity" and _embedded(run)
    return hit.similarity if by_cosine else hit.relevance


def _embedded(run: Run) -> bool:
    """Whether every hit has a cosine: the question was embedded, and by the model of all documents."""
    return not any(note.stage in ("embedding", "vectors") for note in run.degraded)


def _once(hits: Sequence[Hit]) -> list[tuple[Hit, set[str]]]:
    """Each hit that says something new, with the words it holds."""
    kept: list[tuple[Hit, set[str]]] = []
    for hit in hits:
        held = held_terms(hit.chunk)
        if not any(len(held & other) > SAME * len(held | other) for _, other in kept):
            kept.append((hit, held))
    return kept


def _content_words(text: str, languages: set[str]) -> dict[str, set[str]]:
    """The question's words that carry meaning, as written, each with the forms it is indexed under."""
    found: dict[str, set[str]] = {}
    own = question_language(text)
    for word in text.split():
        bare = word.strip("?!.,;:()\"'„“”«»")
        if terms(bare, own):
            found[bare] = set(query_terms(bare, languages or {own}))
    return found
