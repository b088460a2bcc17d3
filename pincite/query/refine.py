"""Order anew, drop what is weak or repeated → Evidence."""

from collections.abc import Sequence
from dataclasses import replace

from pincite.core.answers import Evidence, Hit, Plan
from pincite.core.run import Run
from pincite.errors import ProviderError
from pincite.query.relevance import held_terms, relevance
from pincite.words import terms

SAME = 0.95
"""Passages that share so much of their words say the same."""


async def rank(run: Run, plan: Plan, hits: Sequence[Hit]) -> list[Hit]:
    """The final order of a search: reranked where there is a reranker, then cut to what was asked for."""
    ordered = list(hits)
    if run.kit.reranker is not None and hits:
        ordered = await run.attempt(ordered, rerank, plan, ordered)
    least = plan.question.min_score
    if least is not None:
        ordered = [hit for hit in ordered if hit.similarity >= least]
    embedded = not any(note.stage == "embedding" for note in run.degraded)
    return [
        replace(hit, relevance=relevance(plan.queries, hit.chunk, hit.similarity if embedded else None))
        for hit in ordered[: plan.top_k]
    ]


async def rerank(run: Run, plan: Plan, hits: Sequence[Hit]) -> list[Hit]:
    """The best hits in the reranker's order; its score becomes the score, the fused one is kept."""
    assert run.kit.reranker is not None
    top, rest = hits[: run.settings.rag.rerank_top], hits[run.settings.rag.rerank_top :]
    scores = await run.kit.reranker.score(plan.text, [hit.chunk.text for hit in top])
    if len(scores) != len(top) or any(score != score for score in scores):
        raise ProviderError(f"the reranker gave {len(scores)} scores for {len(top)} passages, or some are not numbers")
    rescored = [replace(hit, score=score) for hit, score in zip(top, scores, strict=True)]
    return sorted(rescored, key=lambda hit: -hit.score) + [replace(hit, score=min(scores)) for hit in rest]


async def refine(run: Run, plan: Plan, hits: Sequence[Hit]) -> Evidence:
    """What an answer will stand on: relevant enough, each thing once, best first."""
    strong = [hit for hit in hits if hit.relevance >= run.settings.rag.similarity_threshold]
    kept = _once(strong)
    words = _content_words(plan.text, {hit.chunk.language for hit, _ in kept})
    held = frozenset[str]().union(*(words_held for _, words_held in kept))
    missing = tuple(word for word, variants in words.items() if not variants & held)
    run.observe(weak=len(hits) - len(strong), repeated=len(strong) - len(kept), kept=len(kept))
    return Evidence(tuple(hit for hit, _ in kept), 1 - len(missing) / len(words) if words else 0.0, missing)


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
    for word in text.split():
        bare = word.strip("?!.,;:()\"'„“”«»")
        forms = [terms(bare, language) for language in languages]
        if bare and forms and all(forms):
            found[bare] = {term for form in forms for term in form}
    return found
