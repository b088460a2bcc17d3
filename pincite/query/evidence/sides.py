"""The two sides of a comparison: which passages are about each, so that no filter leaves one side without any."""

from collections.abc import Sequence

from pincite.core.query.hits import Hit
from pincite.core.query.plan import Plan
from pincite.extractive.whole.comparison import sides_in
from pincite.extractive.whole.naming import name_share, side_words
from pincite.query.rank.relevance import chunk_terms, coverage

MIN_SIDE_COVERAGE = 0.5
"""Share of a side's own words that a passage about it has, in its text, title or headings."""
MAX_SIDE_PASSAGES = 2
"""Passages that are added for a side without any."""


def sides_of(plan: Plan) -> tuple[str, ...]:
    """What each of the two things of a comparison is called, without the words that both have; empty without two."""
    if plan.intent != "COMPARISON" or not (sides := sides_in(plan.text)):
        return ()
    return tuple(" ".join(words) for words in side_words(*sides))


def missing_sides(sides: Sequence[str], hits: Sequence[Hit]) -> list[str]:
    """The sides that no hit is about by its title or headings: a word in its text may mean something else."""
    return [side for side in sides if not named_in(side, hits)]


def named_in(side: str, hits: Sequence[Hit]) -> list[Hit]:
    """The hits whose title and headings have most of a side's words, in their order."""
    words = side.split()
    shares = [name_share(words, (hit.chunk.title, *hit.chunk.heading_path)) for hit in hits]
    return _best(hits, shares)


def said_in(side: str, hits: Sequence[Hit]) -> list[Hit]:
    """The hits whose text has most of a side's words, in their order."""
    return _best(hits, [coverage(side, chunk_terms(hit.chunk), hit.chunk.language) for hit in hits])


def _best(hits: Sequence[Hit], shares: Sequence[float]) -> list[Hit]:
    most = max(shares, default=0.0)
    return [hit for hit, share in zip(hits, shares, strict=True) if share == most >= MIN_SIDE_COVERAGE]


def with_sides(kept: Sequence[Hit], found: Sequence[Sequence[Hit]]) -> list[Hit]:
    """The hits, and the best that were found about each missing side; none of the side is left behind the others."""
    added = [hit for hits in found for hit in hits[:MAX_SIDE_PASSAGES]]
    known = {hit.chunk.key for hit in kept}
    new = {hit.chunk.key: hit for hit in added if hit.chunk.key not in known}
    return [*kept[:1], *new.values(), *kept[1:]]
