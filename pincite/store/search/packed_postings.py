"""Packs: of documents that have settled, a word's postings in one piece, so that a search reads few rows."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from psycopg import sql

from pincite.errors import StoreDown
from pincite.store.database import LONG_WORK, Connection, Database, one, rows
from pincite.store.search.bm25 import without
from pincite.store.search.scope_sql import HIDDEN

log = logging.getLogger(__name__)

LEAST, MOST = 8_192, 65_536
"""Chunks that must have piled up before they are packed, and those of one pack."""
TOO_MANY_GONE = 1 / 8
"""A pack that lost so much of itself is thrown away: what is left of it waits for the next one."""
AT_A_TIME = 500
"""Words whose postings are rewritten at once."""
LOCK = 0x7061636B  # "pack": one at a time in a realm

POSTING = "int8send((p.chunk::bigint << 32) | (least(p.frequency, 65535)::bigint << 16) | least(p.words, 65535))"
"""A posting in eight bytes; `bm25.POSTING` says the same to whoever reads it."""
GAPS = """
    select realm, last as low, lead(first, 1, 2147483647) over (partition by realm order by last) as high
    from (select realm, first, last from pack where realm = any({realms}) and state = 'ready'
          union all select r, 0, 0 from unnest({realms}) r) p
"""
"""The editions of each of some realms that no pack covers: those after `low` and before `high`."""


@dataclass(frozen=True, slots=True)
class _Range:
    """Editions to be packed: of which realm, from and to which key, and how many chunks they have."""

    realm: int
    first: int
    last: int
    chunks: int


class PackedPostings:
    """Makes packs with the rights of whoever owns the documents, while others add, remove and search."""

    def __init__(self, database: Database, *, least: int = LEAST) -> None:
        self._database = database
        self._least = least

    async def make(self) -> int:
        """Pack what has piled up, where it is enough; returns how many chunks were."""
        packed = 0
        try:
            async with self._database.transaction("") as connection:
                owners = await rows(connection, "select owner from whose_words_pile_up(%s)", (self._least,))
            for (owner,) in owners:
                while (number := await self._begin(owner)) is not None and (more := await self._fill(owner, number)):
                    packed += more
        except StoreDown as error:  # somebody is writing, or packing: there will be another occasion
            log.info("packing waits: %s", error)
        return packed

    async def _begin(self, owner: str) -> int | None:
        """Lay down which editions the next pack covers: such that none of them can come to be served later."""
        async with self._database.transaction(owner, durable=False, local={"lock_timeout": "1s"}) as connection:
            own = await rows(connection, "select id from realm where owner = %s order by id", (owner,))
            piled = {"realms": [realm for (realm,) in own], "least": self._least}
            for realm, low, high in await rows(connection, _PILED, piled):
                if await one(connection, "select pg_try_advisory_xact_lock(%s, %s)", (LOCK, realm)) != (True,):
                    continue
                # Whoever begins an edition, or is about to take one away, is done or has to wait and will see the pack.
                await connection.execute("lock table edition in exclusive mode")
                await connection.execute("delete from pack where realm = %s and state <> 'ready'", (realm,))
                bounds = {"realm": realm, "low": low, "high": high, "most": MOST}
                last, chunks = await one(connection, _SETTLED, bounds) or (None, 0)
                if last is None or chunks < self._least:
                    continue
                row = await one(connection, _BEGIN, (realm, low + 1, last, chunks))
                assert row is not None
                return int(row[0])
        return None

    async def _fill(self, owner: str, number: int) -> int:
        """Write a pack's words and make it known, in one step; 0 where a document of it went meanwhile."""
        local = {**LONG_WORK, "work_mem": "64MB"}
        async with self._database.transaction(owner, durable=False, local=local) as connection:
            ours = "select pg_try_advisory_xact_lock(%s, realm) from pack where id = %s"
            if await one(connection, ours, (LOCK, number)) != (True,):
                return 0
            found = await one(connection, "select realm, first, last, chunks from pack where id = %s", (number,))
            if found is None:  # somebody else began anew just before
                return 0
            pack = _Range(*found)
            fill = sql.SQL(_FILL).format(posting=sql.SQL(POSTING), hidden=sql.SQL(HIDDEN))
            values = {"realm": pack.realm, "first": pack.first, "last": pack.last, "pack": number}
            await connection.execute(fill, values)
            ready = "update pack set state = 'ready' where id = %s and state = 'making' returning 1"
            if await one(connection, ready, (number,)) is None:
                await connection.rollback()
                return 0
        return pack.chunks


