"""Canary names in other people's graphs: thousands of questions to the graph must not return them, nor change by them.

    ./run bench graph_canaries [--queries 10000] [--hidden 200]

Each question is asked before and after somebody else adds documents that join the canaries to every name of the asker:
results, scores and counts must be the same. Questions go through search, entities, neighbours and paths.
"""

import argparse
import asyncio
import logging
import tempfile
import time
from pathlib import Path

from pincite.engine.app import AsyncPincite
from tests.hostile.graph_canaries import CANARIES, compare


async def measure(queries: int, hidden: int) -> tuple[int, int, int, int]:
    """The figures of a library of its own."""
    with tempfile.TemporaryDirectory(prefix="pincite-graph-canaries-") as folder:
        settings = {"data": Path(folder) / "data", "embedding.provider": "scripted", "graph.build": "rules"}
        async with AsyncPincite(settings=settings) as pincite:
            return await compare(pincite, queries, hidden)


def main() -> None:
    """Print what was asked and what was found; fail where anything of others was."""
    parser = argparse.ArgumentParser(prog="./run bench graph_canaries", description=__doc__)
    parser.add_argument("--queries", type=int, default=10_000, help="how many (10000)")
    parser.add_argument("--hidden", type=int, default=200, help="documents of somebody else (200)")
    chosen = parser.parse_args()
    logging.getLogger("pincite").setLevel(logging.ERROR)  # every search says that there is no language model
    began = time.monotonic()
    differ, leaks, found, control = asyncio.run(measure(chosen.queries, chosen.hidden))
    print("| queries | found something | leaks | changed by hidden documents | canaries the owner finds | s |")
    print("|---|---|---|---|---|---|")
    own = f"{control} of {len(CANARIES)}"
    print(f"| {chosen.queries} | {found} | {leaks} | {differ} | {own} | {time.monotonic() - began:.0f} |")
    raise SystemExit(1 if leaks or differ or not control else 0)


if __name__ == "__main__":
    main()
