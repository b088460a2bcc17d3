import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from pincite.core.documents.document import Upload
from pincite.errors import Conflict, ProviderRefused, Unreadable
from pincite.ingest import pipeline

LONG = "\n\n".join(f"# Part {n}\n\nWords about number {n}." for n in range(100))


def test_a_large_document_is_written_in_batches_and_published_once(
    open_pincite: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            kit = pincite.services.workers._current_kit()
            seen: list[tuple[str, int]] = []
            write, serve = kit.indexing.write, kit.indexing.serve

            async def watched_write(edition: Any, entries: Any) -> None:
                await write(edition, entries)
                seen.append(("write", len((await pincite.search("words about number")).hits)))

            async def watched_serve(*args: Any, **kwargs: Any) -> None:
                await serve(*args, **kwargs)
                seen.append(("serve", len((await pincite.search("words about number")).hits)))

            monkeypatch.setattr(kit.indexing, "write", watched_write)
            monkeypatch.setattr(kit.indexing, "serve", watched_serve)
            await pincite.documents.upload(Upload("long.md", LONG.encode()))
            job = await pincite.services.jobs.claim("tester", 60)
            await pipeline.ingest(kit, job)
            writes = [found for what, found in seen if what == "write"]
            assert len(writes) == -(-201 // pipeline.BATCH_CHUNKS)
            assert set(writes) == {0}
            assert seen[-1] == ("serve", 10)

    asyncio.run(go())


def test_a_document_that_fails_midway_is_not_searchable(
    open_pincite: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            kit, calls = pincite.services.workers._current_kit(), 0
            write = kit.indexing.write

            async def second_fails(edition: Any, entries: Any) -> None:
                nonlocal calls
                calls += 1
                if calls == 2:
                    raise Unreadable("broke in the middle")
                await write(edition, entries)

            monkeypatch.setattr(kit.indexing, "write", second_fails)
            added = await pincite.documents.upload(Upload("long.md", LONG.encode()))
            pincite.services.workers.start()
            await pincite.documents.wait([added.document.id])
            document = await pincite.get(added.document.id)
            assert (document.status, document.error.message) == ("error", "broke in the middle")
            assert (await pincite.search("words about number")).hits == ()
            monkeypatch.undo()
            again = await pincite.documents.upload(Upload("long.md", LONG.encode()))
            assert again.outcome == "again"
            await pincite.documents.wait([added.document.id])
            assert (await pincite.get(added.document.id)).chunks == 100

    asyncio.run(go())


def test_the_job_of_an_outdated_version_is_dropped(open_pincite: Callable[..., Any]) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            await pincite.documents.upload(Upload("a.md", b"old"))
            job = await pincite.services.jobs.claim("tester", 60)
            await pincite.documents.upload(Upload("a.md", b"new"))
            await pipeline.ingest(pincite.services.workers._current_kit(), job)
            newer = await pincite.services.jobs.claim("tester", 60)
            assert newer.version > job.version
            await pincite.remove(job.document_id)
            with pytest.raises(Conflict):
                await pipeline.ingest(pincite.services.workers._current_kit(), newer)

    asyncio.run(go())


@pytest.mark.parametrize("strategy", ["structure", "window", "semantic"])
def test_a_document_is_chunked_by_the_configured_strategy(open_pincite: Callable[..., Any], strategy: str) -> None:
    text = "# Pets\n\n" + "Cats purr softly. " * 60 + "\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"

    async def go() -> None:
        async with open_pincite(chunking__strategy=strategy, chunking__window_chars=300) as pincite:
            pincite.services.workers.start()
            added = await pincite.documents.upload(Upload("pets.md", text.encode()))
            await pincite.documents.wait([added.document.id])
            scope = await pincite.scope()
            _, found = await pincite.services.library.chunks(scope, added.document.id, 2)
            whole = (await pincite.services.library.text(scope, added.document.id)).text
            assert all(chunk.text == whole[chunk.start : chunk.end] for chunk in found)
            assert (max(len(chunk.text) for chunk in found) <= 300) == (strategy == "window")
            assert (found[-1].text == "| a | b |\n|---|---|\n| 1 | 2 |") == (strategy == "semantic")

    asyncio.run(go())


def test_semantic_chunking_fails_the_document_where_its_sentences_cannot_be_embedded(
    open_pincite: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go() -> None:
        async with open_pincite(chunking__strategy="semantic", ingest__attempts=1) as pincite:

            async def down(_passages: Any) -> Any:
                raise ProviderRefused("the embedder knows no such model")

            monkeypatch.setattr(pincite.services.workers._current_kit().bulk_embedder, "embed", down)
            pincite.services.workers.start()
            added = await pincite.documents.upload(Upload("pets.md", b"Cats purr. Dogs bark."))
            await pincite.documents.wait([added.document.id])
            document = await pincite.get(added.document.id)
            assert (document.status, document.error.code) == ("error", "provider_refused")

    asyncio.run(go())
