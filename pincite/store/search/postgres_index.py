"""Dense and lexical search for chunks, within the caller's scope."""

import asyncio
import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from psycopg import sql
from psycopg.rows import TupleRow

from pincite.config.branches.retrieval import Rag
from pincite.core.accounts.access import Scope
from pincite.core.documents.positions import PageText, TextSpan
from pincite.core.protocols import Fetched, Match, NamedDocument, TermMatches, TitleMatch, Vector
from pincite.core.query.hits import RetrievedChunk
from pincite.core.query.question import Filters
from pincite.store.bound import half_vector
from pincite.store.database import Database, select_list
from pincite.store.search import bm25, pages, parents, scope_sql
from pincite.store.search.chunk_columns import CHUNK_COLUMNS, retrieved_chunk
from pincite.store.search.corpus_stats import CorpusStats, CorpusStatsCache
from pincite.store.search.postings import FoundPostings, find_postings
from pincite.text.terms import query_terms

NO_FILTERS = Filters()
MAX_ROWS_PER_CHUNK = 4
"""Vector rows that an HNSW search reads at most per wanted chunk, where chunks have several vectors."""

MIN_HNSW_SHARE = 1 / 8
"""Share of the library's vectors from which an HNSW search under a filter is faster than an exact comparison."""
MAX_LOOKUP_ROUNDS = 3
"""Lookups of postings at most, where the corpus statistics are of another revision and the lookup is repeated."""
MAX_INLINE_POSTINGS = 20_000
"""Postings up to which scores are computed in the event loop; more are computed in a thread."""

MAX_DOCUMENTS_PER_NAME = 3
"""Documents with the same name up to which the name identifies them; more make it ambiguous, and none is returned."""


