"""Token vectors in the database, and the search over them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from psycopg import sql

from pincite.core.accounts.access import Scope
from pincite.core.engines import BuildTarget
from pincite.core.protocols import Vector
from pincite.core.query.question import Filters
from pincite.store.database import LONG_TIMEOUTS, Connection, Database
from pincite.store.search import scope_sql

MAX_SEARCHED_PASSAGES = 100_000
"""Passages of a scope up to which the token index is searched."""
EXACT_PASSAGES = 2000
"""Passages of a scope up to which the centroids are compared exactly."""
INDEXED_DIMENSIONS = (96, 128, 384)
"""Dimensions with an HNSW index; centroids of others are compared exactly."""
PER_TOKEN = 64
"""Centroids that are looked up for each token of a question."""


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A passage by its chunk: its packed token vectors, and the centroids of these."""

    chunk: int
    tokens: bytes
    centroids: Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class LateRows:
    """The token vectors of an edition; `model` is the name of the model that made them."""

    model: str
    rows: Sequence[TokenRow]

    async def write(self, connection: Connection, target: BuildTarget, realm: int) -> None:
        """Insert the vectors."""
        shared = {"edition": target.edition, "realm": realm, "model": self.model}
        vectors = {"chunks": [row.chunk for row in self.rows], "tokens": [row.tokens for row in self.rows]}
        await connection.execute(_INSERT_TOKENS, {**shared, **vectors})
        centroids = [(row.chunk, one) for row in self.rows for one in row.centroids]
        found = {"chunks": [chunk for chunk, _ in centroids], "centroids": [_text(one) for _, one in centroids]}
        if centroids:
            await connection.execute(_INSERT_CENTROIDS, {**shared, **found})


class LateIndex:
    """Reads token vectors that a scope and its filters admit."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def tokens(self, keys: Sequence[int], model: str, *, scope: Scope, filters: Filters) -> dict[int, bytes]:
        """Return the packed token vectors of these chunks, where there are any of this model."""
        values = {**scope_sql.values(scope, filters), "keys": list(keys), "model": model}
        statement = _tokens_statement(scope_sql.shape(filters))
        async with self._database.transaction(scope.person, local=LONG_TIMEOUTS) as connection:
            # In binary, because the text form of bytes is twice as long.
            rows = await (await connection.execute(statement, values, binary=True)).fetchall()
        return {chunk: bytes(tokens) for chunk, tokens in rows}

    async def near(
        self, question: Sequence[Vector], model: str, *, scope: Scope, filters: Filters, limit: int
    ) -> list[int] | None:
        """Return the chunks whose centroids are nearest to the question's tokens; None in a library that is too large.

        A chunk counts for each token with its nearest centroid. For a token that did not find it, it counts as the last
        one found.
        """
        passages = await self._passages(scope, filters)
        if passages > MAX_SEARCHED_PASSAGES:
            return None
        dimensions = len(question[0])
        exact = passages <= EXACT_PASSAGES or dimensions not in INDEXED_DIMENSIONS or filters.as_of is not None
        query = _near_statement(scope_sql.shape(filters), 0 if exact else dimensions)
        values = {
            **scope_sql.values(scope, filters),
            "model": model,
            "questions": [_text(one) for one in question],
            "most": PER_TOKEN,
        }
        options = {"hnsw.ef_search": str(PER_TOKEN), "hnsw.iterative_scan": "relaxed_order"}
        [found] = await self._database.run_batch(scope.person, query, values=values, local=options)
        return _best(found, len(question), limit)

    async def _passages(self, scope: Scope, filters: Filters) -> int:
        query = sql.SQL("select coalesce(sum(chunks), 0) from {} as document where {}").format(
            scope_sql.library(filters), scope_sql.documents(filters)
        )
        [[(count,)]] = await self._database.run_batch(scope.person, query, values=scope_sql.values(scope, filters))
        return int(count)


def _best(found: Sequence[tuple[int, int, float]], tokens: int, limit: int) -> list[int]:
    """Return the chunks with the highest sums over the tokens; rows are token, chunk and cosine."""
    by_token: list[dict[int, float]] = [{} for _ in range(tokens)]
    for token, chunk, cosine in found:
        by_token[token - 1][chunk] = max(cosine, by_token[token - 1].get(chunk, -1.0))
    keys = sorted({chunk for one in by_token for chunk in one})
    totals: Mapping[int, float] = {
        key: float(np.sum([one.get(key, min(one.values())) for one in by_token if one])) for key in keys
    }
    return sorted(keys, key=lambda key: (-totals[key], key))[:limit]


def _text(vector: Sequence[float]) -> str:
    return "[" + ",".join(f"{x:.5g}" for x in vector) + "]"


@lru_cache(maxsize=64)
def _tokens_statement(filters: Filters) -> sql.Composed:
    return sql.SQL(_TOKENS).format(served=scope_sql.editions("c.edition", filters))


@lru_cache(maxsize=64)
def _near_statement(filters: Filters, indexed: int) -> bytes:
    """Return the search for the nearest centroids: with the HNSW index of these dimensions, or exact for 0."""
    form = sql.SQL("::halfvec({})").format(sql.Literal(indexed)) if indexed else sql.SQL("")
    sized = sql.SQL("and vector_dims(l.centroid) = {}").format(sql.Literal(indexed)) if indexed else sql.SQL("")
    parts = {"form": form, "sized": sized, "served": scope_sql.editions("l.edition", filters, listed=not indexed)}
    return sql.SQL(_NEAR).format(**parts).as_bytes(None)


_INSERT_TOKENS = """
    insert into late_passage (chunk, edition, realm, model, tokens)
    select l.chunk, %(edition)s, %(realm)s, %(model)s, l.tokens
    from unnest(%(chunks)s::int[], %(tokens)s::bytea[]) as l (chunk, tokens)
"""
_INSERT_CENTROIDS = """
    insert into late_centroid (chunk, edition, realm, model, centroid)
    select l.chunk, %(edition)s, %(realm)s, %(model)s, l.centroid::halfvec
    from unnest(%(chunks)s::int[], %(centroids)s::text[]) as l (chunk, centroid)
"""
_TOKENS = """
    select c.key, l.tokens from chunk c join late_passage l on l.edition = c.edition and l.chunk = c.key
    where c.key = any(%(keys)s) and c.realm = any(%(realms)s) and l.model = %(model)s and {served}
"""
_NEAR = """
    select q.at, n.chunk, n.cosine from unnest(%(questions)s::text[]) with ordinality as q (vector, at)
    cross join lateral (
        select l.chunk, -(l.centroid{form} <#> q.vector::halfvec{form})::float8 as cosine from late_centroid l
        where l.model = %(model)s and l.realm = any(%(realms)s) {sized} and {served}
        order by l.centroid{form} <#> q.vector::halfvec{form} limit %(most)s
    ) n
"""
