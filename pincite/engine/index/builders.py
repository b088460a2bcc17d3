"""The builders of the engines that the current settings ask for."""

from pincite.config.settings import Settings
from pincite.core.engines import BuiltEngine
from pincite.engine.index.tools import IndexTools
from pincite.errors import Invalid
from pincite.ingest.engines.builder import Builder
from pincite.ingest.graph.builder import GraphBuilder
from pincite.store.engines.builds import EngineBuilds


def make_builders(settings: Settings, tools: IndexTools, builds: EngineBuilds) -> list[Builder]:
    """Return one builder for each engine whose `build` setting is not off."""
    builders: list[Builder] = []
    if settings.graph.build != "off":
        builders.append(GraphBuilder(settings.graph, tools.bulk_embedder, tools.model))
    return builders


def builder_of(engine: BuiltEngine, builders: list[Builder]) -> Builder:
    """Return the builder of an engine; `Invalid` if it is switched off."""
    found = next((one for one in builders if one.engine == engine), None)
    if found is None:
        value = "on" if engine == "late" else "rules"
        raise Invalid(f"{engine}.build is off; switch it on first: pincite settings set {engine}.build {value}")
    return found