class PostgresIndex:
    """Search over PostgreSQL: each query contains the scope, and row-level security enforces it."""

    def __init__(
        self, database: Database, model: int, dimensions: int, rag: Rag, stats_cache: CorpusStatsCache | None = None
    ) -> None:
        self._database = database
        self._model = model
        self._dimensions = dimensions
        self._rag = rag
        self._stats_cache = stats_cache or CorpusStatsCache()

    async def dense(self, vector: Vector, *, scope: Scope, filters: Filters, limit: int) -> list[Match]:
        """Return the chunks nearest to a vector, by the cosine of their best window.

        Few admitted vectors are compared exactly, because an HNSW search under a narrow filter loses results. If an
        HNSW search returns too few chunks although vectors were filtered out, the exact comparison follows.
        """
        if not scope.realms:
            return []
        stats = await self._stats_cache.recent(self._database, scope, filters)
        past = filters.as_of is not None  # vectors of earlier versions are in no HNSW index
        exact = (
            past
            or stats.vectors <= self._rag.exact_rows
            or (stats.vectors <= 5 * self._rag.exact_rows and await self._small(stats))
        )
        found = await self._nearest(vector, stats, exact=exact, scope=scope, filters=filters, limit=limit)
        if not exact and len(found) < min(limit, stats.chunks) and await self._partial(stats):
            found = await self._nearest(vector, stats, exact=True, scope=scope, filters=filters, limit=limit)
        return found

    async def _partial(self, stats: CorpusStats) -> bool:
        """Whether filters or permissions exclude some of the vectors in the HNSW index."""
        return stats.narrowed or stats.vectors < await self._stats_cache.vectors(self._database)

    async def _small(self, stats: CorpusStats) -> bool:
        """Whether filters or permissions admit so few vectors that an HNSW search would mostly visit excluded ones."""
        return stats.vectors < await self._stats_cache.vectors(self._database) * MIN_HNSW_SHARE

    async def _nearest(
        self, vector: Vector, stats: CorpusStats, *, exact: bool, scope: Scope, filters: Filters, limit: int
    ) -> list[Match]:
        options = {"hnsw.ef_search": str(max(self._rag.ef_search, min(1000, limit))), **_ITERATIVE}
        query = _dense_statement(scope_sql.shape(filters), exact, self._model, self._dimensions)
        values = {"vector": half_vector(vector), "limit": limit, "rows": limit * _rows_per_chunk(stats)}
        values = {**scope_sql.values(scope, filters), **values}
        [found] = await self._database.read_batch(scope, query, values=values, local=options)
        return [Match(key, score) for key, score in found]

    async def lexical(self, text: str, *, scope: Scope, filters: Filters, limit: int) -> list[Match]:
        """Return the chunks that share terms with a text, by BM25 over exactly the admitted chunks."""
        if not scope.realms:
            return []
        found, weights, corpus = await self._postings(text, scope, filters)
        arguments = (found.postings, weights, corpus, found.gone, limit)
        if found.size > MAX_INLINE_POSTINGS:
            return await asyncio.to_thread(bm25.best_matches, *arguments)
        return bm25.best_matches(*arguments)

    async def terms_in(self, text: str, keys: Sequence[int], *, scope: Scope, filters: Filters) -> list[TermMatches]:
        """Return which of these chunks contain each term of a text, and what the term weighs."""
        if not scope.realms or not keys:
            return []
        found, weights, corpus = await self._postings(text, scope, filters)
        return bm25.term_matches(found.postings, weights, corpus, found.gone, keys)

    async def _postings(
        self, text: str, scope: Scope, filters: Filters
    ) -> tuple[FoundPostings, Mapping[str, float], bm25.Corpus]:
        """Return the postings of a text's terms, and what their scores are computed with, at one revision."""
        database, cache = self._database, self._stats_cache
        stats = cache.cached(scope, filters) or await cache.compute(database, scope, filters)
        for _ in range(MAX_LOOKUP_ROUNDS):
            weights = query_terms(text, stats.languages)
            found = await find_postings(database, weights, scope, filters)
            if found.revision == stats.revision:
                break
            before, stats = stats, await cache.compute(database, scope, filters)
            if (stats.languages, stats.revision) == (before.languages, found.revision):
                break
        return found, weights, bm25.Corpus(stats.chunks, stats.words, self._rag.bm25_k1, self._rag.bm25_b)

    async def fetch(
        self, keys: Sequence[int], vectors: Sequence[Vector], *, scope: Scope, filters: Filters = NO_FILTERS
    ) -> Fetched:
        """Read chunks by key from one snapshot; chunks that are no longer served are left out."""
        fetched, _ = await self._fetch(keys, vectors, scope, filters)
        return fetched

    def answers_at_once(self, scope: Scope, filters: Filters) -> bool:
        """Whether dense and lexical search need no database, so that nothing is gained by running them together."""
        return False

    def remembered(self, keys: Sequence[int], *, scope: Scope, filters: Filters) -> Mapping[int, RetrievedChunk]:
        """Return the chunks whose text is known without reading it: here, none."""
        return {}

    async def _fetch(
        self, keys: Sequence[int], vectors: Sequence[Vector], scope: Scope, filters: Filters, *further: bytes
    ) -> tuple[Fetched, list[list[TupleRow]]]:
        """Read chunks, and the rows of further statements in the same round trip."""
        asked = {f"vector{n}": half_vector(vector) for n, vector in enumerate(vectors)}
        values = {**scope_sql.values(scope, filters), **asked, "keys": list(keys), "model": self._model}
        found, [(others,)], *rows = await self._database.read_batch(
            scope,
            chunks_statement(scope_sql.shape(filters), len(vectors)),
            _other_models_statement(scope_sql.shape(filters)),
            *further,
            values=values,
            by_key=filters.as_of is None and filters.index is None,
        )
        chunks = {row[0]: retrieved_chunk(row) for row in found}
        return Fetched(chunks, {row[0]: row[-1] for row in found if row[-1] is not None}, others), rows

    async def documents_named(
        self, names: Sequence[str], vector: Vector, *, scope: Scope, filters: Filters
    ) -> list[TitleMatch]:
        """Return the documents with one of these names; names of too many documents are ignored."""
        if not scope.realms or not names:
            return []
        values = {
            "names": list(names),
            "few": MAX_DOCUMENTS_PER_NAME,
            "vector": half_vector(vector),
            "model": self._model,
        }
        query = sql.SQL(_DOCUMENTS_NAMED).format(
            library=scope_sql.library(filters),
            documents=scope_sql.documents(filters),
            vectors=scope_sql.vectors(filters),
        )
        values = {**scope_sql.values(scope, filters), **values}
        [found] = await self._database.read_batch(scope, query, values=values)
        return [TitleMatch(name, document, Match(key, cosine)) for name, document, key, cosine in found]

    async def documents_with_names_like(
        self, parts: Sequence[str], *, scope: Scope, filters: Filters, limit: int
    ) -> list[NamedDocument]:
        """Return the documents whose title or file name contains one of these parts, those with most parts first."""
        if not scope.realms or not parts:
            return []
        escaped = ["%" + _LIKE_SIGNS.sub(r"\\\g<0>", part) + "%" for part in parts]
        query = sql.SQL(_DOCUMENTS_WITH_NAMES_LIKE).format(
            library=scope_sql.library(filters), documents=scope_sql.documents(filters)
        )
        values = {**scope_sql.values(scope, filters), "parts": escaped, "limit": limit}
        [found] = await self._database.read_batch(scope, query, values=values)
        return [NamedDocument(*row) for row in found]

    async def nearest_in_documents(
        self, documents: Sequence[str], vector: Vector, *, scope: Scope, filters: Filters, limit: int
    ) -> list[Match]:
        """Return the chunks of these documents nearest to a vector, at most `limit` of each document."""
        if not scope.realms or not documents:
            return []
        values = {"within": list(documents), "vector": half_vector(vector), "model": self._model, "limit": limit}
        query = sql.SQL(_NEAREST_IN_DOCUMENTS).format(
            library=scope_sql.library(filters),
            documents=scope_sql.documents(filters),
            vectors=scope_sql.vectors(filters),
        )
        values = {**scope_sql.values(scope, filters), **values}
        [found] = await self._database.read_batch(scope, query, values=values)
        return [Match(key, cosine) for key, cosine in found]

    async def parents(self, keys: Sequence[int], level: int, *, scope: Scope) -> dict[int, RetrievedChunk]:
        """Return the section (level 1) or document (level 0) of each chunk, by the chunk's key."""
        async with self._database.transaction(scope.person) as connection:
            return await parents.parents_of(connection, keys, level, scope)

    async def has_documents(self, scope: Scope) -> bool:
        """Return whether the scope admits any document at all, indexed or not."""
        query = "select exists (select from document where realm = any(%(realms)s))"
        [[(found,)]] = await self._database.read_batch(scope, query, values={"realms": list(scope.realms)})
        return bool(found)

    async def pages(self, extracts: Sequence[TextSpan], *, scope: Scope) -> list[list[PageText]]:
        """Return the pages that each span of text overlaps."""
        return await pages.pages_of_spans(self._database, extracts, scope)


