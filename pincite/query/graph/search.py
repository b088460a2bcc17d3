"""The graph as a search engine: passages ranked from the question's entities and those of the best passages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pincite.core.protocols import Match
from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.core.traces import observe
from pincite.query.graph.pagerank import rank_passages
from pincite.query.retrieve.title_links import names_in
from pincite.text.wording.entity_names import name_hash, name_key

if TYPE_CHECKING:
    from pincite.query.retrieve.engines import FirstPass

SEED_PASSAGES = 5
"""So many of the best passages are seeds with their entities."""
QUESTION_WEIGHT = 1.0
"""Weight of an entity that the question names, against all passages together."""
PASSAGE_WEIGHT = 1.0
"""Weight of the best passages together."""


@dataclass(frozen=True, slots=True)
class GraphTraversal:
    """The search of the graph for one question."""

    run: Run
    plan: Plan

    async def search(self, first: "FirstPass") -> Sequence[Match]:
        """The passages by personalised PageRank within two hops; the best one has the score 1."""
        run, plan = self.run, self.plan
        assert run.kit.graph is not None
        names = question_names(plan.text)
        best = first.best(SEED_PASSAGES)
        graph = await run.kit.graph.subgraph(names, best, scope=run.scope, filters=plan.question.filters)
        known = {name for _, name, _ in graph.links}
        seeds = [name for name in names if name in known]
        scores = first.fusion.scores
        total = sum(scores[key] for key in best) or 1.0
        passages = {key: PASSAGE_WEIGHT * scores[key] / total for key in best}
        ranks = rank_passages(graph, dict.fromkeys(seeds, QUESTION_WEIGHT / max(1, len(seeds))), passages)
        observe(entities=len(seeds), nodes=len(known) + len({chunk for chunk, _, _ in graph.links}))
        run.graph_seeds = tuple(seeds)
        top = max(ranks.values(), default=0.0)
        return [Match(key, rank / top) for key, rank in ranks.items()][: plan.candidates] if top else []


def question_names(text: str) -> list[int]:
    """The hashes of what may be a name in a question: phrases that begin with a capital or a digit."""
    return list(dict.fromkeys(name_hash(name) for name in names_in(text) if name_key(name)))
