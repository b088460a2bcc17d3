"""The vocabulary of the documents: stored beside their postings, used to correct misspelt query words."""

from collections.abc import Collection, Sequence

from psycopg import sql

from pincite.core.accounts.access import Scope
from pincite.core.query.question import Filters
from pincite.store.database import Connection, Database
from pincite.store.search import scope_sql
from pincite.store.search.corpus_stats import CorpusStatsCache
from pincite.text.terms import query_terms

_LOCK = 0x776F7264  # "word": advisory lock; one transaction at a time removes words of a realm


class PostgresVocabulary:
    """The words of the documents that a caller may read; each query has the scope, row-level security enforces it."""

    def __init__(self, database: Database, stats_cache: CorpusStatsCache | None = None) -> None:
        self._database = database
        self._stats_cache = stats_cache or CorpusStatsCache()

    async def known_words(self, words: Collection[str], *, scope: Scope) -> frozenset[str]:
        """Return the words that occur in the caller's documents, in this form or in another form of the same stem.

        The exact form is looked up in the vocabulary, the stem in the postings, for each language of the documents.
        Both lookups are sent in one round trip.
        """
        if not scope.realms or not words:
            return frozenset()
        stats = await self._stats_cache.recent(self._database, scope, Filters())
        asked = [(word, term) for word in words for term in query_terms(word, stats.languages)]
        values = {
            "realms": list(scope.realms),
            "held": list(words),
            "words": [word for word, _ in asked],
            "terms": [term for _, term in asked],
        }
        found = await self._database.read_batch(scope, _KNOWN_WORDS, _KNOWN_TERMS, values=values)
        return frozenset(word for rows in found for (word,) in rows)

    async def words_in_scope(self, words: Collection[str], *, scope: Scope, filters: Filters) -> frozenset[str]:
        """Return the words that occur in a served document within the scope and the filters."""
        if not scope.realms or not words:
            return frozenset()
        editions = scope_sql.editions("p.edition", filters, listed=True)
        query = sql.SQL(_WORDS_IN_SCOPE).format(postings=scope_sql.postings(filters), editions=editions)
        values = {**scope_sql.values(scope, filters), "words": list(words)}
        [found] = await self._database.read_batch(scope, query, values=values)
        return frozenset(word for (word,) in found)


async def store_words(connection: Connection, realm: int, words: Collection[tuple[str, str]]) -> None:
    """Store words, each with its index term; always in sorted order, so that two transactions cannot deadlock."""
    ordered = sorted(words)
    joined = {"words": "\x1f".join(word for word, _ in ordered), "terms": "\x1f".join(term for _, term in ordered)}
    await connection.execute(_STORE, joined | {"realm": realm})


async def remove_words(connection: Connection, editions: Sequence[int]) -> None:
    """Remove the words that occur only in these editions, before the editions are removed.

    The lock makes concurrent removals wait: two transactions that remove the last two documents with a word would each
    still see the other's document and keep the word.
    """
    await connection.execute(
        "select pg_advisory_xact_lock(%s, realm) from edition where key = any(%s) group by realm order by realm",
        (_LOCK, list(editions)),
    )
    await connection.execute(_REMOVE, {"editions": list(editions)})


_KNOWN_WORDS = "select word from vocabulary where realm = any(%(realms)s) and word = any(%(held)s::text[])"
# One posting per term is enough; without `limit 1` the planner may read all of them.
_KNOWN_TERMS = """
    select asked.word from unnest(%(words)s::text[], %(terms)s::text[]) as asked (word, term)
    cross join lateral (
        select from posting p where p.realm = any(%(realms)s) and p.term = asked.term limit 1
    ) as there
"""
_WORDS_IN_SCOPE = """
    select v.word from vocabulary v cross join lateral (
        select from {postings} p where p.realm = v.realm and p.term = v.term and {editions} limit 1
    ) as there where v.realm = any(%(realms)s) and v.word = any(%(words)s::text[])
"""
_STORE = """
    insert into vocabulary (realm, word, term)
    select %(realm)s, w.word, w.term
    from unnest(string_to_array(%(words)s, e'\\x1f'), string_to_array(%(terms)s, e'\\x1f')) as w (word, term)
    on conflict do nothing
"""
_REMOVE = """
    with gone as materialized (
        select realm, term from posting where edition = any(%(editions)s)
        union select realm, term from past_posting where edition = any(%(editions)s)
    )
    delete from vocabulary v using gone g where v.realm = g.realm and v.term = g.term and not exists (
        select from posting p where p.realm = v.realm and p.term = v.term and p.edition <> all(%(editions)s)
    ) and not exists (
        select from past_posting p where p.realm = v.realm and p.term = v.term and p.edition <> all(%(editions)s)
    )
"""