_ITERATIVE = {"hnsw.iterative_scan": "relaxed_order"}

_DENSE_EXACT = """
    select chunk, max(cosine)::float8 as best from (
        select v.chunk, -(v.embedding <#> %(vector)s::halfvec) as cosine from {vectors} v
        where v.model = {model} and v.realm = any(%(realms)s) and {admitted}
    ) w group by chunk order by best desc, chunk limit %(limit)s
"""
_DENSE_HNSW = """
    select chunk, max(cosine)::float8 as best from (
        select v.chunk, -(v.embedding::halfvec({dimensions}) <#> %(vector)s::halfvec({dimensions})) as cosine
        from vector v where v.model = {model} and v.realm = any(%(realms)s) and {admitted}
        order by v.embedding::halfvec({dimensions}) <#> %(vector)s::halfvec({dimensions}) limit %(rows)s
    ) w group by chunk order by best desc, chunk limit %(limit)s
"""
# The chunks are read first, then their editions, documents and versions by primary key: a planner without statistics
# would otherwise compare every edition with every document.
_FETCH = """
    with c as materialized (select * from chunk where key = any(%(keys)s) and realm = any ({realms}))
    select {columns}, c.realm, {cosine}
    from c join edition e on e.key = c.edition join document d on d.id = e.document_id
         join version v on v.key = e.version where {serving}
"""
# With a single embedding model, no document is read.
_OTHER_MODEL = """
    select count(*) from {library} as document
    where (select count(*) > 1 from embedding_model) and model <> %(model)s and {documents}
"""
_DOCUMENTS_NAMED = """
    with named as materialized (
        select called, id, served from {library} as document where called = any(%(names)s) and {documents}
    ), few as (
        select called from named group by called having count(*) <= %(few)s
    )
    select n.called, n.id, v.chunk, v.cosine from few join named n on n.called = few.called cross join lateral (
        select chunk, -(embedding <#> %(vector)s::halfvec)::float8 as cosine from {vectors} v
        where edition = n.served and model = %(model)s and realm = any(%(realms)s)
        order by cosine desc, chunk limit 1
    ) v order by n.called, n.id
"""
_DOCUMENTS_WITH_NAMES_LIKE = """
    with admitted as materialized (select id from {library} as document where {documents})
    select d.id, d.title, d.name from admitted a join document d on d.id = a.id cross join lateral (
        select count(*) as parts from unnest(%(parts)s::text[]) part where d.title ilike part or d.name ilike part
    ) held where held.parts > 0 order by held.parts desc, d.created_at desc, d.id limit %(limit)s
"""
_LIKE_SIGNS = re.compile(r"[\\%_]")
_NEAREST_IN_DOCUMENTS = """
    select v.chunk, v.cosine from {library} d cross join lateral (
        select chunk, max(-(embedding <#> %(vector)s::halfvec))::float8 as cosine from {vectors} v
        where edition = d.served and model = %(model)s and realm = any(%(realms)s)
        group by chunk order by cosine desc, chunk limit %(limit)s
    ) v where d.id in (select id from {library} as document where id = any(%(within)s) and {documents})
    order by v.cosine desc, v.chunk
"""


