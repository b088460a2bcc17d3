"""Bulk embedding: a child process for local embedders, and the same checks of vectors for all."""

import asyncio
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pincite.errors import ProviderError, Unavailable
from pincite.ingest.embed.bulk_embedder import BulkEmbedder, open_bulk_embedder
from tests.ingest.fake_embedder import FakeEmbedder, Options, starts, vector

PROVIDER = "tests.ingest.fake_embedder"


@asynccontextmanager
async def bulk_embedder_of(diary: Path, batch: int = 10, **options: Any) -> AsyncIterator[BulkEmbedder]:
    """A bulk embedder for the fake embedder; `diary` lists the processes that were started."""
    known = {"diary": diary, **options}
    bulk = open_bulk_embedder(FakeEmbedder(Options(**known)), provider=PROVIDER, options=known, batch=batch)
    try:
        yield bulk
    finally:
        await bulk.close()


async def embed(diary: Path, passages: list[tuple[str, str]], **options: Any) -> list[list[list[float]]]:
    async with bulk_embedder_of(diary, **options) as bulk:
        return await bulk.embed(passages)


@pytest.fixture
def diary(tmp_path: Path) -> Path:
    return tmp_path / "diary"


def expected(passages: list[tuple[str, str]]) -> list[list[list[float]]]:
    maker = FakeEmbedder(Options(diary=""))
    return [[pytest.approx(vector(window)) for window in maker.windows(text, prefix)] for prefix, text in passages]


PASSAGES = [("p: ", "one two three four"), ("", ""), ("", "five"), ("q: ", "six seven eight nine ten eleven twelve")]


@pytest.mark.slow
def test_every_window_of_every_passage_gets_its_vector(diary: Path) -> None:
    assert asyncio.run(embed(diary, PASSAGES)) == expected(PASSAGES)


def test_a_remote_embedder_is_asked_here_in_batches(diary: Path) -> None:
    async def ask() -> None:
        embedder = FakeEmbedder(Options(diary, local=False))
        bulk = open_bulk_embedder(embedder, provider="nobody", options={}, batch=3)
        assert await bulk.embed(PASSAGES) == expected(PASSAGES)
        assert embedder.batches == [3, 3, 1]
        await bulk.close()

    asyncio.run(ask())
    assert starts(diary) == []


def test_no_passages_start_no_process(diary: Path) -> None:
    assert asyncio.run(embed(diary, [])) == []
    assert starts(diary) == []


@pytest.mark.slow
def test_documents_share_one_niced_process_and_get_their_own_vectors(diary: Path) -> None:
    documents = [[("", f"{'word ' * (number % 5)}{document}-{number}") for number in range(50)] for document in "abc"]

    async def ask() -> None:
        async with bulk_embedder_of(diary) as bulk:
            answers = await asyncio.gather(*(bulk.embed(document) for document in documents))
        assert answers == [expected(document) for document in documents]

    asyncio.run(ask())
    [(process, niceness)] = starts(diary)
    assert process != os.getpid()
    assert niceness == min(os.nice(0) + 10, 19)


@pytest.mark.slow
def test_a_request_interrupted_by_a_crash_is_repeated(diary: Path) -> None:
    passages = PASSAGES * 20
    assert asyncio.run(embed(diary, passages, mood="dies once")) == expected(passages)
    assert len(starts(diary)) == 2


@pytest.mark.slow
def test_a_killed_process_is_replaced_at_the_next_request(diary: Path) -> None:
    async def ask() -> None:
        async with bulk_embedder_of(diary) as bulk:
            await bulk.embed(PASSAGES)
            os.kill(starts(diary)[0][0], signal.SIGKILL)
            assert await bulk.embed(PASSAGES) == expected(PASSAGES)

    asyncio.run(ask())
    assert len(starts(diary)) == 2


