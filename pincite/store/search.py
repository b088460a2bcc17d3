"""Finding chunks: by meaning, by words, inside what the caller may see."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import sql

from pincite.core.answers import Filters, Found
from pincite.core.callers import Scope
from pincite.core.protocols import Fetched, Match, Titled, Vector
from pincite.settings import Rag
from pincite.store.database import Connection, Database, one, rows
from pincite.words import query_terms

EVERYTHING = Filters()
WINDOW_FACTOR = 4
"""Where chunks have several vectors, so many times more rows are read than chunks are wanted, at most."""

NAMESAKES = 3
"""A name that more documents carry is no one's."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What a search will meet: the sizes of the admitted documents, from their own totals."""

    chunks: int
    words: int
    vectors: int
    narrowed: bool


class PostgresIndex:
    """Search over PostgreSQL. Row-level security is the net; the same scope is also in each query."""

    def __init__(self, database: Database, model: int, dimensions: int, rag: Rag) -> None:
        self._database = database
        self._model = model
        self._dimensions = dimensions
        self._rag = rag

    async def dense(self, vector: Vector, *, scope: Scope, filters: Filters, limit: int) -> list[Match]:
        """The chunks nearest to a vector, by the cosine of their best window.

        Few admitted vectors are all compared: an HNSW walk under a narrow filter loses results silently.
        """
        if not scope.realms:
            return []
        options = {"hnsw.ef_search": str(max(self._rag.ef_search, min(1000, limit))), **_ITERATIVE}
        async with self._database.transaction(scope.person, local=options) as connection:
            survey = await _survey(connection, scope, filters)
            exact = survey.vectors <= self._rag.exact_rows or (
                survey.narrowed and survey.vectors <= 5 * self._rag.exact_rows
            )
            form = _DENSE_EXACT if exact else _DENSE_HNSW
            query = sql.SQL(form).format(
                model=sql.Literal(self._model),
                dimensions=sql.Literal(self._dimensions),
                admitted=_admitted("v.edition", filters, listed=exact),
            )
            found = await rows(
                connection,
                query,
                {
                    **_values(scope, filters),
                    "vector": _literal(vector),
                    "limit": limit,
                    "rows": limit * _window_factor(survey),
                },
            )
        return [Match(key, score) for key, score in found]

    async def lexical(self, text: str, *, scope: Scope, filters: Filters, limit: int) -> list[Match]:
        """The chunks that share words with a text, by BM25 over exactly the admitted chunks."""
        if not scope.realms:
            return []
        async with self._database.transaction(scope.person, local=_HASHED) as connection:
            survey = await _survey(connection, scope, filters)
            terms = query_terms(text, await _languages(connection, scope, filters))
            if not survey.chunks or not terms:
                return []
            kept = sql.SQL("materialized" if survey.narrowed else "not materialized")
            query = sql.SQL(_BM25).format(admitted=_admitted("p.edition", filters), kept=kept)
            found = await rows(
                connection,
                query,
                {
                    **_values(scope, filters),
                    "terms": list(terms),
                    "weights": list(terms.values()),
                    "chunks": survey.chunks,
                    "average": survey.words / survey.chunks,
                    "k1": self._rag.bm25_k1,
                    "b": self._rag.bm25_b,
                    "limit": limit,
                },
            )
        return [Match(key, score, most) for key, score, most in found]

    async def fetch(
        self, keys: Sequence[int], vectors: Sequence[Vector], *, scope: Scope, filters: Filters = EVERYTHING
    ) -> Fetched:
        """Read chunks back from one snapshot: what is not served any more is left out."""
        async with self._database.transaction(scope.person) as connection:
            found = await rows(connection, _FETCH, {"keys": list(keys), "realms": list(scope.realms)})
            cosines: dict[int, float] = {}
            for vector in vectors:
                values = {
                    "keys": list(keys),
                    "realms": list(scope.realms),
                    "vector": _literal(vector),
                    "model": self._model,
                }
                for key, cosine in await rows(connection, _COSINES, values):
                    cosines[key] = max(cosine, cosines.get(key, -1.0))
            strangers = await one(
                connection,
                sql.SQL(_STRANGERS).format(documents=_documents(filters)),
                {**_values(scope, filters), "model": self._model},
            )
        assert strangers is not None
        chunks = [_found(row) for row in found]
        return Fetched({chunk.key: chunk for chunk in chunks}, cosines, strangers[0])

    async def titled(self, names: Sequence[str], vector: Vector, *, scope: Scope, filters: Filters) -> list[Titled]:
        """The documents called by one of the names; a name that more than a few carry names none of them."""
        if not scope.realms or not names:
            return []
        values = {"names": list(names), "few": NAMESAKES, "vector": _literal(vector), "model": self._model}
        query = sql.SQL(_TITLED).format(documents=_documents(filters))
        async with self._database.transaction(scope.person) as connection:
            found = await rows(connection, query, {**_values(scope, filters), **values})
        return [Titled(name, document, Match(key, cosine)) for name, document, key, cosine in found]


_ITERATIVE = {"hnsw.iterative_scan": "relaxed_order"}
# The planner takes a question's postings for a handful and would sort them, on disk where they are many.
_HASHED = {"enable_sort": "off", "work_mem": "64MB"}

