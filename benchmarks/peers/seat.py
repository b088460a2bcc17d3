"""The process of one system: reads commands from stdin as JSON lines, and replies on stdout."""

import gzip
import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

CANDIDATES = 100
"""What each of a system's two engines brings before they are fused."""
LIMIT = 10


def main() -> None:
    """Set the system up, then do as told until the input ends."""
    name, work = sys.argv[1], Path(sys.argv[2])
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints is no answer
    module = importlib.import_module(f"benchmarks.peers.{name}")
    system = module.System(_embedder(name, work), work / "data")

    def tell(**fields: Any) -> None:
        answers.write(f"{json.dumps(fields)}\n")
        answers.flush()

    tell(ready=True, durable=module.DURABLE)
    for line in sys.stdin:
        order = json.loads(line)
        if "add" in order:
            with gzip.open(order["add"], "rt", encoding="utf-8") as file:
                documents = [(row["_id"], row["text"]) for row in map(json.loads, file)]
            started = time.perf_counter()
            system.add(documents)
            tell(seconds=time.perf_counter() - started)
        else:
            tell(found=[_ask(system, question) for question in order["ask"]])
    system.close()


def _embedder(name: str, work: Path) -> object:
    if name == "pincite":
        return None
    from benchmarks.peers.embedder import Embedder

    return Embedder(work / "model", threads=os.cpu_count() or 1)


def _ask(system: Any, question: str) -> tuple[list[str], float]:
    """Ask twice: the first time the question is embedded, the second time its vector is remembered."""
    system.search(question, LIMIT)
    started = time.perf_counter()
    found = system.search(question, LIMIT)
    return found, (time.perf_counter() - started) * 1000


if __name__ == "__main__":
    main()
