"""Builds the graph of an edition: extracted by rules or by a model and, if the settings say so, embedded."""

import asyncio
from dataclasses import dataclass

from pincite.config.branches.engines import Graph
from pincite.core.engines import BuildSource, BuildTarget, BuiltEngine
from pincite.core.graph import Extracted
from pincite.ingest.embed.bulk_embedder import BulkEmbedder
from pincite.ingest.engines.builder import Built
from pincite.ingest.graph.model import PROMPT_VERSION, ModelExtraction
from pincite.ingest.graph.rules import RULES_VERSION, extract
from pincite.store.engines.graph_rows import GraphRows, GraphVector

CONTEXT_CHARS = 160
"""Characters from the first mention of an entity on that describe it."""


@dataclass(frozen=True, slots=True)
class GraphBuilder:
    """Builds graphs with these settings; `model` is the embedding model of the index, `reader` the language model."""

    settings: Graph
    embedder: BulkEmbedder
    model: int
    reader: ModelExtraction | None = None
    engine: BuiltEngine = "graph"

    @property
    def signature(self) -> str:
        """What a graph is built with."""
        vectors = f"-{self.model}" if self.settings.vectors else ""
        if self.reader is not None:
            return f"model-{PROMPT_VERSION}-{self.reader.name}{vectors}"
        return f"rules-{RULES_VERSION}{vectors}"

    async def build(self, target: BuildTarget, source: BuildSource) -> Built:
        """Extract the graph of one edition."""
        if self.reader is None:
            found, note = await asyncio.to_thread(extract, source), ""
        else:
            found, note = await self.reader.extract(target, source)
        if not self.settings.vectors:
            return Built(GraphRows(found), note)
        described = _descriptions(found, source)
        embedded = await self.embedder.embed([("", text) for _, _, text in described]) if described else []
        vectors = [
            GraphVector(chunk, name, windows[0]) for (chunk, name, _), windows in zip(described, embedded, strict=True)
        ]
        return Built(GraphRows(found, self.model, vectors), note)


def _descriptions(found: Extracted, source: BuildSource) -> list[tuple[int, int | None, str]]:
    """Passage, entity (None for a fact) and text of what is embedded: every fact, and every entity where it is first."""
    passages = {one.chunk: one for one in source.passages}
    described: list[tuple[int, int | None, str]] = [
        (one.chunk, None, f"{one.subject} {one.relation} {one.object}") for one in found.facts
    ]
    for name, mention in {one.name: one for one in reversed(found.mentions) if one.spans}.items():
        passage = passages[mention.chunk]
        start = mention.spans[0][0] - passage.start
        described.append((mention.chunk, name, f"{mention.surface}: {passage.text[start : start + CONTEXT_CHARS]}"))
    return described
