"""Concurrent operations on documents: remove while processing, remove twice, add again, update, share."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable

from pincite.core.accounts.access import Caller, ShareRequest
from pincite.core.documents.document import Added, Receipt, Upload
from pincite.engine.app import AsyncPincite
from pincite.errors import NotFound

SETTINGS = {"ingest.workers": 2, "chunking.size": 40, "chunking.overlap": 5}


def text(word: str, parts: int = 5) -> bytes:
    """A file in which every part contains the word."""
    body = "\n\n".join(f"## Part {n}\n\n{word} " + f"filler{n} " * 30 for n in range(parts))
    return f"# About\n\n{body}\n".encode()


async def removed_while_it_is_processed(pincite: AsyncPincite, rounds: int) -> None:
    """A document removed while it is processed is gone at once."""
    for n in range(rounds):
        added = await pincite.documents.upload(Upload("a.md", text(f"word{n}")))
        await asyncio.sleep(0.01 * (n % 8))
        assert (await pincite.remove(added.document.id)).verified
        try:
            await pincite.get(added.document.id)
        except NotFound:
            pass
        else:
            raise AssertionError("a removed document is still there")
        assert (await pincite.search(f"word{n}")).hits == ()


async def removed_twice_at_once(pincite: AsyncPincite, rounds: int) -> None:
    """Of two concurrent removals, one gets the receipt, the other NotFound."""
    for n in range(rounds):
        added = await pincite.documents.upload(Upload("a.md", text(f"word{n}", 1)))
        ended = await asyncio.gather(*(pincite.remove(added.document.id) for _ in range(2)), return_exceptions=True)
        assert sorted(type(one).__name__ for one in ended) == ["NotFound", "Receipt"]


async def removed_and_added_again_at_once(pincite: AsyncPincite, rounds: int) -> None:
    """After a concurrent removal and upload, the document exists only where the upload came last, and is complete."""
    for n in range(rounds):
        upload = Upload("a.md", text(f"word{n}", 2))
        first = await pincite.documents.upload(upload)
        removed, again = await asyncio.gather(pincite.remove(first.document.id), pincite.documents.upload(upload))
        assert isinstance(removed, Receipt)
        assert isinstance(again, Added)
        assert removed.verified
        there = await pincite.documents.all()
        assert len(there) == (1 if again.outcome in ("new", "again") else 0)
        await pincite.documents.wait([document.id for document in there])
        assert [document.status for document in await pincite.documents.all()] == ["completed"] * len(there)
        for document in there:
            await pincite.remove(document.id)


async def equal_uploads_at_once(pincite: AsyncPincite, rounds: int) -> None:
    """Concurrent equal uploads become one document."""
    for n in range(rounds):
        upload = Upload(f"{n}.md", text(f"word{n}", 1))
        added = await asyncio.gather(*(pincite.documents.upload(upload) for _ in range(5)))
        assert len({one.document.id for one in added}) == 1
        assert sorted(one.outcome for one in added) == ["new", *["unchanged"] * 4]
    assert len(await pincite.documents.all()) == rounds


async def updated_while_it_is_searched(pincite: AsyncPincite, rounds: int) -> None:
    """A search during an update finds either the old or the new version, never both."""
    versions = [text(f"question answer{n}x") for n in range(rounds)]
    first = await pincite.documents.upload(Upload("a.md", versions[0]))
    await pincite.documents.wait([first.document.id])
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
        await pincite.documents.upload(Upload("a.md", version))
        await pincite.documents.wait([first.document.id])
    done.set()
    assert await asking >= rounds // 2
    document = await pincite.get(first.document.id)
    assert document.checksum == hashlib.sha256(versions[-1]).hexdigest()


async def shared_and_revoked_while_it_is_processed(pincite: AsyncPincite, rounds: int) -> None:
    """A reader finds all shared documents, and none after the share was revoked, also while they are processed."""
    await pincite.admin.add_user("racer", "reader")
    racer = Caller("racer", "reader")

    async def found(word: str) -> set[str]:
        return {hit.chunk.document_id for hit in (await pincite.search(word, caller=racer)).hits}

    for n in range(rounds):
        word = f"word{n}x"
        added = [
            await pincite.documents.upload(Upload(f"{part}.md", text(f"{word} part{part}"), "race")) for part in "ab"
        ]
        ids = {one.document.id for one in added}
        await asyncio.sleep(0.01 * (n % 8))
        await asyncio.gather(
            pincite.documents.share_folder("race", ShareRequest(everyone=True)),
            pincite.documents.share(added[0].document.id, ShareRequest(users=("racer",))),
            pincite.documents.upload(Upload("c.md", text(word), "elsewhere")),
            pincite.documents.share_folder("elsewhere", ShareRequest()),
        )
        await pincite.documents.wait(ids)
        async with asyncio.timeout(30):  # a document that changes its readers while it is processed is found soon after
            while await found(word) != ids:
                await asyncio.sleep(0.05)
        *_, late = await asyncio.gather(
            pincite.documents.share_folder("race", None),
            pincite.documents.share(added[0].document.id, None),
            pincite.documents.upload(Upload("b.md", text(f"{word} again"), "race")),
            pincite.documents.upload(Upload("late.md", text(f"{word} late"), "race")),
        )
        assert await found(word) == set()
        ids.add(late.document.id)
        await pincite.documents.wait(ids)
        assert await found(word) == set()
        for document_id in ids:
            assert (await pincite.remove(document_id)).verified


Race = Callable[[AsyncPincite, int], Awaitable[None]]
RACES: tuple[Race, ...] = (
    removed_while_it_is_processed,
    removed_twice_at_once,
    removed_and_added_again_at_once,
    equal_uploads_at_once,
    updated_while_it_is_searched,
    shared_and_revoked_while_it_is_processed,
)