@pytest.mark.slow
def test_a_process_that_dies_twice_fails_with_its_last_line_of_errors(diary: Path) -> None:
    with pytest.raises(ProviderError, match=r"'fake' died twice: exit code 7: out of letters"):
        asyncio.run(embed(diary, PASSAGES, mood="dies"))
    assert len(starts(diary)) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mood", "message"),
    [
        ("talks nonsense", "died twice: it sent an invalid message: a frame of kind 120 is not accepted"),
        ("announces too much", "died twice: it sent an invalid message: the frame has 4294967295 bytes"),
        ("answers with a list", "died twice: it sent an invalid message"),
    ],
)
def test_a_process_that_breaks_the_protocol_is_ended(mood: str, message: str, diary: Path) -> None:
    with pytest.raises(ProviderError, match=message):
        asyncio.run(asyncio.wait_for(embed(diary, PASSAGES, mood=mood), 60))
    assert [is_gone(process) for process, _ in starts(diary)] == [True, True]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mood": "raises"}, "ZeroDivisionError: no vowels"),
        ({"mood": "refuses"}, "there is no alphabet here"),
    ],
)
def test_a_failure_in_the_process_is_reported(options: dict[str, str], message: str, diary: Path) -> None:
    with pytest.raises(ProviderError, match=message):
        asyncio.run(embed(diary, PASSAGES, **options))


@pytest.mark.slow
def test_a_process_that_made_another_embedder_is_refused(diary: Path) -> None:
    async def ask() -> None:
        other = {"diary": diary, "label": "another"}
        bulk = open_bulk_embedder(FakeEmbedder(Options(diary)), provider=PROVIDER, options=other, batch=1)
        await bulk.embed(PASSAGES)

    with pytest.raises(ProviderError, match="loaded the embedder 'another' instead of 'fake'"):
        asyncio.run(ask())
    assert is_gone(starts(diary)[0][0])


@pytest.mark.parametrize("local", [pytest.param(True, marks=pytest.mark.slow), False])
@pytest.mark.parametrize(
    ("mood", "message"),
    [
        ("nan", "a vector with a number that is not finite"),
        ("zero", "a vector of length 0 "),
        ("too long", "a vector of length 5 "),
        ("too few", "6 vectors for 7 texts"),
        ("too flat", "a vector of 1 dimensions instead of 2"),
    ],
)
def test_invalid_vectors_are_refused(mood: str, message: str, local: bool, diary: Path) -> None:
    with pytest.raises(ProviderError, match=f"'fake' misbehaved: {message}"):
        asyncio.run(embed(diary, PASSAGES, mood=mood, local=local))


def test_vectors_of_nearly_unit_length_are_normalized(diary: Path) -> None:
    assert asyncio.run(embed(diary, PASSAGES, mood="a little off", local=False)) == expected(PASSAGES)


@pytest.mark.slow
def test_text_printed_by_a_library_does_not_break_the_answers(diary: Path) -> None:
    assert asyncio.run(embed(diary, PASSAGES * 20, mood="prints")) == expected(PASSAGES * 20)


@pytest.mark.slow
def test_closing_ends_the_process_for_good(diary: Path) -> None:
    async def ask() -> None:
        async with bulk_embedder_of(diary) as bulk:
            await bulk.embed(PASSAGES)
        assert is_gone(starts(diary)[0][0])
        with pytest.raises(Unavailable, match="closed"):
            await bulk.embed(PASSAGES)

    asyncio.run(ask())


@pytest.mark.slow
def test_the_process_inherits_no_locks_of_its_parent(diary: Path, tmp_path: Path) -> None:
    async def ask() -> None:
        with open(tmp_path / "lock", "w") as first:
            fcntl.flock(first, fcntl.LOCK_EX)
            os.set_inheritable(first.fileno(), True)
            async with bulk_embedder_of(diary) as bulk:
                await bulk.embed(PASSAGES)
                first.close()
                with open(tmp_path / "lock", "w") as second:
                    fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)

    asyncio.run(ask())


ORPHAN = """
import asyncio, os, signal, sys
from tests.ingest.embed.test_bulk_embedder import PASSAGES, bulk_embedder_of

async def main():
    async with bulk_embedder_of(sys.argv[1]) as bulk:
        await bulk.embed(PASSAGES)
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


@pytest.mark.slow
def test_the_process_ends_when_its_parent_is_killed(diary: Path) -> None:
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", ORPHAN, diary], env=path, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert is_gone(starts(diary)[0][0])


def is_gone(process: int, within_s: float = 10.0) -> bool:
    """Whether a process ends soon."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False
