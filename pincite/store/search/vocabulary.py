"""The words documents are written with: kept beside their postings, asked for by whoever corrects a question."""

from collections.abc import Collection, Sequence

from psycopg import sql

from pincite.core.accounts.access import Scope
from pincite.core.query.question import Filters
from pincite.store.database import Connection, Database
from pincite.store.search import scope_sql
from pincite.store.search.corpus_stats import CorpusStatsCache
from pincite.text.terms import query_terms

_LOCK = 0x776F7264  # "word": whoever forgets words of a realm waits for whoever else does


class PostgresVocabulary:
    """Words of what a caller may see. Row-level security is the net; the same scope is also in each query."""

    def __init__(self, database: Database, surveys: CorpusStatsCache | None = None) -> None:
        self._database = database
        self._surveys = surveys or CorpusStatsCache()

    async def known_words(self, words: Collection[str], *, scope: Scope) -> frozenset[str]:
        """Those of the words that the caller's documents hold, in this form or in another of the same stem.

        In this form where they are kept as words; in another where a search would find them, as any language of the
        documents has them stemmed. Both are asked for at once, lest a word of the second kind cost a second round trip.
        """
        if not scope.realms or not words:
            return frozenset()
        survey = await self._surveys.rough(self._database, scope, Filters())
        asked = [(word, term) for word in words for term in query_terms(word, survey.languages)]
        values = {
            "realms": list(scope.realms),
            "held": list(words),
            "words": [word for word, _ in asked],
            "terms": [term for _, term in asked],
        }
        found = await self._database.at_once(scope.person, _HELD, _INDEXED, values=values)
        return frozenset(word for rows in found for (word,) in rows)

    async def words_in(self, words: Collection[str], *, scope: Scope, filters: Filters) -> frozenset[str]:
        """Those of the words that stand in a served document the caller may see and the filter leaves."""
        if not scope.realms or not words:
            return frozenset()
        editions = scope_sql.editions("p.edition", filters, listed=True)
        query = sql.SQL(_AMONG).format(postings=scope_sql.postings(filters), editions=editions)
        values = {**scope_sql.values(scope, filters), "words": list(words)}
        [found] = await self._database.at_once(scope.person, query, values=values)
        return frozenset(word for (word,) in found)


async def keep_words(connection: Connection, realm: int, words: Collection[tuple[str, str]]) -> None:
    """Keep words, each with the term it is indexed by; in one order always, so that two who do it never wait in a ring."""
    ordered = sorted(words)
    joined = {"words": "\x1f".join(word for word, _ in ordered), "terms": "\x1f".join(term for _, term in ordered)}
    await connection.execute(_KEEP, joined | {"realm": realm})


async def forget_words(connection: Connection, editions: Sequence[int]) -> None:
    """Forget the words that nothing but these editions, about to be removed, is found by.

    Two who remove the last two documents with a word would each see the other's: so one waits for the other.
    """
    await connection.execute(
        "select pg_advisory_xact_lock(%s, realm) from edition where key = any(%s) group by realm order by realm",
        (_LOCK, list(editions)),
    )
    await connection.execute(_FORGET, {"editions": list(editions)})


_HELD = "select word from vocabulary where realm = any(%(realms)s) and word = any(%(held)s::text[])"
# One posting of each term is enough: left to itself, the planner may read all of them.
_INDEXED = """
    select asked.word from unnest(%(words)s::text[], %(terms)s::text[]) as asked (word, term)
    cross join lateral (
        select from posting p where p.realm = any(%(realms)s) and p.term = asked.term limit 1
    ) as there
"""
_AMONG = """
    select v.word from vocabulary v cross join lateral (
        select from {postings} p where p.realm = v.realm and p.term = v.term and {editions} limit 1
    ) as there where v.realm = any(%(realms)s) and v.word = any(%(words)s::text[])
"""
_KEEP = """
    insert into vocabulary (realm, word, term)
    select %(realm)s, w.word, w.term
    from unnest(string_to_array(%(words)s, e'\\x1f'), string_to_array(%(terms)s, e'\\x1f')) as w (word, term)
    on conflict do nothing
"""
_FORGET = """
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
