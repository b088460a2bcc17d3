"""The postings of a question's words, from packs and from what is not packed, as of one moment."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from psycopg import sql

from pincite.core.accounts.access import Scope
from pincite.core.query.question import Filters
from pincite.store.database import REMEMBER, Database
from pincite.store.search import scope_sql
from pincite.store.search.packed_postings import GAPS, POSTING


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found: each word's postings in pieces, keys that count for nothing, and the state of the documents."""

    postings: Mapping[str, list[bytes]]
    gone: bytes
    revision: int

    @property
    def size(self) -> int:
        """How many postings there are."""
        return sum(len(piece) for pieces in self.postings.values() for piece in pieces) // 8


async def look_up(database: Database, terms: Iterable[str], scope: Scope, filters: Filters) -> Looked:
    """The postings of these words in what may be searched."""
    values = {**scope_sql.values(scope, filters), "terms": list(terms)}
    local = _PLANNED if scope_sql.narrowed(filters) else _PLANNED_ONCE
    async with database.transaction(scope.person, local=local) as connection:
        found = await (await connection.execute(_statement(scope_sql.shape(filters)), values, binary=True)).fetchall()
    postings: dict[str, list[bytes]] = {}
    gone, revision = b"", 0
    for kind, term, piece in found:
        if kind == "word":
            postings.setdefault(term, []).append(piece)
        elif kind == "gone":
            gone = piece or b""
        else:
            revision = int.from_bytes(piece)
    return Looked(postings, gone, revision)


@lru_cache(maxsize=64)
def _statement(filters: Filters) -> bytes:
    """What is asked under a filter of this shape: the same for every question, and taken apart only once."""
    realms = sql.SQL(scope_sql.REALMS)
    packed = sql.SQL(_PACKED).format(realms=realms)
    statement = sql.SQL(_NARROWED if scope_sql.narrowed(filters) else _WHOLE).format(
        loose=sql.SQL(_LOOSE).format(posting=sql.SQL(POSTING)),
        gaps=sql.SQL(GAPS).format(realms=sql.SQL("array({})").format(packed)),
        packless=sql.SQL("select unnest(%(realms)s::int[]) except {}").format(packed),
        postings=scope_sql.postings(filters),
        admitted=scope_sql.editions("p.edition", filters),
        revision=sql.SQL(_REVISION).format(realms=realms),
        astray=sql.SQL(scope_sql.ASTRAY),
        realms=realms,
    )
    return statement.as_bytes(None)


# The planner takes a question's postings for a handful and would sort them, on disk where they are many.
_PLANNED = {"enable_sort": "off", "work_mem": "64MB", **REMEMBER}
# To plan the look-up in all that may be searched takes longer than to run it, and its plan never depends on the words: it is
# made once for a connection. Under a filter it does depend on what that admits.
_PLANNED_ONCE = {**_PLANNED, "plan_cache_mode": "force_generic_plan"}
_LOOSE = "select 'word', p.term, string_agg({posting}, '')"
_REVISION = """
    select 'revision', null, int8send(coalesce(sum(revision), 0)::bigint) from corpus where realm = any ({realms})
"""
# Under a filter the packs are of no use: what it admits is little, and found by its editions.
_NARROWED = """
    {loose} from {postings} p where p.term = any(%(terms)s) and p.realm = any(%(realms)s) and {admitted} group by p.term
    union all {revision}
"""
# Somebody may read a thousand realms, few of which are large enough for packs; the rest are looked up together.
_PACKED = "select distinct realm from pack where realm = any ({realms}) and state = 'ready'"
# A pack still holds what was replaced and not yet cleared: such chunks are few, and named. The offset keeps the planner
# from joining all postings of these words with the gaps.
_WHOLE = """
    select 'word', k.term, k.postings from packed k where k.realm = any ({realms}) and k.term = any(%(terms)s)
    union all
    {loose} from posting p where p.realm = any (array({packless})) and p.term = any(%(terms)s) and {admitted} group by p.term
    union all
    {loose} from ({gaps}) g cross join lateral (
        select p.term, p.chunk, p.frequency, p.words from posting p
        where p.realm = g.realm and p.term = any(%(terms)s) and p.edition > g.low and p.edition < g.high and {admitted} offset 0
    ) p group by p.term
    union all
    select 'gone', null, string_agg(int4send(c.key), '') from chunk c where c.edition = any (array(
        select e.key from edition e where e.state in ('writing', 'retired', 'ready') and e.state = 'retired' and e.realm = any ({realms})
        union all {astray}))
    union all {revision}
"""
