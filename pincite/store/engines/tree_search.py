"""Search over all nodes of the summary tree, by vector and words; a node's score goes to the passages below it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from psycopg import sql

from pincite.config.branches.retrieval import Rag
from pincite.core.accounts.access import Scope
from pincite.core.protocols import Match, Vector
from pincite.core.query.question import Filters
from pincite.store.bound import half_vector
from pincite.store.database import Database
from pincite.store.search import bm25, scope_sql
from pincite.text.terms import query_terms

MAX_NODES = 30
"""Nodes whose score goes to their passages."""


@dataclass(frozen=True, slots=True)
class _Totals:
    """The number of searched nodes, their words and their languages."""

    nodes: int
    words: int
    languages: tuple[str, ...]


class TreeIndex:
    """Searches the nodes that a scope and its filters admit; scores depend on these nodes only.

    A node over several documents is searched if all of them are admitted, or, without filters, while its tree waits to
    be built again. Passages that are not served any more get no score.
    """

    def __init__(self, database: Database, model: int, rag: Rag) -> None:
        self._database = database
        self._model = model
        self._rag = rag

    async def search(self, text: str, vector: Vector, *, scope: Scope, filters: Filters, limit: int) -> list[Match]:
        """Return the passages below the best nodes, with scores from 0 to 1."""
        if not scope.realms:
            return []
        statements = _statements(scope_sql.shape(filters))
        values = {
            **scope_sql.values(scope, filters),
            "model": self._model,
            "vector": half_vector(vector),
            "most": MAX_NODES,
        }
        [[row]] = await self._database.run_batch(scope.person, statements.near, values=values)
        found, near = _Totals(row[0], row[1], tuple(row[2] or ())), list(zip(row[3], row[4], strict=True))
        weights = query_terms(text, found.languages)
        [sharing] = await self._database.run_batch(
            scope.person, statements.sharing, values={**values, "terms": list(weights)}
        )
        nodes = self._scored(near, sharing, weights, found)
        if not nodes:
            return []
        below, cosines = await self._database.run_batch(
            scope.person, statements.below, statements.cosines, values={**values, "nodes": list(nodes)}
        )
        return _passages(nodes, dict(below), dict(cosines))[:limit]

    def _scored(
        self,
        near: Sequence[tuple[int, float]],
        sharing: Sequence[tuple[int, float, int, Sequence[int]]],
        weights: Mapping[str, int],
        totals: _Totals,
    ) -> dict[int, float]:
        """Return the best nodes with their scores: the weighted sum of cosine and relative BM25 score."""
        words = _lexical(sharing, weights, bm25.Corpus(totals.nodes, totals.words, self._rag.bm25_k1, self._rag.bm25_b))
        cosines = dict(near) | {key: cosine for key, cosine, *_ in sharing}
        alpha = self._rag.alpha
        scores = {key: alpha * max(0.0, cosine) + (1 - alpha) * words.get(key, 0.0) for key, cosine in cosines.items()}
        best = sorted(scores, key=lambda key: (-scores[key], key))[:MAX_NODES]
        return {key: scores[key] for key in best}


def _lexical(
    sharing: Sequence[tuple[int, float, int, Sequence[int]]], weights: Mapping[str, int], corpus: bm25.Corpus
) -> dict[int, float]:
    """Return the BM25 score of each node that shares terms with the question, relative to the highest possible one."""
    if not sharing:
        return {}
    lengths = np.array([row[2] for row in sharing])
    frequencies = np.array([row[3] for row in sharing]).T
    scores, most = np.zeros(len(sharing)), 0.0
    for weight, of_term in zip(weights.values(), frequencies, strict=True):
        if count := int((of_term > 0).sum()):
            scale = weight * corpus.weight(count)
            most += scale * (corpus.k1 + 1)
            scores += corpus.scores(of_term, lengths, scale)
    return {row[0]: float(score) / most if most else 0.0 for row, score in zip(sharing, scores, strict=True)}


def _passages(
    nodes: Mapping[int, float], below: Mapping[int, Sequence[int]], cosines: Mapping[int, float]
) -> list[Match]:
    """Hand each node's score to its passages: the nearest gets all of it, the others in proportion to their cosine."""
    scores: dict[int, float] = {}
    for node, score in nodes.items():
        served = {key: max(0.0, cosines[key]) for key in below.get(node, ()) if key in cosines}
        nearest = max(served.values(), default=0.0)
        for key, cosine in served.items():
            scores[key] = max(scores.get(key, 0.0), score * cosine / nearest if nearest else 0.0)
    return [Match(key, scores[key]) for key in sorted(scores, key=lambda key: (-scores[key], key))]


@dataclass(frozen=True, slots=True)
class _Statements:
    near: bytes
    sharing: bytes
    below: bytes
    cosines: bytes


@lru_cache(maxsize=64)
def _statements(filters: Filters) -> _Statements:
    """Return the statements for filters of this shape."""
    served = scope_sql.editions("c.edition", filters)
    parts = {"nodes": _admitted(filters), "served": served, "vectors": scope_sql.vectors(filters)}
    texts = (_NEAR, _SHARING, _BELOW, _COSINES)
    return _Statements(*(sql.SQL(text).format(**parts).as_bytes(None) for text in texts))


def _admitted(filters: Filters) -> sql.Composed:
    """Return the condition on the nodes `n` that a search may read."""
    own = scope_sql.editions("n.edition", filters)
    if scope_sql.is_filtered(filters):
        shared = "not exists (select from tree_member m where m.node = n.key and not ({}))"
        joint = sql.SQL(shared).format(scope_sql.editions("m.edition", filters))
    else:
        shared = "not exists (select from tree_member m where m.node = n.key and m.edition in ({}))"
        joint = sql.SQL(shared).format(sql.SQL(scope_sql.MISPLACED_EDITIONS))
    return sql.SQL(
        "n.model = %(model)s and n.realm = any(%(realms)s)"
        " and ((n.edition is not null and {}) or (n.edition is null and {}))"
    ).format(own, joint)


# The totals of all nodes and the nearest ones, in one scan.
_NEAR = """
    with all_nodes as materialized (
        select n.key, n.words, n.language, -(n.embedding <#> %(vector)s::halfvec)::float8 as cosine
        from tree_node n where {nodes}
    ), near as materialized (select key, cosine from all_nodes order by cosine desc, key limit %(most)s)
    select count(*), coalesce(sum(words), 0)::bigint, array_agg(distinct language),
           array(select key from near order by cosine desc, key), array(select cosine from near order by cosine desc, key)
    from all_nodes
"""
_SHARING = """
    select n.key, -(n.embedding <#> %(vector)s::halfvec)::float8, n.words,
           array(select coalesce((n.terms ->> term)::int, 0)
                 from unnest(%(terms)s::text[]) with ordinality t (term, at) order by at)
    from tree_node n where n.terms ?| %(terms)s::text[] and {nodes}
"""
_BELOW = "select n.key, n.passages from tree_node n where n.key = any(%(nodes)s) and {nodes}"
_COSINES = """
    select c.key, max(-(v.embedding <#> %(vector)s::halfvec))::float8
    from (select distinct unnest(n.passages) as key from tree_node n where n.key = any(%(nodes)s) and {nodes}) p
    join chunk c on c.key = p.key and c.realm = any(%(realms)s)
    join {vectors} v on v.edition = c.edition and v.chunk = c.key and v.model = %(model)s
    where {served} group by c.key
"""