async def remove_editions(connection: Connection, editions: Sequence[int]) -> None:
    """Take editions out of the packs that hold them; before their postings go, with the editions locked."""
    for number, realm, state, chunks, gone, held in await rows(connection, _HOLDING, {"editions": list(editions)}):
        keys = [key for (key,) in await rows(connection, "select key from chunk where edition = any(%s)", (held,))]
        if state != "ready":
            await connection.execute("update pack set state = 'spoilt' where id = %s", (number,))
        elif gone + len(keys) > TOO_MANY_GONE * chunks:
            await connection.execute("delete from pack where id = %s", (number,))
        else:
            await connection.execute("update pack set gone = gone + %s where id = %s", (len(keys), number))
            terms = [term for (term,) in await rows(connection, _TERMS, (held,))]
            for start in range(0, len(terms), AT_A_TIME):
                await _strip(connection, (realm, number), terms[start : start + AT_A_TIME], keys)


async def _strip(connection: Connection, pack: tuple[int, int], terms: Sequence[str], keys: Sequence[int]) -> None:
    """Rewrite what a pack holds of some words, without some chunks."""
    held = await (await connection.execute(_HELD, (*pack, list(terms)), binary=True)).fetchall()
    left = [(term, without(postings, keys)) for term, postings in held]
    await connection.execute(_PUT_BACK, ([term for term, _ in left], [postings for _, postings in left], *pack))
    empty = [term for term, postings in left if not postings]
    await connection.execute("delete from packed where realm = %s and pack = %s and term = any(%s)", (*pack, empty))


# The gaps between packs in which enough has piled up to be worth one.
_PILED = sql.SQL("""
    select g.realm, g.low, g.high from ({gaps}) g
    join document d on d.realm = g.realm and d.served > g.low and d.served < g.high
    group by g.realm, g.low, g.high having sum(d.chunks) >= %(least)s order by g.realm, g.low
""").format(gaps=sql.SQL(GAPS).format(realms=sql.SQL("%(realms)s::int[]")))
# Up to the last served edition before any that is still being written, and not too many at once.
_SETTLED = """
    with upto as (
        select least(%(high)s, min(key)) as key from edition where realm = %(realm)s and state = 'writing' and key > %(low)s
    ), run as (
        select served, chunks, sum(chunks) over (order by served) as total from document, upto
        where realm = %(realm)s and served > %(low)s and served < upto.key
    )
    select max(served), sum(chunks)::int from run where total <= %(most)s or total = chunks
"""
_BEGIN = "insert into pack (realm, first, last, chunks) values (%s, %s, %s, %s) returning id"
_FILL = """
    insert into packed (realm, term, pack, postings)
    select p.realm, p.term, %(pack)s, string_agg({posting}, '' order by p.chunk) from posting p
    where p.realm = %(realm)s and p.edition between %(first)s and %(last)s
      and p.edition <> all (array({hidden}))
    group by p.realm, p.term
"""
_HOLDING = """
    select p.id, p.realm, p.state, p.chunks, p.gone, h.editions from pack p cross join lateral (
        select array_agg(e.key) as editions from edition e
        where e.key = any(%(editions)s) and e.realm = p.realm and e.key between p.first and p.last) h
    where h.editions is not null order by p.id for update of p
"""
_TERMS = "select distinct term from posting where edition = any(%s)"
_HELD = "select term, postings from packed where realm = %s and pack = %s and term = any(%s)"
_PUT_BACK = """
    update packed k set postings = n.postings from unnest(%s::text[], %s::bytea[]) as n (term, postings)
    where k.realm = %s and k.pack = %s and k.term = n.term
"""
