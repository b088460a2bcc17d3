"""Personalised PageRank over passages and entities, by power iteration."""

from collections.abc import Mapping

import numpy as np

from pincite.core.graph import Subgraph

DAMPING = 0.85
"""Share of the rank that follows the links in each step; the rest returns to the seeds."""
STEPS = 50
MAX_NODES = 2000


def rank_passages(graph: Subgraph, entities: Mapping[int, float], passages: Mapping[int, float]) -> dict[int, float]:
    """The rank of each passage, best first; `entities` and `passages` are the seeds with their weights."""
    merged = _merged(graph)
    joined: dict[tuple[int, int], float] = {}
    for chunk, name, weight in graph.links:
        pair = chunk, merged.get(name, name)
        joined[pair] = max(weight, joined.get(pair, 0.0))
    chunks = list(dict.fromkeys([*passages, *(chunk for chunk, _ in joined)]))[:MAX_NODES]
    names = list(dict.fromkeys(name for _, name in joined))[: max(0, MAX_NODES - len(chunks))]
    at_chunk, at_name = ({key: place for place, key in enumerate(keys)} for keys in (chunks, names))
    kept = [(at_chunk[c], at_name[n], w) for (c, n), w in joined.items() if c in at_chunk and n in at_name]
    rows, columns = (np.array([one[side] for one in kept], dtype=np.intp) for side in (0, 1))
    rarity = 1 / np.log(2 + np.bincount(columns, minlength=len(names)))
    weights = np.array([weight for *_, weight in kept]) * rarity[columns]
    start_chunks, start_names = np.zeros(len(chunks)), np.zeros(len(names))
    for chunk, weight in passages.items():
        if chunk in at_chunk:
            start_chunks[at_chunk[chunk]] += weight
    for name, weight in entities.items():
        if (place := at_name.get(merged.get(name, name))) is not None:
            start_names[place] += weight * rarity[place]
    ranks = _iterate(rows, columns, weights, start_chunks, start_names)
    order = sorted(range(len(chunks)), key=lambda place: (-ranks[place], chunks[place]))
    return {chunks[place]: float(ranks[place]) for place in order if ranks[place] > 0}


def _iterate(
    rows: np.ndarray, columns: np.ndarray, weights: np.ndarray, start_chunks: np.ndarray, start_names: np.ndarray
) -> np.ndarray:
    """The stationary ranks of the passages; a link joins the passage of a row to the entity of a column."""
    total = start_chunks.sum() + start_names.sum()
    if not total or not len(rows):
        return start_chunks
    start_chunks, start_names = start_chunks / total, start_names / total
    many, most = len(start_chunks), len(start_names)
    down = weights / np.bincount(columns, weights, most)[columns]  # from an entity to its passages
    up = weights / np.bincount(rows, weights, many)[rows]  # from a passage to its entities
    chunks, names = start_chunks.copy(), start_names.copy()
    for _ in range(STEPS):
        chunks, names = (
            (1 - DAMPING) * start_chunks + DAMPING * np.bincount(rows, down * names[columns], many),
            (1 - DAMPING) * start_names + DAMPING * np.bincount(columns, up * chunks[rows], most),
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
