"""Crashes and races: SIGKILL at random moments and between all steps, and concurrent users; nothing may be lost."""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import psycopg.conninfo

from pincite.engine.app import AsyncPincite
from pincite.store.embedded.server import EmbeddedServer
from tests.faults import serving
from tests.faults.crashes import survive
from tests.faults.races import RACES, SETTINGS, Race
from tests.faults.wholeness import INCOMPLETE

COLUMNS = ("what", "rounds", "documents acknowledged", "time")


def main() -> None:
    """Run so many rounds on databases of their own.

    After each round a look is taken; the first document that is lost, half there, there twice or stuck ends it with an
    error, so that a line is printed only where none was.
    """
    parser = argparse.ArgumentParser(prog="./run bench crashes", description=__doc__)
    parser.add_argument("--rounds", type=int, default=500, help="how often a process is killed (500)")
    parser.add_argument("--servers", type=int, default=100, help="how often a server is killed (100)")
    parser.add_argument("--races", type=int, default=200, help="how often each race is run (200)")
    chosen = parser.parse_args()
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    with tempfile.TemporaryDirectory(prefix="pincite-crashes-") as folder:
        base = Path(folder)
        with EmbeddedServer.open(base / "postgres") as server:
            if chosen.rounds:
                with _database(server.url, "kills") as url:
                    began = time.monotonic()
                    acknowledged = survive(url, base, chosen.rounds)
                    _tell("SIGKILL while adding", chosen.rounds, len(acknowledged), began)
            if chosen.servers:
                with _database(server.url, "servers") as url:
                    began = time.monotonic()
                    _tell(
                        "SIGKILL of a server", chosen.servers, serving.survive(url, base / "s", chosen.servers), began
                    )
            for race in RACES if chosen.races else ():
                with _database(server.url, race.__name__) as url:
                    began = time.monotonic()
                    uploads = asyncio.run(_run(race, url, base / race.__name__, chosen.races))
                    _tell(race.__name__.replace("_", " "), chosen.races, uploads, began)


async def _run(race: Race, url: str, data: Path, rounds: int) -> int:
    settings = {**SETTINGS, "data": data, "database.url": url, "embedding.provider": "scripted"}
    async with AsyncPincite(settings=settings) as pincite:
        pincite.services.workers.start()
        await race(pincite, rounds)
        await pincite.documents.wait([document.id for document in await pincite.documents.all()])
    with psycopg.connect(url) as connection:
        assert connection.execute(INCOMPLETE).fetchall() == []
        assert connection.execute("select count(*) from pincite.job").fetchone() == (0,)
        [uploads] = connection.execute(
            "select nextval(pg_get_serial_sequence('pincite.version', 'key')) - 1"
        ).fetchone()
    return int(uploads)


@contextmanager
def _database(server: str, name: str) -> Iterator[str]:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"create database {name}")
    yield psycopg.conninfo.make_conninfo(server, dbname=name)


def _tell(what: str, rounds: int, documents: int, began: float) -> None:
    print(f"| {what} | {rounds:,} | {documents:,} | {time.monotonic() - began:.0f} s |", flush=True)


if __name__ == "__main__":
    main()
