"""The second pass of a search: find what the first pass did not cover, and merge both results."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pincite.core.query.hits import Evidence, Hit, ScoreContribution
from pincite.core.query.plan import Plan, Search
from pincite.query.rank.relevance import chunk_terms, coverage
from pincite.query.retrieve.fusion import rrf_contributions
from pincite.query.understand.decompose import parts_of
from pincite.query.understand.entities import entities_in
from pincite.query.understand.strategy import STRATEGIES
from pincite.text.terms import query_terms, question_language, terms

RRF_K = 60
"""Constant of the reciprocal rank fusion of both passes."""
SECOND_PASS_WEIGHT = 0.5
"""Weight of a rank in the second pass; a rank in the first pass has weight 1."""
EXTRA_PASSAGES = 5
"""How many more passages an answer may use after a second pass."""
MAX_NAMES = 3
"""Names of the best passage that are added to the query: the next step of a question is often only named there."""
UNCOVERED = 0.5
"""A part of a question is uncovered where no passage holds this share of its terms."""


def next_query(plan: Plan, evidence: Evidence) -> str:
    """The query of the second pass; empty where everything is covered.

    It is a part of the question that no passage covers. Otherwise, for a question of several steps or with terms that no
    passage holds, it is what the best passage leaves open plus the names which that passage adds.
    """
    if not evidence.hits:
        return ""
    if part := _uncovered(plan, evidence.hits):
        return part
    if not evidence.missing and not plan.analysis.is_multi_hop:
        return ""
    best = evidence.hits[0]
    return " ".join((*_open_terms(plan.text, best), *_new_names(plan.text, best)))


def plan_for(plan: Plan, query: str) -> Plan:
    """The plan of a search for this query alone; relevance is still measured against the question."""
    number = len(plan.searched)
    searches = tuple(Search(query, via, number) for via in STRATEGIES[plan.strategy].engines)
    return replace(plan, extra=(*plan.extra, query), searches=searches)


def merge(first: Sequence[Hit], second: Sequence[Hit], limit: int) -> list[Hit]:
    """The hits of both passes, each once, ordered by reciprocal rank fusion."""
    contributions: dict[int, list[ScoreContribution]] = {}
    for number, (hits, weight) in enumerate(((first, 1.0), (second, SECOND_PASS_WEIGHT))):
        ordered = {hit.chunk.key: hit.score for hit in hits}
        for key, one in rrf_contributions("look", number, ordered, k=RRF_K, weight=weight).items():
            contributions.setdefault(key, []).append(one)
    hits_by_key = {hit.chunk.key: hit for hit in (*second, *first)}
    merged = [
        replace(hit, score=sum(one.share for one in contributions[key]), placings=(*hit.placings, *contributions[key]))
        for key, hit in hits_by_key.items()
    ]
    return sorted(merged, key=lambda hit: (-hit.score, hit.chunk.key))[:limit]


def _uncovered(plan: Plan, hits: Sequence[Hit]) -> str:
    """The part of a question with several parts that no passage covers."""
    parts = parts_of(plan.text, plan.analysis)
    best = {part: max(coverage(part, chunk_terms(hit.chunk), hit.chunk.language) for hit in hits) for part in parts}
    least = min(best, key=lambda part: best[part], default="")
    return least if least and best[least] < UNCOVERED else ""


def _open_terms(text: str, best: Hit) -> Iterator[str]:
    """The content words of the question that a passage does not hold."""
    own, language, held = question_language(text), best.chunk.language, chunk_terms(best.chunk)
    for word in text.split():
        bare = word.strip("?!.,;:()\"'„“”«»")
        if terms(bare, own) and held.isdisjoint(query_terms(bare, [language])):
            yield bare


def _new_names(text: str, best: Hit) -> list[str]:
    """The first names in a passage that the question does not mention."""
    asked = text.lower()
    found = [one.text for one in entities_in(best.chunk.text) if one.kind == "name" and one.text.lower() not in asked]
    return found[:MAX_NAMES]
