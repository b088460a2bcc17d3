"""The graph as a search engine: passages ranked from the question's entities and those of the best passages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pincite.core.graph import Subgraph
from pincite.core.protocols import Match
from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.core.traces import observe
from pincite.query.graph.bridges import OPEN_SHARE, Coverage, bridge_scores, coverage
from pincite.query.graph.pagerank import rank_passages
from pincite.query.retrieve.title_links import names_in
from pincite.text.wording.entity_names import name_hash, name_key

if TYPE_CHECKING:
    from pincite.query.retrieve.engines import FirstPass

SEED_PASSAGES = 5
"""So many of the best passages are seeds with their entities."""
BRIDGE_SHARE, RANK_SHARE = 0.72, 0.28
"""Shares of the bridges and of the rank in the score. They and the constants beside were fitted on half of the questions
of two sets; docs/graph.md has the figures of the other halves."""
WEIGHT = 0.9
"""Weight in fusion, where dense and lexical search share 1."""


@dataclass(frozen=True, slots=True)
class GraphTraversal:
    """The search of the graph for one question."""

    run: Run
    plan: Plan

    async def search(self, first: "FirstPass") -> Sequence[Match]:
        """The passages that bridges join to the best ones, and those of a high rank that have open words."""
        run, plan, filters = self.run, self.plan, self.plan.question.filters
        assert run.kit.graph is not None
        names = question_names(plan.text)
        best = first.best(SEED_PASSAGES)
        graph = await run.kit.graph.subgraph(names, best, scope=run.scope, filters=filters)
        known = {name for _, name, _ in graph.links}
        asked = [name for name in names if name in known]
        passages = list(dict.fromkeys([*best, *(chunk for chunk, _, _ in graph.links)]))
        terms = await run.kit.index.terms_in(plan.text, passages, scope=run.scope, filters=filters)
        observe(entities=len(asked), nodes=len(known) + len(passages))
        run.graph_seeds = tuple(asked)
        scores = {key: first.fusion.scores[key] for key in best}
        found = _scores(graph, scores, asked, coverage(terms, passages))
        ordered = sorted(found, key=lambda key: (-found[key], key))[: plan.candidates]
        return [Match(key, found[key]) for key in ordered]


def _scores(graph: Subgraph, best: Mapping[int, float], asked: Sequence[int], covered: Coverage) -> dict[int, float]:
    """The score of each passage of the graph, at most 1; `best` are the best passages with their fused scores."""
    top, total = max(best.values(), default=0.0) or 1.0, sum(best.values()) or 1.0
    bridges = bridge_scores(graph, {key: score / top for key, score in best.items()}, asked, covered)
    seeds = dict.fromkeys(asked, 1 / max(1, len(asked)))
    ranks = rank_passages(graph, seeds, {key: score / total for key, score in best.items()})
    highest = max(ranks.values(), default=0.0) or 1.0
    first = next(iter(best), None)
    beside, all_words = covered.share(first), covered.share(None)
    found: dict[int, float] = {}
    for key in {*bridges, *ranks}:
        place = covered.places[key]
        words = OPEN_SHARE + float((all_words if key == first else beside)[place])
        rank = (ranks.get(key, 0.0) / highest) ** 0.5 * words
        found[key] = min(1.0, BRIDGE_SHARE * bridges.get(key, 0.0) + RANK_SHARE * rank)
    return found


def question_names(text: str) -> list[int]:
    """The hashes of what may be a name in a question: phrases that begin with a capital or a digit."""
    return list(dict.fromkeys(name_hash(name) for name in names_in(text) if name_key(name)))
