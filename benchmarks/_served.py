"""A library of synthetic passages that everyone may read, served by its own process, with a stub model."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from benchmarks._shelf import MadeUp, Shelf, indexes_made_at_the_end
from benchmarks.adding import PINCITE
from pincite import AsyncPincite
from pincite.store.embedded.server import EmbeddedServer

FIRST_TOKEN_MS, TOKEN_MS, TOKENS = 300.0, 20.0, 100
END_S = 60


async def fill(data: Path, chunks: int) -> tuple[str, ...]:
    """Write the made-up passages where they are not there yet, for everybody to read; questions about them."""
    made = MadeUp(chunks)
    with EmbeddedServer.open(data) as server:
        async with AsyncPincite(data) as engine:
            shelf = Shelf(engine.services.database, data / "made-up", 1, made)
            await shelf.look()
            if not shelf.documents:
                with indexes_made_at_the_end(server.url):
                    await shelf.fill()
            await engine.services.postings.make()
        with psycopg.connect(server.url, autocommit=True) as admin:
            admin.execute("update pincite.realm set readers = array['everyone'] where id = 1")
    return tuple(made.questions)


@contextmanager
def running(*arguments: str, env: dict[str, str] | None = None) -> Iterator[str]:
    """A command that serves: its address, ended as Ctrl-C ends it."""
    with subprocess.Popen(
        [*PINCITE, *arguments], stdout=subprocess.PIPE, text=True, env={**os.environ, **(env or {})}
    ) as process:
        try:
            assert process.stdout is not None
            address = re.search(r"http://[\d.:]+", process.stdout.readline())
            if address is None:
                sys.exit(f"pincite {arguments[0]} did not start")
            yield address[0]
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=END_S)


@contextmanager
def serving(data: Path) -> Iterator[str]:
    """`pincite serve` with the stub as its model: the address."""
    told = [
        "--port",
        "0",
        "--first-token-ms",
        f"{FIRST_TOKEN_MS:g}",
        "--token-ms",
        f"{TOKEN_MS:g}",
        "--tokens",
        str(TOKENS),
    ]
    with running("stub-llm", *told) as stub:
        env = {"PINCITE_LLM__BASE_URL": f"{stub}/v1", "PINCITE_LOGS__LEVEL": "warning"}
        with running("serve", "--port", "0", "--data", str(data), env=env) as address:
            yield address
