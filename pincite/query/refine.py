"""What was found and sifted → Evidence."""

from collections.abc import Sequence

from pincite.core.answers import Evidence, Hit, Plan
from pincite.core.run import Run
from pincite.query.aspects import aspects_of, coverage_of
from pincite.query.relevance import held_terms

MOST = 50
"""No answer stands on more passages."""


async def refine(run: Run, plan: Plan, hits: Sequence[Hit]) -> Evidence:
    """What an answer will stand on, best first, how much of the question it covers, and which aspects it does not."""
    kept = hits[:MOST]
    aspects = aspects_of(plan.text, plan.reading.entities, {hit.chunk.language for hit in kept})
    held = frozenset[str]().union(*(held_terms(hit.chunk) for hit in kept))
    coverage, missing = coverage_of(aspects, held)
    run.observe(kept=len(kept), aspects=len(aspects), missing=len(missing))
    return Evidence(tuple(kept), coverage, missing)
