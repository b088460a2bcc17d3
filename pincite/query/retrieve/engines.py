"""The engines beside dense and lexical search: when each runs, and what it adds to the fusion.

An engine is a row of `ENGINES`. It gets what dense and lexical search found, and returns chunks with scores from 0 to 1,
best first. One that fails, or that was asked for and has nothing built, is named in `degraded` and left out.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from pincite.config.branches.retrieval import Rag
from pincite.core.engines import BuiltEngine, EngineName
from pincite.core.protocols import Match, Vector
from pincite.core.query.answer import Degraded
from pincite.core.query.plan import Plan, Search
from pincite.core.run import Run
from pincite.core.traces import span
from pincite.errors import Unavailable
from pincite.query.graph.dual import DualLevel
from pincite.query.graph.search import WEIGHT, GraphTraversal
from pincite.query.retrieve import late, tree
from pincite.query.retrieve.fusion import Fusion, Ranking


@dataclass(frozen=True, slots=True)
class FirstPass:
    """What dense and lexical search found: the vectors of the queries, each ranking, and their fused scores."""

    vectors: Mapping[int, Vector]
    rankings: Sequence[Ranking]
    fusion: Fusion

    def best(self, most: int) -> list[int]:
        """The chunks with the best fused scores, best first."""
        scores = self.fusion.scores
        return sorted(scores, key=lambda key: (-scores[key], key))[:most]


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine: its span, the data it needs, its weight in fusion, its setting, and when it helps without it."""

    name: EngineName
    stage: str
    needs: BuiltEngine
    weight: float
    enabled: Callable[[Rag], bool]
    helps: Callable[[Plan], bool]
    search: Callable[[Run, Plan, FirstPass], Awaitable[Sequence[Match]]]


def in_fusion(plan: Plan) -> bool:
    """Whether the strategy uses every engine that is built."""
    return plan.strategy == "fusion"


def _by_graph(plan: Plan) -> bool:
    """Whether the graph helps: questions of several steps, those with the classifier's hint, the strategy `fusion`."""
    return in_fusion(plan) or plan.analysis.is_multi_hop or plan.analysis.hints.graph


ENGINES: tuple[Engine, ...] = (
    Engine(
        "graph",
        "graph_traversal",
        "graph",
        WEIGHT,
        lambda rag: rag.knowledge_graph_enabled,
        _by_graph,
        lambda run, plan, first: GraphTraversal(run, plan).search(first),
    ),
    Engine(
        "dual",
        "dual_level_search",
        "graph",
        0.2,
        lambda rag: rag.dual_level,
        lambda _plan: False,
        lambda run, plan, first: DualLevel(run, plan).search(first),
    ),
    Engine("tree", "tree_search", "tree", tree.WEIGHT, lambda rag: rag.tree, in_fusion, tree.tree_search),
    Engine(
        "late", "late_interaction", "late", late.WEIGHT, lambda rag: rag.late_interaction, in_fusion, late.late_search
    ),
)
"""Every engine, in the order of its contributions."""
RANKS_LAST: EngineName = "late"
"""The engine that ranks the candidates of all others."""


@dataclass(frozen=True, slots=True)
class FurtherEngines:
    """The engines that a question uses beside dense and lexical search."""

    run: Run
    plan: Plan

    async def rankings(self, first: FirstPass) -> list[Ranking]:
        """Their rankings, computed at the same time, then that of the engine which ranks what the others found."""
        rag, builds = self.run.settings.rag, self.run.kit.builds
        wanted = [one for one in ENGINES if one.enabled(rag) or one.helps(self.plan)]
        if not wanted or builds is None:
            return []
        built = await builds.built(self.run.scope)
        for engine in wanted:
            if engine.needs not in built and engine.enabled(rag):
                self.run.degrade(engine.name, _not_built(engine.needs))
        usable = [engine for engine in wanted if engine.needs in built]
        found = await self._rank_all(first, [engine for engine in usable if engine.name != RANKS_LAST])
        first = replace(first, rankings=(*first.rankings, *found))
        return [*found, *await self._rank_all(first, [engine for engine in usable if engine.name == RANKS_LAST])]

    async def _rank_all(self, first: FirstPass, engines: Sequence[Engine]) -> list[Ranking]:
        rankings = await asyncio.gather(*(self._rank(first, engine) for engine in engines))
        return [ranking for ranking in rankings if ranking]

    async def _rank(self, first: FirstPass, engine: Engine) -> Ranking | None:
        with span(engine.stage) as it:
            try:
                found = await engine.search(self.run, self.plan, first)
            except Unavailable as error:
                it.attributes["left_out"] = type(error).__name__
                self.run.degrade(engine.name, f"it was left out: {error}")
                return None
            it.attributes["found"] = len(found)
        weight = 1.0 if self.run.settings.rag.fusion == "rrf" else engine.weight  # ranks of all engines count the same
        return Ranking(Search(self.plan.text, engine.name, 0, weight), found) if found else None


def is_not_built(note: Degraded) -> bool:
    """Whether a degradation says that nothing is built for an engine, which only the settings change."""
    return note.reason.startswith(NOT_BUILT)


NOT_BUILT = "nothing is built for it"


def _not_built(engine: BuiltEngine) -> str:
    value = "on" if engine == "late" else "rules"
    return f"{NOT_BUILT}; set {engine}.build={value}, then run: pincite reindex --{engine}"
