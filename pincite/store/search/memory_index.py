"""Search in the memory of this process where the index is there, else in PostgreSQL; it says what may be read."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from psycopg import sql

from pincite.config.branches.retrieval import Rag
from pincite.core.accounts.access import Scope
from pincite.core.protocols import Fetched, Match, TermMatches, TitleMatch, Vector
from pincite.core.query.hits import RetrievedChunk
from pincite.core.query.question import Filters
from pincite.store.database import Database
from pincite.store.search import scope_sql
from pincite.store.search.chunk_columns import retrieved_chunk
from pincite.store.search.corpus_stats import CorpusStatsCache
from pincite.store.search.postgres_index import (
    MAX_DOCUMENTS_PER_NAME,
    NO_FILTERS,
    PostgresIndex,
    chunks_statement,
    other_models,
)
from pincite.store.search.resident.cache import ResidentIndexes
from pincite.store.search.resident.loading import REVISIONS, Vectors
from pincite.store.search.resident.view import View
from pincite.store.search.vocabulary import PostgresVocabulary
from pincite.text.terms import query_terms

_REVISIONS = REVISIONS.encode()
_SCOPE = scope_sql.SCOPE.encode()
_CHECK = """
    select array(select key from chunk where key = any(%(known)s::int[]) and realm = any ({realms})), ({others}),
           array(select coalesce(c.revision, 0) from unnest(%(realms)s::int[]) with ordinality r (realm, n)
                 left join corpus c on c.realm = r.realm order by r.n)
