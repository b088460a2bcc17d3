"""The cost of permissions: a user in 50 of 1,000 groups compared with the sole user of the same library.

    ./run bench rights [--chunks 100000] [--queries 200] [--groups 1000] [--work DIR]

Two libraries hold the same synthetic passages. In one the user owns all of them, in the other each document is shared
with one of the groups. Three users are in 50 groups each, which share 1, 5 and 20 % of the passages; a fourth is in all
groups. Searches of all users are timed alternately, question by question, so that noise affects all. Recall is that of
the exact ten nearest neighbours among the readable passages. `--work` keeps the libraries; the first is the one of
`./run bench scale`.
"""

import argparse
import asyncio
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import psycopg

from benchmarks._shelf import MadeUp, Shelf, indexes_made_at_the_end
from pincite import AsyncPincite
from pincite.core.accounts.access import Caller
from pincite.core.query.question import Filters, Question
from pincite.store.embedded.server import EmbeddedServer

GOAL, FLOOR, RECALL = 1.5, 2.0, 0.98
WARM_UP, TOP, IN_GROUPS = 20, 10, 50
ALONE, EVERYTHING = "alone", "everything"
READERS: dict[str, str | None] = {"one": "one", "five": "five", "twenty": "twenty", EVERYTHING: None}
"""Who reads what: a folder of the made-up library, or all of it."""

_SHARE = """
    insert into people_group (id, name) select 'g' || n, 'g' || n from generate_series(1, {groups}) n;
    insert into person (id, name, role) select r, r, 'reader' from unnest(array['one', 'five', 'twenty', 'everything']) r;
    insert into membership select r.name, 'g' || n from generate_series(1, {groups}) n join (values
        ('one', 0), ('five', 1), ('twenty', 2)) r (name, part) on (n - 1) / {in_groups} = r.part;
    insert into membership select 'everything', 'g' || n from generate_series(1, {groups}) n;
    insert into realm (owner, readers) select 'local', array['group:g' || n] from generate_series(1, {groups}) n;
    create table shared_with as select d.id, r.id as realm from (
            select id, (row_number() over (partition by folder order by random())) as place, case folder
                when 'one' then 0 when 'five' then 1 when 'twenty' then 2 else 3 end as part from document) d
        join realm r on r.readers = array['group:g' || case when part < 3 then part * {in_groups} + place % {in_groups} + 1
            else 3 * {in_groups} + place % ({groups} - 3 * {in_groups}) + 1 end];
    update document d set realm = s.realm, readers = r.readers
        from shared_with s join realm r on r.id = s.realm where s.id = d.id;
    update version v set realm = d.realm from document d where d.id = v.document_id;
    update edition e set realm = d.realm from document d where d.id = e.document_id;
    update chunk c set realm = e.realm from edition e where e.key = c.edition;
    update vector v set realm = e.realm from edition e where e.key = v.edition;
    update posting p set realm = e.realm from edition e where e.key = p.edition;
    delete from pack;
    insert into corpus (realm) select id from realm on conflict do nothing;
    drop table shared_with;
"""


@dataclass(frozen=True, slots=True)
class Reader:
    """What one reader's searches took, in ms, and how much of the exact answer they found."""

    name: str
    realms: int
    admitted: float
    times: list[float]
    recalls: list[float]


def share(url: str, groups: int) -> None:
    """Share each document of a library with one of many groups."""
    with (
        indexes_made_at_the_end(url),
        psycopg.connect(url, autocommit=True, options="-c search_path=pincite,public") as admin,
    ):
        for statement in _SHARE.format(groups=groups, in_groups=IN_GROUPS).split(";\n"):
            if statement.strip():
                admin.execute(statement)  # type: ignore[call-overload]