_DENSE_EXACT = """
    select chunk, max(cosine)::float8 as best from (
        select v.chunk, -(v.embedding <#> %(vector)s::halfvec) as cosine from vector v
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
# What a filter leaves is little and kept; else walking the index twice, to count and to score, beats keeping all of it.
# The weights are worked out once a term and in float8: numeric logarithms in the sum cost five times the rest.
_BM25 = """
    with hit as {kept} (
        select p.term, p.chunk, p.frequency, p.words from posting p
        where p.term = any(%(terms)s) and p.realm = any(%(realms)s) and {admitted}
    ), seen as (
        select term, count(*)::float8 as n from hit group by term
    ), wanted as materialized (
        select s.term, q.weight * ln(1 + (%(chunks)s::float8 - s.n + 0.5::float8) / (s.n + 0.5::float8)) as idf
        from seen s join unnest(%(terms)s::text[], %(weights)s::float8[]) as q (term, weight) on q.term = s.term
    )
    select h.chunk, sum(w.idf * h.frequency * (%(k1)s::float8 + 1) / (h.frequency
           + %(k1)s::float8 * (1 - %(b)s::float8 + %(b)s::float8 * h.words / %(average)s::float8))) as score,
           (select sum(idf) * (%(k1)s::float8 + 1) from wanted) as most
    from hit h join wanted w on w.term = h.term group by h.chunk order by score desc, h.chunk limit %(limit)s
"""
# The chunks come first, then what they belong to, each by its primary key: left to itself, a planner that has
# no statistics yet compares every edition with every document.
_FETCH = """
    with c as materialized (select * from chunk where key = any(%(keys)s) and realm = any(%(realms)s))
    select c.key, d.id || '.' || v.id || '.' || c.ordinal, d.id, d.name, d.title, v.id, v.checksum, d.folder, d.category,
           d.source_uri, d.source_urls, v.mime, c.ordinal, c.level, c.text, c.header, c.start_char, c.end_char,
           c.start_line, c.end_line, c.page, c.heading_path, c.content_type, c.language, c.vectorized_text, v.page_starts,
           v.created_at
    from c join edition e on e.key = c.edition and e.state = 'served'
         join document d on d.id = e.document_id and d.served = e.key join version v on v.key = e.version
"""
_COSINES = """
    select c.key, max(-(v.embedding <#> %(vector)s::halfvec))::float8
    from chunk c join vector v on v.edition = c.edition and v.chunk = c.key and v.model = %(model)s
    where c.key = any(%(keys)s) and c.realm = any(%(realms)s) group by c.key
"""
# Where there was only ever one model, no document is looked at.
_STRANGERS = """
    select count(*) from document where (select count(*) > 1 from embedding_model) and model <> %(model)s and {documents}
"""
_TITLED = """
    with named as materialized (
        select called, id, served from document where called = any(%(names)s) and {documents}
    ), few as (
        select called from named group by called having count(*) <= %(few)s
    )
    select n.called, n.id, v.chunk, v.cosine from few join named n on n.called = few.called cross join lateral (
        select chunk, -(embedding <#> %(vector)s::halfvec)::float8 as cosine from vector
        where edition = n.served and model = %(model)s and realm = any(%(realms)s)
        order by cosine desc, chunk limit 1
    ) v order by n.called, n.id
"""
_SURVEY = """
    select coalesce(sum(chunks), 0)::bigint, coalesce(sum(words), 0)::bigint, coalesce(sum(vectors), 0)::bigint
    from document where {documents}
"""
_LANGUAGES = "select distinct unnest(languages) from (select distinct languages from document where {documents}) d"


async def _survey(connection: Connection, scope: Scope, filters: Filters) -> Survey:
    row = await one(connection, sql.SQL(_SURVEY).format(documents=_documents(filters)), _values(scope, filters))
    assert row is not None
    return Survey(row[0], row[1], row[2], _narrowed(filters))


async def _languages(connection: Connection, scope: Scope, filters: Filters) -> list[str]:
    """What the admitted documents are written in."""
    query = sql.SQL(_LANGUAGES).format(documents=_documents(filters))
    return sorted(language for (language,) in await rows(connection, query, _values(scope, filters)))


def _window_factor(survey: Survey) -> int:
    """How many rows to read for every chunk wanted: one where each has one vector, more the more they have."""
    average = survey.vectors / max(1, survey.chunks)
    return max(1, min(WINDOW_FACTOR, math.ceil(2 * average) - 1))


def _narrowed(filters: Filters) -> bool:
    return filters.folder is not None or filters.document_ids is not None


def _documents(filters: Filters) -> sql.Composed:
    """The documents a search may look into: the scope's predicate, made here and nowhere else."""
    conditions = ["realm = any(%(realms)s)", "served is not null"]
    if filters.folder is not None:
        conditions.append("(folder = %(folder)s or starts_with(folder, %(below)s))")
    if filters.document_ids is not None:
        conditions.append("id = any(%(documents)s)")
    return sql.SQL(" and ").join(sql.SQL(condition) for condition in conditions)


def _admitted(column: str, filters: Filters, *, listed: bool = False) -> sql.Composed:
    """Which editions a search may find in: those of the documents a filter names, else all that are served.

    An edition that is being written, or was replaced and not yet cleared, is nobody's to find; such are few, so
    they are named rather than the served ones. `listed` is the form that makes an exact scan go by the index.
    """
    if not _narrowed(filters):
        form = "{} <> all (array(select key from edition where state <> 'served'))"
        return sql.SQL(form).format(sql.SQL(column))
    form = (
        "{} = any (array(select served from document where {}))"
        if listed
        else "{} in (select served from document where {})"
    )
    return sql.SQL(form).format(sql.SQL(column), _documents(filters))


def _values(scope: Scope, filters: Filters) -> dict[str, object]:
    return {
        "realms": list(scope.realms),
        "folder": filters.folder,
        "below": f"{filters.folder}/",
        "documents": list(filters.document_ids or ()),
    }


def _found(row: tuple[Any, ...]) -> Found:
    values: list[Any] = [tuple(value) if isinstance(value, list) else value for value in row]
    return Found(*values)


def _literal(vector: Vector) -> str:
    return "[" + ",".join(f"{x:.6g}" for x in vector) + "]"
