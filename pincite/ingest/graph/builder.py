"""Builds the graph of an edition: extracted by rules or by the model, resolved within the realm, embedded if asked."""

import asyncio
from dataclasses import dataclass

from pincite.config.branches.engines import Graph
from pincite.core.engines import BuildSource, BuildTarget, BuiltEngine
from pincite.ingest.engines.builder import Built
from pincite.ingest.graph.rules import RULES_VERSION, extract
from pincite.store.engines.graph_rows import GraphRows


@dataclass(frozen=True, slots=True)
class GraphBuilder:
    """Builds graphs with these settings."""

    settings: Graph
    engine: BuiltEngine = "graph"

    @property
    def signature(self) -> str:
        """What a graph is built with."""
        return f"{self.settings.build}-{RULES_VERSION}"

    async def build(self, target: BuildTarget, source: BuildSource) -> Built:
        """Extract the graph of one edition."""
        return Built(GraphRows(await asyncio.to_thread(extract, source)))
