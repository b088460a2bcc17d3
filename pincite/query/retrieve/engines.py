"""The engines beside dense and lexical search: when each runs, and what it adds to the fusion.

An engine is a row of `ENGINES`. It gets what dense and lexical search found, and returns chunks with scores from 0 to 1,
best first. One that fails, or that was asked for and has nothing built, is named in `degraded` and left out.
"""

import asyncio
from dataclasses import dataclass

from pincite.core.engines import BuiltEngine
from pincite.core.query.answer import Degraded
from pincite.core.query.plan import Plan, Search
from pincite.core.run import Run
from pincite.core.traces import span
from pincite.errors import Unavailable
from pincite.query.graph.dual import DualLevel
from pincite.query.graph.search import GraphTraversal
from pincite.query.retrieve.engine import Engine, FirstPass, in_fusion
from pincite.query.retrieve.fusion import Ranking


def _by_graph(plan: Plan) -> bool:
    """Whether the graph helps: questions of several steps, those with the classifier's hint, the strategy `fusion`."""
    return in_fusion(plan) or plan.analysis.is_multi_hop or plan.analysis.hints.graph


ENGINES: tuple[Engine, ...] = (
    Engine(
        "graph", "graph_traversal", "graph", 0.3, lambda rag: rag.knowledge_graph_enabled, _by_graph, GraphTraversal
    ),
    Engine("dual", "dual_level_search", "graph", 0.2, lambda rag: rag.dual_level, lambda _plan: False, DualLevel),
)
"""Every engine, in the order of its contributions."""


@dataclass(frozen=True, slots=True)
class FurtherEngines:
    """The engines that a question uses beside dense and lexical search."""

    run: Run
    plan: Plan

    async def rankings(self, first: FirstPass) -> list[Ranking]:
        """Their rankings, computed at the same time."""
        rag, builds = self.run.settings.rag, self.run.kit.builds
        wanted = [one for one in ENGINES if one.enabled(rag) or one.helps(self.plan)]
        if not wanted or builds is None:
            return []
        built = await builds.built(self.run.scope)
        for engine in wanted:
            if engine.needs not in built and engine.enabled(rag):
                self.run.degrade(engine.name, _not_built(engine.needs))
        usable = [self._rank(first, engine) for engine in wanted if engine.needs in built]
        return [ranking for ranking in await asyncio.gather(*usable) if ranking]

    async def _rank(self, first: FirstPass, engine: Engine) -> Ranking | None:
        with span(engine.stage) as it:
            try:
                found = await engine.open(self.run, self.plan).search(first)
            except Unavailable as error:
                it.attributes["left_out"] = type(error).__name__
                self.run.degrade(engine.name, f"it was left out: {error}")
                return None
            it.attributes["found"] = len(found)
        return Ranking(Search(self.plan.text, engine.name, 0, engine.weight), found) if found else None


def is_not_built(note: Degraded) -> bool:
    """Whether a degradation says that nothing is built for an engine, which only the settings change."""
    return note.reason.startswith(NOT_BUILT)


NOT_BUILT = "nothing is built for it"


def _not_built(engine: BuiltEngine) -> str:
    value = "on" if engine == "late" else "rules"
    return f"{NOT_BUILT}; set {engine}.build={value}, then run: pincite reindex --{engine}"
