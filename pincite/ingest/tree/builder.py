"""Builds the summary trees of documents, and then those of their folders, in the background."""

import asyncio
from collections.abc import Sequence

import numpy as np

from pincite.core.engines import BuildSource, BuildTarget, BuiltEngine
from pincite.errors import Conflict
from pincite.ingest.engines.builder import Built
from pincite.ingest.tree.build import Leaf, Node, document_tree, folder_tree, top_level
from pincite.ingest.tree.model_summary import ModelSummaries
from pincite.ingest.tree.summary import CentralSentence
from pincite.store.engines.tree_rows import NodeRow, RootRow, StaleFolder, TreeRows, TreeStore
from pincite.text.terms import terms

VERSION = 1
"""Version of the tree; raise it when other nodes are built for the same passages."""


class TreeBuilder:
    """Builds trees of extractive summaries, or of a model's summaries where `summaries` is given.

    `model` is the embedding model in the database, `embedder` its name.
    """

    engine: BuiltEngine = "tree"

    def __init__(self, store: TreeStore, model: int, embedder: str, summaries: ModelSummaries | None = None) -> None:
        self._store = store
        self._model = model
        self._summaries = summaries
        self.signature = f"{VERSION}:{embedder}:{summaries.name if summaries else 'rules'}"

    async def build(self, target: BuildTarget, source: BuildSource) -> Built:
        """Build the tree of one edition."""
        vectors = await self._store.vectors(target, self._model)
        leaves = [
            Leaf(
                one.chunk, target.edition, one.text, (source.title, *one.heading_path), one.language, vectors[one.chunk]
            )
            for one in source.passages
            if one.chunk in vectors
        ]
        if source.passages and not leaves:
            raise Conflict("the passages of the edition were embedded by another model")
        nodes = await asyncio.to_thread(document_tree, leaves)
        texts = {leaf.key: leaf.text for leaf in leaves}
        note = ""
        if self._summaries is not None:
            nodes, note = await self._summaries.rewrite(target, nodes, texts)
        return Built(TreeRows(await asyncio.to_thread(node_rows, nodes), self._model), note)

    async def finish(self) -> None:
        """Build the trees of the folders whose documents have changed."""
        for folder in await self._store.stale_folders(self.signature):
            await self._build_folder(folder)

    async def unfinished(self) -> int:
        """Return the number of folders whose documents have changed."""
        return len(await self._store.stale_folders(self.signature))

    async def _build_folder(self, folder: StaleFolder) -> None:
        roots = await self._store.roots(folder, self.signature) if folder.digest else []
        nodes = await asyncio.to_thread(folder_tree, [_root(row) for row in roots])
        if self._summaries is not None:
            nodes, _ = await self._summaries.rewrite(None, nodes, {})
        rows = await asyncio.to_thread(node_rows, nodes)
        await self._store.publish_folder(folder, self.signature, rows, self._model)


def node_rows(nodes: Sequence[Node]) -> list[NodeRow]:
    """Return the nodes as they are stored."""
    top = {id(node) for node in top_level(nodes)}
    return [
        NodeRow(
            node.level,
            id(node) in top,
            node.language,
            node.text,
            node.headings,
            [number for one in node.summary for number in (one.passage, one.start, one.end)],
            node.passages,
            node.editions,
            node.terms,
            node.vector.tolist(),
        )
        for node in nodes
    ]


def _root(row: RootRow) -> Node:
    places = zip(row.sentences[::3], row.sentences[1::3], row.sentences[2::3], row.sentence_texts, strict=True)
    summary = tuple(
        CentralSentence(passage, start, end, text, frozenset(terms(text, row.language)))
        for passage, start, end, text in places
    )
    vector = np.array(row.vector, np.float32)
    return Node(0, summary, vector, row.passages, (row.edition,), row.headings, row.language)
