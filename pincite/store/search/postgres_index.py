"""Finding chunks: by meaning, by words, inside what the caller may see."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any, get_origin

from psycopg import sql

from pincite.config.branches.retrieval import Rag
from pincite.core.accounts.access import Scope
from pincite.core.documents.positions import PageText, TextSpan
from pincite.core.protocols import Fetched, Match, TitleMatch, Vector
from pincite.core.query.hits import RetrievedChunk
from pincite.core.query.question import Filters
from pincite.store.database import Database
from pincite.store.search import bm25, pages, parents, scope_sql
from pincite.store.search.corpus_stats import CorpusStats, CorpusStatsCache
from pincite.store.search.postings import look_up
from pincite.text.terms import query_terms

EVERYTHING = Filters()
WINDOW_FACTOR = 4
"""Where chunks have several vectors, so many times more rows are read than chunks are wanted, at most."""

WALKED_FROM = 1 / 8
"""From this share of the library on, an HNSW walk finds what a filter admits sooner than comparing all of it."""
ROUNDS = 3
"""Documents that change while words are looked up make it start again, this often at most."""
MANY = 20_000
"""Postings that are scored in a thread, lest others wait."""

NAMESAKES = 3
"""A name that more documents carry is no one's."""


class PostgresIndex:
    """Search over PostgreSQL. Row-level security is the net; the same scope is also in each query."""

    def __init__(
        self, database: Database, model: int, dimensions: int, rag: Rag, surveys: CorpusStatsCache | None = None
    ) -> None:
        self._database = database
        self._model = model
        self._dimensions = dimensions
        self._rag = rag
        self._surveys = surveys or CorpusStatsCache()

    async def dense(self, vector: Vector, *, scope: Scope, filters: Filters, limit: int) -> list[Match]:
        """The chunks nearest to a vector, by the cosine of their best window.

        Few admitted vectors are all compared: an HNSW walk under a narrow filter loses results. One that ends before it
        has found enough is not trusted, and all are compared after all.
        """
        if not scope.realms:
            return []
        survey = await self._surveys.rough(self._database, scope, filters)
        past = filters.as_of is not None  # what lies apart is in no HNSW index
        exact = (
            past
            or survey.vectors <= self._rag.exact_rows
            or (survey.vectors <= 5 * self._rag.exact_rows and await self._small(survey))
        )
        found = await self._nearest(vector, survey, exact=exact, scope=scope, filters=filters, limit=limit)
        if not exact and len(found) < min(limit, survey.chunks) and await self._partial(survey):
            found = await self._nearest(vector, survey, exact=True, scope=scope, filters=filters, limit=limit)
        return found

    async def _partial(self, survey: CorpusStats) -> bool:
        """Whether a filter or rights leave out some of what a walk through the index meets."""
        return survey.narrowed or survey.vectors < await self._surveys.vectors(self._database)

    async def _small(self, survey: CorpusStats) -> bool:
        """Whether a filter or rights admit so little of the library that an HNSW walk would mostly meet the rest."""
        return survey.vectors < await self._surveys.vectors(self._database) * WALKED_FROM

    async def _nearest(
        self, vector: Vector, survey: CorpusStats, *, exact: bool, scope: Scope, filters: Filters, limit: int
    ) -> list[Match]:
        options = {"hnsw.ef_search": str(max(self._rag.ef_search, min(1000, limit))), **_ITERATIVE}
        query = _dense(scope_sql.shape(filters), exact, self._model, self._dimensions)
        values = {"vector": _literal(vector), "limit": limit, "rows": limit * _window_factor(survey)}
        values = {**scope_sql.values(scope, filters), **values}
        [found] = await self._database.at_once(scope.person, query, values=values, local=options)
        return [Match(key, score) for key, score in found]

    async def lexical(self, text: str, *, scope: Scope, filters: Filters, limit: int) -> list[Match]:
        """The chunks that share words with a text, by BM25 over exactly the admitted chunks."""
        if not scope.realms:
            return []
        database, surveys = self._database, self._surveys
        survey = surveys.remembered(scope, filters) or await surveys.make(database, scope, filters)
        for _ in range(ROUNDS):
            weights = query_terms(text, survey.languages)
            looked = await look_up(database, weights, scope, filters)
            if looked.revision == survey.revision:
                break
            before, survey = survey, await surveys.make(database, scope, filters)
            if (survey.languages, survey.revision) == (before.languages, looked.revision):
                break
        corpus = bm25.Corpus(survey.chunks, survey.words, self._rag.bm25_k1, self._rag.bm25_b)
        wanted = (looked.postings, weights, corpus, looked.gone, limit)
        return await asyncio.to_thread(bm25.best, *wanted) if looked.size > MANY else bm25.best(*wanted)

    async def fetch(
        self, keys: Sequence[int], vectors: Sequence[Vector], *, scope: Scope, filters: Filters = EVERYTHING
    ) -> Fetched:
        """Read chunks back from one snapshot: what is not served any more is left out."""
        chunks_of, strangers = _fetch(scope_sql.shape(filters), len(vectors))
        asked = {f"vector{n}": _literal(vector) for n, vector in enumerate(vectors)}
        values = {**scope_sql.values(scope, filters), **asked, "keys": list(keys), "model": self._model}
        found, [(unlike,)] = await self._database.at_once(scope.person, chunks_of, strangers, values=values)
        chunks = {row[0]: found_of(row[:-1]) for row in found}
        return Fetched(chunks, {row[0]: row[-1] for row in found if row[-1] is not None}, unlike)

    async def match_titles(
        self, names: Sequence[str], vector: Vector, *, scope: Scope, filters: Filters
    ) -> list[TitleMatch]:
        """The documents called by one of the names; a name that more than a few carry names none of them."""
        if not scope.realms or not names:
            return []
        values = {"names": list(names), "few": NAMESAKES, "vector": _literal(vector), "model": self._model}
        query = sql.SQL(_TITLED).format(
            library=scope_sql.library(filters),
            documents=scope_sql.documents(filters),
            vectors=scope_sql.vectors(filters),
        )
        values = {**scope_sql.values(scope, filters), **values}
        [found] = await self._database.at_once(scope.person, query, values=values)
        return [TitleMatch(name, document, Match(key, cosine)) for name, document, key, cosine in found]

    async def dense_within(
        self, documents: Sequence[str], vector: Vector, *, scope: Scope, filters: Filters, limit: int
    ) -> list[Match]:
        """The chunks of these documents nearest to a vector, so many of each at most."""
        if not scope.realms or not documents:
            return []
        values = {"within": list(documents), "vector": _literal(vector), "model": self._model, "limit": limit}
        query = sql.SQL(_WITHIN).format(
            library=scope_sql.library(filters),
            documents=scope_sql.documents(filters),
            vectors=scope_sql.vectors(filters),
        )
        values = {**scope_sql.values(scope, filters), **values}
        [found] = await self._database.at_once(scope.person, query, values=values)
        return [Match(key, cosine) for key, cosine in found]

    async def parents(self, keys: Sequence[int], level: int, *, scope: Scope) -> dict[int, RetrievedChunk]:
        """The section (level 1) or document (level 0) that each of these chunks stands in."""
        async with self._database.transaction(scope.person) as connection:
            return await parents.around(connection, keys, level, scope)

    async def pages(self, extracts: Sequence[TextSpan], *, scope: Scope) -> list[list[PageText]]:
        """The pages that each of these spans of text touches."""
        return await pages.touched(self._database, extracts, scope)


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
FOUND = """c.key, d.id || '.' || v.id || '.' || c.ordinal, d.id, d.name,
           case when d.served = e.key then d.title else coalesce(v.about ->> 'title', d.title) end, v.id, v.checksum, d.folder, d.category,
           d.source_uri, d.source_urls, v.mime, c.ordinal, c.level, c.text, c.header, c.start_char, c.end_char,
           c.start_line, c.end_line, c.page, c.heading_path, c.content_type, c.language, c.vectorized_text, v.page_starts,
           v.created_at, c.parent, c.place, d.owner"""
