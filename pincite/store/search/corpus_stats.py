"""What a search will meet: how much there is and in which languages, remembered until the documents change."""

import time
from dataclasses import dataclass

from psycopg import sql

from pincite.core.accounts.access import Scope
from pincite.core.query.question import Filters
from pincite.store.database import Connection, Database
from pincite.store.search import scope_sql

FRESH_S = 2.0
"""So long what was remembered is good enough to choose how to search; to score by, it must be of this very moment."""

MOST = 1000
"""Surveys that are remembered; people see different things, and some leave."""


@dataclass(frozen=True, slots=True)
class CorpusStats:
    """The sizes of the admitted documents, from their own totals, and what they are written in.

    `revision` is the state of the documents it was made in.
    """

    chunks: int
    words: int
    vectors: int
    narrowed: bool
    languages: tuple[str, ...] = ()
    revision: int = 0


class CorpusStatsCache:
    """Remembers the survey of whole libraries, each for those who see the same; one under a filter is made anew."""

    def __init__(self) -> None:
        self._made: dict[Scope, tuple[float, CorpusStats]] = {}
        self._vectors = (0.0, 0)

    def remembered(self, scope: Scope, filters: Filters) -> CorpusStats | None:
        """What was found last; who scores by it makes sure that its revision is the one he searches."""
        made = None if scope_sql.narrowed(filters) else self._made.get(scope)
        return made[1] if made else None

    async def make(self, database: Database, scope: Scope, filters: Filters) -> CorpusStats:
        """Look anew."""
        query = sql.SQL(_SURVEY).format(library=scope_sql.library(filters), documents=scope_sql.documents(filters))
        [[row]] = await database.at_once(scope.person, query, values=scope_sql.values(scope, filters))
        narrowed = scope_sql.narrowed(filters)
        survey = CorpusStats(row[0], row[1], row[2], narrowed, tuple(sorted(row[3])), int(row[4]))
        if not narrowed:
            if len(self._made) >= MOST:
                self._made.clear()
            self._made[scope] = time.monotonic(), survey
        return survey

    async def rough(self, database: Database, scope: Scope, filters: Filters) -> CorpusStats:
        """A survey that may be a moment old: good enough to choose how to search, not to score by."""
        made = None if scope_sql.narrowed(filters) else self._made.get(scope)
        if made and time.monotonic() - made[0] < FRESH_S:
            return made[1]
        return await self.make(database, scope, filters)

    async def vectors(self, database: Database) -> int:
        """How many vectors the library has, whoever they belong to: what a walk through the index may meet."""
        made, count = self._vectors
        if time.monotonic() - made >= FRESH_S or not made:
            [[(count,)]] = await database.at_once("", "select all_vectors()", values={})
            self._vectors = time.monotonic(), count
        return count


async def changed(connection: Connection, realm: int) -> None:
    """Say that the served documents of a realm are others now.

    The last statement of the transaction that changes them: whoever else changes this realm waits for its end.
    """
    await connection.execute(
        "insert into corpus (realm) values (%s) on conflict (realm) do update set revision = corpus.revision + 1",
        (realm,),
    )


_SURVEY = """
    with admitted as (select chunks, words, vectors, languages from {library} as document where {documents})
    select coalesce(sum(chunks), 0)::bigint, coalesce(sum(words), 0)::bigint, coalesce(sum(vectors), 0)::bigint,
           array(select distinct unnest(languages) from (select distinct languages from admitted) d),
           (select coalesce(sum(revision), 0) from corpus where realm = any(%(realms)s))
    from admitted
"""
