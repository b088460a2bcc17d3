"""Enrichments in the database."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from pincite.core.documents.document import Enriched, Upload
from pincite.errors import Conflict
from pincite.store.indexing.enrichments import Enrichments

WRITTEN = {b"h1": Enriched("About cats.", ("Who purrs?",)), b"h2": Enriched("", ())}


def test_enrichments_are_visible_to_their_owner_only(open_pincite: Callable[..., Any]) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            await pincite.documents.upload(Upload("cats.md", b"Cats purr.", author="Ann", tags=("a",)))
            job = await pincite.services.jobs.claim("tester", 60)
            store = Enrichments(pincite.services.database)
            about = await store.about(job)
            assert (about.document_id, about.name, about.author, about.tags) == (
                job.document_id,
                "cats.md",
                "Ann",
                ("a",),
            )
            await store.keep(job, WRITTEN)
            await store.keep(job, WRITTEN)  # a second call changes nothing
            assert await store.known("local", [b"h1", b"h2", b"h3"]) == WRITTEN
            assert await store.known("somebody else", [b"h1", b"h2"]) == {}

    asyncio.run(go())


def test_nothing_is_stored_for_a_removed_document(open_pincite: Callable[..., Any]) -> None:
    async def go() -> None:
        async with open_pincite() as pincite:
            await pincite.documents.upload(Upload("cats.md", b"Cats purr."))
            job = await pincite.services.jobs.claim("tester", 60)
            await pincite.remove(job.document_id)
            store = Enrichments(pincite.services.database)
            await store.keep(job, WRITTEN)
            assert await store.known("local", [b"h1"]) == {}
            with pytest.raises(Conflict):
                await store.about(job)

    asyncio.run(go())
