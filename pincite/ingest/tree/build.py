"""Build the summary tree of a document or a folder: clusters of clusters, until one is left."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TypeVar

import numpy as np

from pincite.ingest.tree.kmeans import Array, clusters
from pincite.ingest.tree.summary import CentralSentence, central_sentences, sentences_of
from pincite.models.token_vectors import unit_rows
from pincite.text.terms import terms

Item = TypeVar("Item")

MAX_LEVELS = 4
MAX_PASSAGES = 256
"""Passages below a node that its score can go to, the most central ones of each child first."""
MAX_HEADINGS = 40
"""Titles and headings below a node that its words include."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A passage: its key, its edition, its text, the titles above it, its language and its vector."""

    key: int
    edition: int
    text: str
    headings: tuple[str, ...]
    language: str
    vector: Sequence[float]


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A cluster: its summary by sentence, its centroid, and the passages, editions and headings below it.

    `own_text` is a summary in a model's words.
    """

    level: int
    summary: tuple[CentralSentence, ...]
    vector: Array
    passages: tuple[int, ...]
    editions: tuple[int, ...]
    headings: tuple[str, ...]
    language: str
    own_text: str = ""

    @property
    def text(self) -> str:
        """The summary: a model's, or its sentences, one per line."""
        return self.own_text or "\n".join(one.text for one in self.summary)

    @property
    def terms(self) -> Counter[str]:
        """The index terms of the headings and the summary."""
        return Counter(terms("\n".join((*self.headings, self.text)), self.language))


def document_tree(leaves: Sequence[Leaf]) -> list[Node]:
    """Return the nodes over the passages of one document, level by level; the last ones are its roots."""
    return _levels([_of_leaf(leaf) for leaf in leaves])


def folder_tree(roots: Sequence[Node]) -> list[Node]:
    """Return the nodes over the roots of a folder's documents; none for a single root."""
    return _levels(roots) if len(roots) > 1 else []


def top_level(nodes: Sequence[Node]) -> list[Node]:
    """Return the nodes without a node above them."""
    highest = max((node.level for node in nodes), default=0)
    return [node for node in nodes if node.level == highest]


def _levels(children: Sequence[Node]) -> list[Node]:
    made: list[Node] = []
    for level in range(1, MAX_LEVELS + 1):
        vectors = np.array([child.vector for child in children], np.float32)
        children = [_join(level, [children[n] for n in part]) for part in clusters(vectors)] if len(vectors) else []
        made += children
        if len(children) <= 1:
            break
    return made


def _of_leaf(leaf: Leaf) -> Node:
    return Node(
        0,
        sentences_of(leaf.key, leaf.text, leaf.language),
        unit_rows(np.asarray(leaf.vector)),
        (leaf.key,),
        (leaf.edition,),
        leaf.headings,
        leaf.language,
    )


def _join(level: int, children: Sequence[Node]) -> Node:
    """Make the node over these children; the most central child comes first."""
    centroid = unit_rows(np.mean([child.vector for child in children], axis=0))
    near = [float(child.vector @ centroid) for child in children]
    order = sorted(range(len(children)), key=lambda n: -near[n])
    ordered = [children[n] for n in order]
    return Node(
        level,
        central_sentences([child.summary for child in ordered], [near[n] for n in order]),
        centroid,
        _taking_turns((child.passages for child in ordered), MAX_PASSAGES),
        tuple(sorted({edition for child in children for edition in child.editions})),
        _taking_turns((child.headings for child in ordered), MAX_HEADINGS),
        Counter(child.language for child in children).most_common(1)[0][0],
    )


def _taking_turns(lists: Iterable[Sequence[Item]], most: int) -> tuple[Item, ...]:
    """Return the first items of all lists, then the second ones, and so on, each once."""
    turns = (item for turn in zip_longest(*lists, fillvalue=None) for item in turn if item is not None)
    return tuple(dict.fromkeys(turns))[:most]