"""


class ScopeChanged(Exception):
    """The scope that a request assumed is not that of now; the request begins again."""


class MemoryIndex(PostgresIndex):
    """Finds chunks and titles in memory, with the same results as PostgreSQL; reads them under row-level security.

    It serves one request. If the documents or the caller's rights have changed since the scope was read, the rest of
    the request is searched in PostgreSQL.
    """

    def __init__(
        self,
        database: Database,
        vectors: Vectors,
        rag: Rag,
        resident: ResidentIndexes,
        stats_cache: CorpusStatsCache | None = None,
    ) -> None:
        super().__init__(database, vectors.model, vectors.dimensions, rag, stats_cache)
        self._vectors = vectors
        self._resident = resident
        self._found_in_memory = False
        self._changed = False
        self._assumed: tuple[Scope, int] | None = None

    def assume(self, scope: Scope, searched: int) -> None:
        """Search with a scope and an index that were read for an earlier request; `fetch` confirms that they still hold.

        If they do not, it raises `ScopeChanged`, and the request begins again with the scope of now.
        """
        self._assumed = scope, searched

    def require_confirmed(self) -> None:
        """Raise `ScopeChanged` if the scope was assumed and nothing has confirmed it."""
        if self._assumed is not None:
            raise ScopeChanged

    def _view(self, scope: Scope, filters: Filters) -> View | None:
        view = None if self._changed else self._resident.view(self._database, scope, filters, self._vectors)
        self._found_in_memory |= view is not None
        return view

    async def dense(self, vector: Vector, *, scope: Scope, filters: Filters, limit: int) -> list[Match]:
        """Return the chunks nearest to a vector, by the cosine of their best window; in memory, compared exactly."""
        view = self._view(scope, filters)
        if view is None:
            return await super().dense(vector, scope=scope, filters=filters, limit=limit)
        return view.dense(vector, limit)

    async def lexical(self, text: str, *, scope: Scope, filters: Filters, limit: int) -> list[Match]:
        """Return the chunks that share terms with a text, by BM25 over exactly the admitted chunks."""
        view = self._view(scope, filters)
        if view is None:
            return await super().lexical(text, scope=scope, filters=filters, limit=limit)
        return view.lexical(text, self._rag, limit)

    async def terms_in(self, text: str, keys: Sequence[int], *, scope: Scope, filters: Filters) -> list[TermMatches]:
        """Return which of these chunks contain each term of a text, and what the term weighs."""
        view = self._view(scope, filters)
        if view is None:
            return await super().terms_in(text, keys, scope=scope, filters=filters)
        return view.terms_in(text, keys, self._rag)

    async def documents_named(
        self, names: Sequence[str], vector: Vector, *, scope: Scope, filters: Filters
    ) -> list[TitleMatch]:
        """Return the documents with one of these names; names of too many documents are ignored."""
        view = self._view(scope, filters)
        if view is None:
            return await super().documents_named(names, vector, scope=scope, filters=filters)
        return view.documents_named(names, vector, MAX_DOCUMENTS_PER_NAME)

    async def fetch(
        self, keys: Sequence[int], vectors: Sequence[Vector], *, scope: Scope, filters: Filters = NO_FILTERS
    ) -> Fetched:
        """Read chunks by key from one snapshot; `outdated` if they were found in memory and something changed since."""
        view = self._view(scope, filters) if self._found_in_memory else None
        if view is not None:
            return await self._fetch_new(view, keys, vectors, scope, filters)
        self.require_confirmed()
        fetched, [revisions] = await self._fetch(keys, vectors, scope, filters, _REVISIONS)
        changed = dict(revisions) != dict(zip(scope.realms, scope.revisions, strict=True))
        return self._outdated(fetched) if self._found_in_memory and changed else fetched

    def answers_at_once(self, scope: Scope, filters: Filters) -> bool:
        """Whether dense and lexical search need no database, so that nothing is gained by running them together."""
        now = filters.as_of is None and filters.index is None
        return now and not self._changed and self._resident.is_current(scope, self._vectors)

    def remembered(self, keys: Sequence[int], *, scope: Scope, filters: Filters) -> Mapping[int, RetrievedChunk]:
        """Return the chunks whose text was read before and is current; whether they may be shown, `fetch` finds out."""
        return self._resident.passages.find(keys, scope) if self._found_in_memory else {}

    async def _fetch_new(
        self, view: View, keys: Sequence[int], vectors: Sequence[Vector], scope: Scope, filters: Filters
    ) -> Fetched:
        """Return the chunks that this person sees now: the remembered ones without their text, the others read.

        Which chunks row-level security lets this person see, and the revisions, are of one snapshot. If the revisions
        are still those of the scope, the documents are those in memory, and the remembered chunks are served as they
        are.
        """
        passages, shape = self._resident.passages, scope_sql.shape(filters)
        known = passages.find(keys, scope)
        new = [key for key in keys if key not in known]
        values = {**scope_sql.values(scope, filters), "known": list(known), "keys": new, "model": self._model}
        statements = [*([chunks_statement(shape, 0)] if new else []), _check_statement(shape)]
        assumed = [_SCOPE] if self._assumed else []
        found = await self._database.read_batch(
            scope, *assumed, *statements, values=values | {"looks": False}, by_key=True
        )
        *read, [(visible, others, revisions)] = found
        if self._assumed:
            self._confirm(*self._assumed, read.pop(0)[0])
        if tuple(revisions) != scope.revisions:
            return self._outdated(Fetched({}, {}, others))
        made = [(row[-2], retrieved_chunk(row)) for rows in read for row in rows]
        passages.keep(made, scope)
        chunks = {key: known[key] for key in visible} | {chunk.key: chunk for _, chunk in made}
        return Fetched(chunks, view.cosines(list(chunks), vectors), others)

    def _confirm(self, before: Scope, index: int, row: Sequence[Any]) -> None:
        """Compare the assumed scope and index with those of now, without the position in the log."""
        now, searched = scope_sql.scope_of(before.person, row)
        if (before, before.revisions, before.built, index) != (now, now.revisions, now.built, searched):
            raise ScopeChanged
        self._assumed = None

    def _outdated(self, fetched: Fetched) -> Fetched:
        """Return what was read as outdated; from now on this request is searched in PostgreSQL."""
        self._found_in_memory, self._changed = False, True
        return replace(fetched, outdated=True)


class MemoryVocabulary(PostgresVocabulary):
    """Knows words by their terms in memory, and asks PostgreSQL for the others."""

    def __init__(self, database: Database, stats_cache: CorpusStatsCache, resident: ResidentIndexes, vectors: Vectors):
        super().__init__(database, stats_cache)
        self._resident = resident
        self._vectors = vectors

    async def known_words(self, words: Collection[str], *, scope: Scope) -> frozenset[str]:
        """Return the words that occur in the caller's documents, in this form or in another form of the same stem."""
        view = self._resident.view(self._database, scope, NO_FILTERS, self._vectors)
        if view is None:
            return await super().known_words(words, scope=scope)
        known = frozenset(word for word in words if any(map(view.has_term, _terms_of(word, view.languages))))
        missing = frozenset(words) - known
        return known | (await super().known_words(missing, scope=scope) if missing else frozenset())


@lru_cache(maxsize=64)
def _check_statement(filters: Filters) -> bytes:
    """Return the statement for the known chunks that a person sees, the documents of other models, the revisions."""
    statement = sql.SQL(_CHECK).format(realms=sql.SQL(scope_sql.REALMS), others=other_models(filters))
    return statement.as_bytes(None)


@lru_cache(maxsize=10_000)
def _terms_of(word: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(query_terms(word, languages))
