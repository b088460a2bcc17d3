"""The builders of the engines that the current settings ask for."""

from collections.abc import Sequence

import numpy as np

from pincite.config.settings import Settings
from pincite.core.engines import BuiltEngine
from pincite.engine.index.tools import IndexTools
from pincite.errors import Invalid
from pincite.ingest.engines.builder import Builder
from pincite.ingest.graph.builder import GraphBuilder
from pincite.ingest.graph.model import ModelExtraction
from pincite.ingest.late.builder import LateBuilder
from pincite.ingest.tree.builder import TreeBuilder
from pincite.ingest.tree.model_summary import ModelSummaries
from pincite.store.engines.builds import EngineBuilds
from pincite.store.engines.tree_rows import TreeStore
from pincite.store.indexing.enrichments import Enrichments


def make_builders(settings: Settings, tools: IndexTools, builds: EngineBuilds) -> list[Builder]:
    """Return one builder for each engine whose `build` setting is not off."""
    found: list[Builder] = []
    if settings.graph.build != "off":
        found.append(GraphBuilder(settings.graph, tools.bulk_embedder, tools.model, _graph_reader(settings, tools)))
    if settings.tree.build != "off":
        found.append(
            TreeBuilder(TreeStore(tools.database), tools.model, tools.embedder.name, _summaries(settings, tools))
        )
    if settings.late.build == "on":
        late = settings.late
        found.append(LateBuilder(tools.bulk_embedder, tools.embedder.name, late.model, centroids=late.search))
    return found


def _graph_reader(settings: Settings, tools: IndexTools) -> ModelExtraction | None:
    """Return what extracts the graph with the language model; None if rules do."""
    if settings.graph.build != "model":
        return None
    name = settings.llm.model or settings.llm.provider
    return ModelExtraction(lambda: tools.kit_factory.model(settings), name, Enrichments(tools.database))


def _summaries(settings: Settings, tools: IndexTools) -> ModelSummaries | None:
    """Return what writes the summaries of the tree with the language model; None if they are extractive."""
    if settings.tree.build != "model":
        return None

    async def embed(texts: Sequence[str]) -> list[list[float]]:
        windows = await tools.bulk_embedder.embed([("", text) for text in texts])
        return [np.mean(one, axis=0).tolist() for one in windows]

    name = settings.llm.model or settings.llm.provider
    return ModelSummaries(lambda: tools.kit_factory.model(settings), name, Enrichments(tools.database), embed)


def builder_of(engine: BuiltEngine, builders: list[Builder]) -> Builder:
    """Return the builder of an engine; `Invalid` if it is switched off."""
    found = next((one for one in builders if one.engine == engine), None)
    if found is None:
        value = "on" if engine == "late" else "rules"
        raise Invalid(f"{engine}.build is off; switch it on first: pincite settings set {engine}.build {value}")
    return found
