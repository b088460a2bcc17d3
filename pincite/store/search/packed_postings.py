"""Packs: the postings of a term in many documents as one row, so that a search reads few rows."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from psycopg import sql

from pincite.errors import StoreDown
from pincite.store.database import LONG_TIMEOUTS, Connection, Database, fetch_all, fetch_one
from pincite.store.search.bm25 import without_chunks
from pincite.store.search.scope_sql import HIDDEN_EDITIONS

log = logging.getLogger(__name__)

MIN_CHUNKS, MAX_CHUNKS = 8_192, 65_536
"""Unpacked chunks from which a pack is made, and chunks in one pack at most."""
MAX_REMOVED_SHARE = 1 / 8
"""Share of removed chunks above which a pack is deleted; its remaining chunks become part of a later pack."""
TERMS_PER_BATCH = 500
"""Terms whose postings are rewritten in one statement."""
LOCK = 0x7061636B  # "pack": advisory lock; one pack at a time is made in a realm

POSTING = "int8send((p.chunk::bigint << 32) | (least(p.frequency, 65535)::bigint << 16) | least(p.words, 65535))"
"""The SQL of a posting in eight bytes; `bm25.POSTING` is the same layout for NumPy."""
GAPS = """
    select realm, last as low, lead(first, 1, 2147483647) over (partition by realm order by last) as high
    from (select realm, first, last from pack where realm = any({realms}) and state = 'ready'
          union all select r, 0, 0 from unnest({realms}) r) p
"""
"""The ranges of editions in the given realms that no pack covers: those after `low` and before `high`."""


@dataclass(frozen=True, slots=True)
class _Range:
    """A range of editions to pack: the realm, the first and the last key, and the number of chunks."""

    realm: int
    first: int
    last: int
    chunks: int


class PackedPostings:
    """Makes packs with the permissions of the documents' owner, concurrently with uploads, removals and searches."""

    def __init__(self, database: Database, *, least: int = MIN_CHUNKS) -> None:
        self._database = database
        self._least = least

    async def make(self) -> int:
        """Pack unpacked postings where there are enough; return the number of packed chunks."""
        packed = 0
        try:
            async with self._database.transaction("") as connection:
                owners = await fetch_all(connection, "select owner from whose_words_pile_up(%s)", (self._least,))
            for (owner,) in owners:
                while (number := await self._begin(owner)) is not None and (more := await self._fill(owner, number)):
                    packed += more
        except StoreDown as error:  # a writer or another packer holds a lock: the next call tries again
            log.info("packing was postponed: %s", error)
        return packed

    async def _begin(self, owner: str) -> int | None:
        """Record the range of editions of the next pack, such that no edition in it can become served later."""
        async with self._database.transaction(owner, durable=False, local={"lock_timeout": "1s"}) as connection:
            own = await fetch_all(connection, "select id from realm where owner = %s order by id", (owner,))
            gaps = {"realms": [realm for (realm,) in own], "least": self._least}
            for realm, low, high in await fetch_all(connection, _UNPACKED_GAPS, gaps):
                if await fetch_one(connection, "select pg_try_advisory_xact_lock(%s, %s)", (LOCK, realm)) != (True,):
                    continue
                # Transactions that begin or remove an edition have ended, or they wait here and then see the pack.
                await connection.execute("lock table edition in exclusive mode")
                await connection.execute("delete from pack where realm = %s and state <> 'ready'", (realm,))
                bounds = {"realm": realm, "low": low, "high": high, "most": MAX_CHUNKS}
                last, chunks = await fetch_one(connection, _PACKABLE, bounds) or (None, 0)
                if last is None or chunks < self._least:
                    continue
                row = await fetch_one(connection, _BEGIN, (realm, low + 1, last, chunks))
                assert row is not None
                return int(row[0])
        return None

    async def _fill(self, owner: str, number: int) -> int:
        """Write the postings of a pack and mark it ready; return its chunks, 0 if a document was removed meanwhile."""
        local = {**LONG_TIMEOUTS, "work_mem": "64MB"}
        async with self._database.transaction(owner, durable=False, local=local) as connection:
            ours = "select pg_try_advisory_xact_lock(%s, realm) from pack where id = %s"
            if await fetch_one(connection, ours, (LOCK, number)) != (True,):
                return 0
            found = await fetch_one(connection, "select realm, first, last, chunks from pack where id = %s", (number,))
            if found is None:  # another process deleted this pack and began a new one
                return 0
            pack = _Range(*found)
            fill = sql.SQL(_FILL).format(posting=sql.SQL(POSTING), hidden=sql.SQL(HIDDEN_EDITIONS))
            values = {"realm": pack.realm, "first": pack.first, "last": pack.last, "pack": number}
            await connection.execute(fill, values)
            ready = "update pack set state = 'ready' where id = %s and state = 'making' returning 1"
            if await fetch_one(connection, ready, (number,)) is None:
                await connection.rollback()
                return 0
        return pack.chunks


