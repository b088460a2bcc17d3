"""The postings of a query's terms, from packs and from unpacked rows, in one snapshot."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from psycopg import sql

from pincite.core.accounts.access import Scope
from pincite.core.query.question import Filters
from pincite.store.database import Database
from pincite.store.local_settings import CACHE_PERMISSIONS
from pincite.store.search import scope_sql
from pincite.store.search.packed_postings import GAPS, POSTING


@dataclass(frozen=True, slots=True)
class FoundPostings:
    """Each term's packed postings, the keys of chunks to exclude (`gone`), and the revision of the corpus."""

    postings: Mapping[str, list[bytes]]
    gone: bytes
    revision: int

    @property
    def size(self) -> int:
        """The number of postings."""
        return sum(len(piece) for pieces in self.postings.values() for piece in pieces) // 8


async def find_postings(database: Database, terms: Iterable[str], scope: Scope, filters: Filters) -> FoundPostings:
    """Return the postings of these terms within the scope and the filters."""
    values = {**scope_sql.values(scope, filters), "terms": list(terms)}
    local = _PLANNER if scope_sql.is_filtered(filters) else _PLANNER_GENERIC
    statement = _statement(scope_sql.shape(filters))
    if database.replicas is not None and scope.position:
        [found] = await database.read_batch(scope, statement, values=values, local=local)
    else:
        async with database.transaction(scope.person, local=local) as connection:
            found = await (await connection.execute(statement, values, binary=True)).fetchall()
    postings: dict[str, list[bytes]] = {}
    gone, revision = b"", 0
    for kind, term, piece in found:
        if kind == "word":
            postings.setdefault(term, []).append(piece)
        elif kind == "gone":
            gone = piece or b""
        else:
            revision = int.from_bytes(piece)
    return FoundPostings(postings, gone, revision)


@lru_cache(maxsize=64)
def _statement(filters: Filters) -> bytes:
    """Return the statement for filters of this shape; it is the same for every query, so it is built once."""
    realms = sql.SQL(scope_sql.REALMS)
    packed = sql.SQL(_PACKED).format(realms=realms)
    statement = sql.SQL(_FILTERED if scope_sql.is_filtered(filters) else _UNFILTERED).format(
        unpacked=sql.SQL(_UNPACKED).format(posting=sql.SQL(POSTING)),
        gaps=sql.SQL(GAPS).format(realms=sql.SQL("array({})").format(packed)),
        packless=sql.SQL("select unnest(%(realms)s::int[]) except {}").format(packed),
        postings=scope_sql.postings(filters),
        admitted=scope_sql.editions("p.edition", filters),
        revision=sql.SQL(_REVISION).format(realms=realms),
        misplaced=sql.SQL(scope_sql.MISPLACED_EDITIONS),
        realms=realms,
    )
    return statement.as_bytes(None)


# The planner underestimates the number of postings and would sort them, on disk where they are many.
_PLANNER = {"enable_sort": "off", "work_mem": "64MB", **CACHE_PERMISSIONS}
# Without a filter, planning takes longer than execution and the plan does not depend on the terms: a generic plan is
# made once per connection. Under a filter, the plan depends on how much the filter admits.
_PLANNER_GENERIC = {**_PLANNER, "plan_cache_mode": "force_generic_plan"}
_UNPACKED = "select 'word', p.term, string_agg({posting}, '')"
_REVISION = """
    select 'revision', null, int8send(coalesce(sum(revision), 0)::bigint) from corpus where realm = any ({realms})
"""
# Under a filter, packs are not used: the filter admits few chunks, and their postings are found by edition.
_FILTERED = """
    {unpacked} from {postings} p
    where p.term = any(%(terms)s) and p.realm = any(%(realms)s) and {admitted} group by p.term
    union all {revision}
"""
# A person may read a thousand realms, few of which are large enough for packs; the others are read in one lookup.
_PACKED = "select distinct realm from pack where realm = any ({realms}) and state = 'ready'"
# A pack still contains chunks that were replaced and not yet removed: they are few, and are listed as `gone`.
# `offset 0` keeps the planner from joining all postings of these terms with the gaps.
_UNFILTERED = """
    select 'word', k.term, k.postings from packed k where k.realm = any ({realms}) and k.term = any(%(terms)s)
    union all
    {unpacked} from posting p
    where p.realm = any (array({packless})) and p.term = any(%(terms)s) and {admitted} group by p.term
    union all
    {unpacked} from ({gaps}) g cross join lateral (
        select p.term, p.chunk, p.frequency, p.words from posting p
        where p.realm = g.realm and p.term = any(%(terms)s) and p.edition > g.low and p.edition < g.high
          and {admitted} offset 0
    ) p group by p.term
    union all
    select 'gone', null, string_agg(int4send(c.key), '') from chunk c where c.edition = any (array(
        select e.key from edition e
        where e.state in ('writing', 'retired', 'ready') and e.state = 'retired' and e.realm = any ({realms})
        union all {misplaced}))
    union all {revision}
"""
