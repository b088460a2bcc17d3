"""A second look: where what was found says nothing about part of a question, that is searched for once more."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pincite.core.answers import Evidence, Hit, Placing, Plan, Search
from pincite.query.entities import entities_in
from pincite.query.parts import parts_of
from pincite.query.relevance import coverage, held_terms
from pincite.query.strategy import WAYS

K = 60
"""Constant of the reciprocal ranks by which both looks are joined."""
SECOND = 0.5
"""What a place in the second look counts beside one in the first."""
MORE = 5
"""So many passages more than usual an answer may stand on after a second look."""
NAMES = 2
"""Names that the best passage adds to what is looked for: the answer's next step is often named there."""


def toward(plan: Plan, evidence: Evidence) -> str:
    """What to look for: the part of the question that is least covered, or the words nothing found holds; empty for nothing.

    With it go names of the best passage that the question does not have: who is asked about may only be named there.
    """
    if not evidence.hits:
        return ""
    part = _uncovered(plan, evidence.hits)
    if part:
        return part
    if not evidence.missing:
        return ""
    return " ".join((*evidence.missing, *_named(plan, evidence.hits[0])))


def aimed(plan: Plan, text: str) -> Plan:
    """The plan of a search for this text alone; passages are still judged by what was asked."""
    number = len(plan.searched)
    searches = tuple(Search(text, via, number) for via in WAYS[plan.strategy].engines)
    return replace(plan, extra=(*plan.extra, text), searches=searches)


def merged(first: Sequence[Hit], second: Sequence[Hit], most: int) -> list[Hit]:
    """The hits of both looks, each once, by the sum of what their places are worth."""
    placings: dict[int, list[Placing]] = {}
    for number, (hits, weight) in enumerate(((first, 1.0), (second, SECOND))):
        for rank, hit in enumerate(hits, start=1):
            placing = Placing("look", number, rank, hit.score, weight / (K + rank), weight=weight)
            placings.setdefault(hit.chunk.key, []).append(placing)
    known = {hit.chunk.key: hit for hit in (*second, *first)}
    joined = [
        replace(hit, score=sum(place.share for place in placings[key]), placings=(*hit.placings, *placings[key]))
        for key, hit in known.items()
    ]
    return sorted(joined, key=lambda hit: (-hit.score, hit.chunk.key))[:most]


def _uncovered(plan: Plan, hits: Sequence[Hit]) -> str:
    """The part of a question of several that no passage is about."""
    parts = parts_of(plan.text, plan.reading)
    best = {part: max(coverage(part, held_terms(hit.chunk), hit.chunk.language) for hit in hits) for part in parts}
    least = min(best, key=lambda part: best[part], default="")
    return least if least and best[least] < 0.5 else ""


def _named(plan: Plan, best: Hit) -> Iterator[str]:
    """Names in the best passage that the question does not mention."""
    asked = plan.text.lower()
    found = [one.text for one in entities_in(best.chunk.text) if one.kind == "name" and one.text.lower() not in asked]
    yield from found[:NAMES]
