"""A second look: where what was found says nothing about part of a question, that is searched for once more."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pincite.core.query.hits import Evidence, Hit, ScoreContribution
from pincite.core.query.plan import Plan, Search
from pincite.query.rank.relevance import chunk_terms, coverage
from pincite.query.understand.decompose import parts_of
from pincite.query.understand.entities import entities_in
from pincite.query.understand.strategy import STRATEGIES
from pincite.text.terms import query_terms, question_language, terms

K = 60
"""Constant of the reciprocal ranks by which both looks are joined."""
SECOND = 0.5
"""What a place in the second look counts beside one in the first."""
EXTRA_PASSAGES = 5
"""So many passages more than usual an answer may stand on after a second look."""
NAMES = 3
"""Names of the best passage that are looked for as well: the next step of a question is often only named there."""
UNCOVERED = 0.5
"""A part of a question is open where no passage has so many of its words."""


def next_query(plan: Plan, evidence: Evidence) -> str:
    """What to look for: a part of the question that nothing is about, or its next step; empty where all is covered.

    The next step of one that takes several, or that has words nothing found holds, is what the best passage says nothing
    about, with the names that passage adds: it answers the first step, and whom the next one is about only stands there.
    """
    if not evidence.hits:
        return ""
    if part := _uncovered(plan, evidence.hits):
        return part
    if not evidence.missing and not plan.analysis.is_multi_hop:
        return ""
    best = evidence.hits[0]
    return " ".join((*_lacking(plan.text, best), *_named(plan.text, best)))


def plan_for(plan: Plan, text: str) -> Plan:
    """The plan of a search for this text alone; passages are still judged by what was asked."""
    number = len(plan.searched)
    searches = tuple(Search(text, via, number) for via in STRATEGIES[plan.strategy].engines)
    return replace(plan, extra=(*plan.extra, text), searches=searches)


def merge(first: Sequence[Hit], second: Sequence[Hit], most: int) -> list[Hit]:
    """The hits of both looks, each once, by the sum of what their places are worth."""
    placings: dict[int, list[ScoreContribution]] = {}
    for number, (hits, weight) in enumerate(((first, 1.0), (second, SECOND))):
        for rank, hit in enumerate(hits, start=1):
            placing = ScoreContribution("look", number, rank, hit.score, weight / (K + rank), weight=weight)
            placings.setdefault(hit.chunk.key, []).append(placing)
    known = {hit.chunk.key: hit for hit in (*second, *first)}
    joined = [
        replace(hit, score=sum(place.share for place in placings[key]), placings=(*hit.placings, *placings[key]))
        for key, hit in known.items()
    ]
    return sorted(joined, key=lambda hit: (-hit.score, hit.chunk.key))[:most]


def _uncovered(plan: Plan, hits: Sequence[Hit]) -> str:
    """The part of a question of several that no passage is about."""
    parts = parts_of(plan.text, plan.analysis)
    best = {part: max(coverage(part, chunk_terms(hit.chunk), hit.chunk.language) for hit in hits) for part in parts}
    least = min(best, key=lambda part: best[part], default="")
    return least if least and best[least] < UNCOVERED else ""


def _lacking(text: str, best: Hit) -> Iterator[str]:
    """The question's words of meaning that a passage does not hold."""
    own, language, held = question_language(text), best.chunk.language, chunk_terms(best.chunk)
    for word in text.split():
        bare = word.strip("?!.,;:()\"'„“”«»")
        if terms(bare, own) and held.isdisjoint(query_terms(bare, [language])):
            yield bare


def _named(text: str, best: Hit) -> list[str]:
    """Names in a passage that the question does not mention."""
    asked = text.lower()
    found = [one.text for one in entities_in(best.chunk.text) if one.kind == "name" and one.text.lower() not in asked]
    return found[:NAMES]