async def remove_editions(connection: Connection, editions: Sequence[int]) -> None:
    """Remove editions from their packs; the caller has locked the editions and not yet deleted their postings."""
    for number, realm, state, chunks, gone, packed in await fetch_all(
        connection, _PACKS_OF, {"editions": list(editions)}
    ):
        keys = [
            key for (key,) in await fetch_all(connection, "select key from chunk where edition = any(%s)", (packed,))
        ]
        if state != "ready":
            await connection.execute("update pack set state = 'spoilt' where id = %s", (number,))
        elif gone + len(keys) > MAX_REMOVED_SHARE * chunks:
            await connection.execute("delete from pack where id = %s", (number,))
        else:
            await connection.execute("update pack set gone = gone + %s where id = %s", (len(keys), number))
            terms = [term for (term,) in await fetch_all(connection, _TERMS, (packed,))]
            for start in range(0, len(terms), TERMS_PER_BATCH):
                await _remove_chunks(connection, (realm, number), terms[start : start + TERMS_PER_BATCH], keys)


async def _remove_chunks(
    connection: Connection, pack: tuple[int, int], terms: Sequence[str], keys: Sequence[int]
) -> None:
    """Rewrite the postings of these terms in a pack without these chunks."""
    stored = await (await connection.execute(_POSTINGS, (*pack, list(terms)), binary=True)).fetchall()
    left = [(term, without_chunks(postings, keys)) for term, postings in stored]
    await connection.execute(_REPLACE, ([term for term, _ in left], [postings for _, postings in left], *pack))
    empty = [term for term, postings in left if not postings]
    await connection.execute("delete from packed where realm = %s and pack = %s and term = any(%s)", (*pack, empty))


# The gaps between packs that contain enough chunks for a new pack.
_UNPACKED_GAPS = sql.SQL("""
    select g.realm, g.low, g.high from ({gaps}) g
    join document d on d.realm = g.realm and d.served > g.low and d.served < g.high
    group by g.realm, g.low, g.high having sum(d.chunks) >= %(least)s order by g.realm, g.low
""").format(gaps=sql.SQL(GAPS).format(realms=sql.SQL("%(realms)s::int[]")))
# Up to the last served edition before the first one that is still being written, and at most `most` chunks.
_PACKABLE = """
    with upto as (
        select least(%(high)s, min(key)) as key from edition
        where realm = %(realm)s and state = 'writing' and key > %(low)s
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
_PACKS_OF = """
    select p.id, p.realm, p.state, p.chunks, p.gone, h.editions from pack p cross join lateral (
        select array_agg(e.key) as editions from edition e
        where e.key = any(%(editions)s) and e.realm = p.realm and e.key between p.first and p.last) h
    where h.editions is not null order by p.id for update of p
"""
_TERMS = "select distinct term from posting where edition = any(%s)"
_POSTINGS = "select term, postings from packed where realm = %s and pack = %s and term = any(%s)"
_REPLACE = """
    update packed k set postings = n.postings from unnest(%s::text[], %s::bytea[]) as n (term, postings)
    where k.realm = %s and k.pack = %s and k.term = n.term
"""
