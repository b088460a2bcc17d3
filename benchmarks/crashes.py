"""Crashes: SIGKILL while adding, at random moments and between all steps; nothing lost, half there, twice or stuck."""

import argparse
import tempfile
import time
from pathlib import Path

import psycopg
import psycopg.conninfo

from pincite.store.server import EmbeddedServer
from tests.faults.crashes import survive


def main() -> None:
    """Run so many rounds on a database of their own; the first thing that is not whole ends it with an error."""
    parser = argparse.ArgumentParser(prog="./run bench crashes", description=__doc__)
    parser.add_argument("--rounds", type=int, default=500, help="how often a process is killed (500)")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="pincite-crashes-") as folder:
        base = Path(folder)
        with EmbeddedServer.open(base / "postgres") as server:
            with psycopg.connect(server.url, autocommit=True) as connection:
                connection.execute("create database crashes")
            began = time.monotonic()
            acknowledged = survive(psycopg.conninfo.make_conninfo(server.url, dbname="crashes"), base, rounds)
    took = time.monotonic() - began
    print(
        f"{rounds} kills in {took:.0f} s, {len(acknowledged)} documents acknowledged: 0 lost, 0 half there, 0 twice, 0 stuck"
    )


if __name__ == "__main__":
    main()
