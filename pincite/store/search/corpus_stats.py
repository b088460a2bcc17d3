"""Corpus statistics of a scope: chunks, words, vectors and languages; cached until the documents change."""

import time
from dataclasses import dataclass

from psycopg import sql

from pincite.core.accounts.access import Scope
from pincite.core.query.question import Filters
from pincite.store.database import Connection, Database
from pincite.store.search import scope_sql

MAX_AGE_S = 2.0
"""Age in seconds up to which cached statistics may choose the search method; scores need the exact revision."""

MAX_CACHED_SCOPES = 1000
"""Cached entries, one per scope; the cache is cleared when it is full."""


@dataclass(frozen=True, slots=True)
class CorpusStats:
    """The totals and the languages of the documents within a scope and filters, at a revision of the corpus.

    `narrowed` says whether filters restrict the scope.
    """

    chunks: int
    words: int
    vectors: int
    narrowed: bool
    languages: tuple[str, ...] = ()
    revision: int = 0


class CorpusStatsCache:
    """Caches the statistics of unfiltered scopes; those under a filter are computed each time."""

    def __init__(self) -> None:
        self._cached: dict[Scope, tuple[float, CorpusStats]] = {}
        self._vectors = (0.0, 0)

    def cached(self, scope: Scope, filters: Filters) -> CorpusStats | None:
        """Return the cached statistics of any age; callers that compute scores must compare the revision."""
        cached = None if scope_sql.is_filtered(filters) else self._cached.get(scope)
        return cached[1] if cached else None

    async def compute(self, database: Database, scope: Scope, filters: Filters) -> CorpusStats:
        """Compute the statistics from the database, and cache them unless they are filtered."""
        query = sql.SQL(_STATS).format(library=scope_sql.library(filters), documents=scope_sql.documents(filters))
        [[row]] = await database.read_batch(scope, query, values=scope_sql.values(scope, filters))
        narrowed = scope_sql.is_filtered(filters)
        stats = CorpusStats(row[0], row[1], row[2], narrowed, tuple(sorted(row[3])), int(row[4]))
        if not narrowed:
            if len(self._cached) >= MAX_CACHED_SCOPES:
                self._cached.clear()
            self._cached[scope] = time.monotonic(), stats
        return stats

    async def recent(self, database: Database, scope: Scope, filters: Filters) -> CorpusStats:
        """Return statistics up to `MAX_AGE_S` old: exact enough to choose the search method, not to compute scores."""
        cached = None if scope_sql.is_filtered(filters) else self._cached.get(scope)
        if cached and time.monotonic() - cached[0] < MAX_AGE_S:
            return cached[1]
        return await self.compute(database, scope, filters)

    async def vectors(self, database: Database) -> int:
        """Return the number of vectors in the library, of all owners: those that an HNSW search may visit."""
        counted_at, count = self._vectors
        if time.monotonic() - counted_at >= MAX_AGE_S or not counted_at:
            [[(count,)]] = await database.run_batch("", "select all_vectors()", values={})
            self._vectors = time.monotonic(), count
        return count


NEXT_REVISION = sql.SQL("greatest(corpus.revision + 1, (extract(epoch from clock_timestamp()) * 1000)::bigint)")
"""The revision after a change: the time in milliseconds, or one more if that is not higher.

A counted number comes again after a failover that lost transactions, for other documents: a process that remembers the
lost ones would take them for these.
"""


async def bump_revision(connection: Connection, realm: int) -> None:
    """Raise the revision of a realm's corpus after its served documents changed.

    It must be the last statement of the transaction: other transactions that change this realm wait for its end.
    """
    await connection.execute(_BUMP, {"realm": realm})


_BUMP = sql.SQL("""
    insert into corpus (realm, revision) values (%(realm)s, (extract(epoch from clock_timestamp()) * 1000)::bigint)
    on conflict (realm) do update set revision = {}
""").format(NEXT_REVISION)
_STATS = """
    with admitted as (select chunks, words, vectors, languages from {library} as document where {documents})
    select coalesce(sum(chunks), 0)::bigint, coalesce(sum(words), 0)::bigint, coalesce(sum(vectors), 0)::bigint,
           array(select distinct unnest(languages) from (select distinct languages from admitted) d),
           (select coalesce(sum(revision), 0) from corpus where realm = any(%(realms)s))
    from admitted
"""
