"""Personalised PageRank over passages and entities, by power iteration."""

from collections.abc import Mapping

import numpy as np

from pincite.core.graph import Subgraph

DAMPING = 0.5
"""Share of the rank that follows the links in each step; the rest returns to the seeds."""
STEPS = 20
MAX_NODES = 2000


def rank_passages(graph: Subgraph, entities: Mapping[int, float], passages: Mapping[int, float]) -> dict[int, float]:
    """The rank of each passage, best first; `entities` and `passages` are the seeds with their weights."""
    merged = _merged(graph)
    links = [(chunk, merged.get(name, name), weight) for chunk, name, weight in graph.links]
    chunks = list(dict.fromkeys([*passages, *(chunk for chunk, _, _ in links)]))[:MAX_NODES]
    names = list(dict.fromkeys(name for _, name, _ in links))[: max(0, MAX_NODES - len(chunks))]
    at_chunk, at_name = ({key: place for place, key in enumerate(keys)} for keys in (chunks, names))
    matrix = np.zeros((len(chunks), len(names)))
    for chunk, name, weight in links:
        if chunk in at_chunk and name in at_name:
            row, column = at_chunk[chunk], at_name[name]
            matrix[row, column] = max(matrix[row, column], weight)
    rarity = 1 / np.log(2 + matrix.astype(bool).sum(axis=0)) if names else np.zeros(0)
    matrix *= rarity
    start_chunks, start_names = np.zeros(len(chunks)), np.zeros(len(names))
    for chunk, weight in passages.items():
        if chunk in at_chunk:
            start_chunks[at_chunk[chunk]] += weight
    for name, weight in entities.items():
        if (place := at_name.get(merged.get(name, name))) is not None:
            start_names[place] += weight * rarity[place]
    ranks = _iterate(matrix, start_chunks, start_names)
    order = sorted(range(len(chunks)), key=lambda place: (-ranks[place], chunks[place]))
    return {chunks[place]: float(ranks[place]) for place in order if ranks[place] > 0}


def _iterate(matrix: np.ndarray, start_chunks: np.ndarray, start_names: np.ndarray) -> np.ndarray:
    """The stationary ranks of the passages."""
    total = start_chunks.sum() + start_names.sum()
    if not total or not matrix.size:
        return start_chunks
    start_chunks, start_names = start_chunks / total, start_names / total
    down = matrix / np.maximum(matrix.sum(axis=0), 1e-12)  # from an entity to its passages
    up = (matrix.T / np.maximum(matrix.sum(axis=1), 1e-12)).T  # from a passage to its entities
    chunks, names = start_chunks.copy(), start_names.copy()
    for _ in range(STEPS):
        chunks, names = (
            (1 - DAMPING) * start_chunks + DAMPING * down @ names,
            (1 - DAMPING) * start_names + DAMPING * up.T @ chunks,
        )
    found: np.ndarray = chunks
    return found


def _merged(graph: Subgraph) -> dict[int, int]:
    """Each name that is the same as others → the one that stands for them."""
    parent: dict[int, int] = {}

    def root(name: int) -> int:
        while parent.get(name, name) != name:
            name = parent[name]
        return name

    for one, other in graph.same:
        first, second = sorted((root(one), root(other)))
        parent[second] = first
    return {name: root(name) for name in parent}