"""The columns of a passage `c` of edition `e`, version `v` and document `d`, as `found_of` takes them."""
# The chunks come first, then what they belong to, each by its primary key: left to itself, a planner that has
# no statistics yet compares every edition with every document.
_FETCH = """
    with c as materialized (select * from chunk where key = any(%(keys)s) and realm = any ({realms}))
    select {found}, {cosine}
    from c join edition e on e.key = c.edition join document d on d.id = e.document_id
         join version v on v.key = e.version where {serving}
"""
# Where there was only ever one model, no document is looked at.
_STRANGERS = """
    select count(*) from {library} as document where (select count(*) > 1 from embedding_model) and model <> %(model)s and {documents}
"""
_TITLED = """
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
_WITHIN = """
    select v.chunk, v.cosine from {library} d cross join lateral (
        select chunk, max(-(embedding <#> %(vector)s::halfvec))::float8 as cosine from {vectors} v
        where edition = d.served and model = %(model)s and realm = any(%(realms)s)
        group by chunk order by cosine desc, chunk limit %(limit)s
    ) v where d.id in (select id from {library} as document where id = any(%(within)s) and {documents})
    order by v.cosine desc, v.chunk
"""


@lru_cache(maxsize=64)
def _dense(filters: Filters, exact: bool, model: int, dimensions: int) -> bytes:
    """The nearest chunks under a filter of this shape: the same words for every question, put together once."""
    statement = sql.SQL(_DENSE_EXACT if exact else _DENSE_HNSW).format(
        model=sql.Literal(model),
        dimensions=sql.Literal(dimensions),
        vectors=scope_sql.vectors(filters),
        admitted=scope_sql.editions("v.edition", filters, listed=exact),
    )
    return statement.as_bytes(None)


@lru_cache(maxsize=64)
def _fetch(filters: Filters, vectors: int) -> tuple[bytes, bytes]:
    """Chunks with their cosines to so many vectors, and how many documents these say nothing about."""
    parts = {"library": scope_sql.library(filters), "documents": scope_sql.documents(filters)}
    chunks_of = sql.SQL(_FETCH).format(
        found=sql.SQL(FOUND),
        cosine=_nearest_of(vectors).format(vectors=scope_sql.vectors(filters)),
        serving=scope_sql.serving(filters),
        realms=sql.SQL(scope_sql.REALMS),
    )
    return chunks_of.as_bytes(None), sql.SQL(_STRANGERS).format(**parts).as_bytes(None)


def _nearest_of(vectors: int) -> sql.SQL:
    """The cosine of a chunk's best window to the nearest of the vectors, which `vector0`, `vector1` … stand for."""
    if not vectors:
        return sql.SQL("null::float8")
    near = ", ".join(f"-(w.embedding <#> %(vector{n})s::halfvec)" for n in range(vectors))
    own = "w.edition = c.edition and w.chunk = c.key and w.model = %(model)s"
    return sql.SQL(f"(select max(greatest({near}))::float8 from {{vectors}} w where {own})")  # noqa: S608 - all ours


def _window_factor(survey: CorpusStats) -> int:
    """How many rows to read for every chunk wanted: one where each has one vector, more the more they have."""
    average = survey.vectors / max(1, survey.chunks)
    return max(1, min(WINDOW_FACTOR, math.ceil(2 * average) - 1))


_LISTS = [place for place, field in enumerate(fields(RetrievedChunk)) if get_origin(field.type) is tuple]
"""Which columns are lists to the driver."""


def found_of(row: tuple[Any, ...]) -> RetrievedChunk:
    """A passage from the columns of `FOUND`."""
    values = list(row)
    for place in _LISTS:
        values[place] = tuple(values[place])
    return RetrievedChunk(*values)


def _literal(vector: Vector) -> str:
    return _written(tuple(vector))


@lru_cache(maxsize=32)
def _written(vector: tuple[float, ...]) -> str:
    """A question's vector is written into every statement of its search."""
    return "[" + ",".join([f"{x:.6g}" for x in vector]) + "]"
