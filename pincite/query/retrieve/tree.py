"""The engine of the summary tree: the passages below the nodes that fit the question."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pincite.core.protocols import Match
from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.errors import Unavailable

if TYPE_CHECKING:
    from pincite.query.retrieve.engines import FirstPass

WEIGHT = 1.0
"""Weight in fusion, where dense and lexical search share 1; chosen on the half of the overview questions for tuning."""


async def tree_search(run: Run, plan: Plan, first: "FirstPass") -> Sequence[Match]:
    """The passages below the best nodes, with the scores that these hand down; a summary itself is never a result."""
    if run.kit.tree is None or 0 not in first.vectors:
        raise Unavailable("the question has no vector")
    return await run.kit.tree.search(
        plan.text, first.vectors[0], scope=run.scope, filters=plan.question.filters, limit=plan.candidates
    )
