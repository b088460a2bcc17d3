"""What people do at the same moment: remove while it is processed, remove twice, add again, update while it is asked."""

import asyncio
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pincite.core.documents import Upload
from pincite.errors import NotFound
from tests.faults.wholeness import HALF_THERE

ROUNDS = 20
pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture
def at_work(open_pincite: Callable[..., Any], database_url: str) -> Iterator[Callable[[Callable[[Any], Any]], None]]:
    """Runs something on an engine that is at work, and looks that nothing is half there afterwards."""
    import psycopg

    def run(test: Callable[[Any], Any]) -> None:
        async def go() -> None:
            async with open_pincite(ingest__workers=2, chunking__size=40, chunking__overlap=5) as pincite:
                pincite.workers.start()
                await test(pincite)

        asyncio.run(go())

    yield run
    with psycopg.connect(database_url) as connection:
        assert connection.execute(HALF_THERE).fetchall() == []


def text(word: str, parts: int = 5) -> bytes:
    body = "\n\n".join(f"## Part {n}\n\n{word} " + f"filler{n} " * 30 for n in range(parts))
    return f"# About\n\n{body}\n".encode()


def test_removed_while_it_is_processed(at_work: Any) -> None:
    async def test(pincite: Any) -> None:
        for n in range(ROUNDS):
            added = await pincite.upload(Upload("a.md", text(f"word{n}")))
            await asyncio.sleep(0.01 * (n % 8))
            assert (await pincite.remove(added.document.id)).verified
            with pytest.raises(NotFound):
                await pincite.get(added.document.id)
            assert (await pincite.search(f"word{n}")).hits == ()

    at_work(test)


def test_removed_twice_at_once(at_work: Any) -> None:
    async def test(pincite: Any) -> None:
        for n in range(ROUNDS):
            added = await pincite.upload(Upload("a.md", text(f"word{n}", 1)))
            ended = await asyncio.gather(*(pincite.remove(added.document.id) for _ in range(2)), return_exceptions=True)
            assert sorted(type(one).__name__ for one in ended) == ["NotFound", "Receipt"]

    at_work(test)


def test_removed_and_added_again_at_once(at_work: Any) -> None:
    async def test(pincite: Any) -> None:
        for n in range(ROUNDS):
            upload = Upload("a.md", text(f"word{n}", 2))
            first = await pincite.upload(upload)
            removed, again = await asyncio.gather(
                pincite.remove(first.document.id), pincite.upload(upload), return_exceptions=True
            )
            assert removed.verified
            there = await pincite.documents()
            assert len(there) == (1 if again.outcome in ("new", "again") else 0)
            await pincite.wait([document.id for document in there])
            assert [document.status for document in await pincite.documents()] == ["completed"] * len(there)
            for document in there:
                await pincite.remove(document.id)

    at_work(test)


def test_equal_uploads_at_once_are_one_document(at_work: Any) -> None:
    async def test(pincite: Any) -> None:
        for n in range(ROUNDS):
            upload = Upload(f"{n}.md", text(f"word{n}", 1))
            added = await asyncio.gather(*(pincite.upload(upload) for _ in range(5)))
            assert len({one.document.id for one in added}) == 1
            assert sorted(one.outcome for one in added) == ["new", *["unchanged"] * 4]
        assert len(await pincite.documents()) == ROUNDS

    at_work(test)


def test_updated_while_it_is_asked_the_old_version_answers_or_the_new_one(at_work: Any, tmp_path: Path) -> None:
    """Each version has its own word beside the one that is asked for: no answer has two of them."""

    async def test(pincite: Any) -> None:
        versions = [text(f"question answer{n}x") for n in range(ROUNDS)]
        first = await pincite.upload(Upload("a.md", versions[0]))
        await pincite.wait([first.document.id])
        done = asyncio.Event()

        async def ask() -> int:
            asked = 0
            while not done.is_set():
                hits = (await pincite.search("question")).hits
                words = {word for hit in hits for word in hit.chunk.text.split() if word.startswith("answer")}
                assert len(words) == 1, words
                asked += 1
            return asked

        asking = asyncio.create_task(ask())
        for version in versions[1:]:
            await pincite.upload(Upload("a.md", version))
            await pincite.wait([first.document.id])
        done.set()
        assert await asking >= ROUNDS // 2
        document = await pincite.get(first.document.id)
        assert document.checksum == hashlib.sha256(versions[-1]).hexdigest()

    at_work(test)