async def libraries(work: Path, made: MadeUp, groups: int) -> tuple[Path, Path]:
    """The two libraries, filled where they are not there yet."""
    alone, shared = work / str(len(made)), work / f"{len(made)}-in-{groups}-groups"
    with EmbeddedServer.open(alone) as server:
        async with AsyncPincite(alone) as pincite:
            shelf = Shelf(pincite.services.database, alone / "made-up", 1, made)
            await shelf.look()
            if not shelf.documents:
                began = time.monotonic()
                with indexes_made_at_the_end(server.url):
                    await shelf.fill()
                print(f"{len(made)} chunks written in {time.monotonic() - began:.0f} s", flush=True)
            if len(shelf.number_of) != len(made):
                sys.exit(f"{alone} holds {len(shelf.number_of)} chunks: give --work another folder")
            await pincite.services.postings.make()
    if not shared.exists():
        began = time.monotonic()
        shutil.copytree(alone, shared, ignore=shutil.ignore_patterns("*.sock*", "*.lock", "postmaster.pid"))
        with EmbeddedServer.open(shared) as server:
            share(server.url, groups)
        print(f"shared with {groups} groups in {time.monotonic() - began:.0f} s", flush=True)
    return alone, shared


async def measure(folders: tuple[Path, Path], made: MadeUp, queries: int) -> tuple[list[float], list[Reader]]:
    """Ask every question of everybody in turn; what a search of the library of one's own took, and everybody else's."""
    async with AsyncPincite(folders[0]) as alone, AsyncPincite(folders[1]) as shared:
        shelf = Shelf(shared.database, folders[1] / "made-up", 1, made)
        await shelf.look()
        limit, index = shared.settings.rag.candidates, shared.kit_factory.kit(shared.settings).index
        admitted = {name: shelf.admitted(folder) for name, folder in READERS.items()}
        scopes = {name: await shared.library.scope(name) for name in READERS}
        times, recalls = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
        dice = random.Random(7)
        for number in range(WARM_UP + queries):
            words, query = made.questions[number].split(), made.queries[number]
            for who in dice.sample([ALONE, *READERS], len(READERS) + 1):
                asked = Question(
                    " ".join(dice.sample(words, len(words)))
                )  # in another order, so that it is embedded anew
                library, caller = (
                    (alone, Caller("local", "administrator")) if who == ALONE else (shared, Caller(who, "reader"))
                )
                began = time.perf_counter()
                await library.search(asked, caller=caller)
                took = 1000 * (time.perf_counter() - began)
                if number >= WARM_UP:
                    times[who].append(took)
            for who in READERS if number >= WARM_UP else ():
                nearest = (-(made.vectors[admitted[who]] @ query)).argsort()[:TOP]
                found = await index.dense(query.tolist(), scope=scopes[who], filters=Filters(), limit=limit)
                best = {shelf.number_of[match.key] for match in found[:TOP]}
                recalls[who].append(len(best & set(admitted[who][nearest].tolist())) / len(nearest))
        readers = [
            Reader(who, len(scopes[who].realms), len(admitted[who]) / len(made), times[who], recalls[who])
            for who in READERS
        ]
        return times[ALONE], readers


def report(alone: list[float], readers: list[Reader]) -> None:
    """The table."""
    own = statistics.median(alone)
    print(
        f"\n| reads | realms | search p50 / p95 ms | ÷ alone (goal ≤ {GOAL}, floor {FLOOR:g}) | recall@10 (goal ≥ {RECALL}) |"
    )
    print(f"|{'---|' * 5}\n| all of it, alone | 1 | {own:.1f} / {_p95(alone):.1f} | 1 | |")
    for reader in readers:
        took = statistics.median(reader.times)
        print(
            f"| {reader.admitted:.0%} | {reader.realms} | {took:.1f} / {_p95(reader.times):.1f} | {took / own:.2f} |"
            f" {statistics.fmean(reader.recalls):.4f} |"
        )


def _p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[18]


async def main() -> None:
    """Read the arguments, make the libraries and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=200, help="questions to ask, 900 at most")
    parser.add_argument("--groups", type=int, default=1000, help="more than 150")
    parser.add_argument("--work", type=Path, help="folder that keeps the libraries")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = arguments.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        made = MadeUp(arguments.chunks)
        folders = await libraries(work, made, arguments.groups)
        report(*await measure(folders, made, arguments.queries))


if __name__ == "__main__":
    asyncio.run(main())