@lru_cache(maxsize=64)
def _dense_statement(filters: Filters, exact: bool, model: int, dimensions: int) -> bytes:
    """Return the dense search for filters of this shape; it is the same for every query, so it is built once."""
    statement = sql.SQL(_DENSE_EXACT if exact else _DENSE_HNSW).format(
        model=sql.Literal(model),
        dimensions=sql.Literal(dimensions),
        vectors=scope_sql.vectors(filters),
        admitted=scope_sql.editions("v.edition", filters, listed=exact),
    )
    return statement.as_bytes(None)


@lru_cache(maxsize=64)
def chunks_statement(filters: Filters, vectors: int) -> bytes:
    """Return the statement that reads chunks, each with its realm and its best cosine to so many vectors."""
    statement = sql.SQL(_FETCH).format(
        columns=sql.SQL(select_list(CHUNK_COLUMNS)),
        cosine=_best_cosine(vectors).format(vectors=scope_sql.vectors(filters)),
        serving=scope_sql.serving(filters),
        realms=sql.SQL(scope_sql.REALMS),
    )
    return statement.as_bytes(None)


@lru_cache(maxsize=64)
def _other_models_statement(filters: Filters) -> bytes:
    return other_models(filters).as_bytes(None)


def other_models(filters: Filters) -> sql.Composed:
    """Return the statement that counts the searched documents of other models."""
    return sql.SQL(_OTHER_MODEL).format(library=scope_sql.library(filters), documents=scope_sql.documents(filters))


def _best_cosine(vectors: int) -> sql.SQL:
    """Return the SQL of the highest cosine between a chunk's windows and the parameters `vector0`, `vector1` …"""
    if not vectors:
        return sql.SQL("null::float8")
    near = ", ".join(f"-(w.embedding <#> %(vector{n})s::halfvec)" for n in range(vectors))
    own = "w.edition = c.edition and w.chunk = c.key and w.model = %(model)s"
    return sql.SQL(f"(select max(greatest({near}))::float8 from {{vectors}} w where {own})")  # noqa: S608 - all ours


def _rows_per_chunk(stats: CorpusStats) -> int:
    """Return the vector rows to read per wanted chunk: 1 with one vector per chunk, more with several."""
    average = stats.vectors / max(1, stats.chunks)
    return max(1, min(MAX_ROWS_PER_CHUNK, math.ceil(2 * average) - 1))
