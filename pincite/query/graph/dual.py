"""Dual-level retrieval: entities by the names of a question, facts by its themes, joined in turn."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from pincite.core.protocols import Match
from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.core.traces import observe
from pincite.errors import Unavailable
from pincite.query.graph.search import question_names

if TYPE_CHECKING:
    from pincite.query.retrieve.engines import FirstPass

MAX_PER_LEVEL = 20
"""Passages of each level."""


@dataclass(frozen=True, slots=True)
class DualLevel:
    """The search at two levels for one question."""

    run: Run
    plan: Plan

    async def search(self, first: "FirstPass") -> Sequence[Match]:
        """The passages of both levels, one of each in turn; the first has the score 1."""
        graph, scope, filters = self.run.kit.graph, self.run.scope, self.plan.question.filters
        assert graph is not None
        if not await graph.has_vectors(scope=scope):
            raise Unavailable(
                "entities and facts have no vectors; set graph.vectors=true, then run: pincite reindex --graph"
            )
        near = await graph.subgraph(question_names(self.plan.text), (), scope=scope, filters=filters)
        asked, links = set(near.seeds), sorted(near.links, key=lambda one: -one[2])
        low = list(dict.fromkeys(chunk for chunk, name, _ in links if name in asked))[:MAX_PER_LEVEL]
        [themes] = await self.run.embed_queries([_themes(self.plan)])
        facts, entities = [
            await graph.nearest(themes, entities=kind, scope=scope, filters=filters, limit=MAX_PER_LEVEL)
            for kind in (False, True)
        ]
        high = list(dict.fromkeys(_in_turn([one.key for one in facts], [one.key for one in entities])))[:MAX_PER_LEVEL]
        joined = list(dict.fromkeys(_in_turn(low, high)))
        observe(low=len(low), high=len(high))
        return [Match(key, 1 - place / len(joined)) for place, key in enumerate(joined)]


def _themes(plan: Plan) -> str:
    """The question without its names; the question itself where nothing else is left."""
    text = plan.text
    for entity in plan.analysis.entities:
        text = text.replace(entity.text, " ")
    return " ".join(text.split()) if any(map(str.isalpha, text)) else plan.text


def _in_turn(one: Sequence[int], other: Sequence[int]) -> Iterator[int]:
    for pair in zip_longest(one, other):
        yield from (key for key in pair if key is not None)
