import asyncio
import hashlib
from typing import Any

from pincite.core.documents.document import Upload
from pincite.store.indexing.insert_documents import Schedule, version_id


def test_the_id_of_a_version_is_its_upload_time() -> None:
    assert version_id(1_700_000_000_000_042) == "20231114T221320000042Z"


def test_concurrent_uploads_are_stored_together_each_with_its_outcome(with_store: Any) -> None:
    async def test(store: Any) -> None:
        scope = await store.scope()

        async def accept(name: str, text: str, **more: Any) -> Any:
            upload = Upload(name, text.encode(), **more)
            checksum = hashlib.sha256(upload.data).hexdigest()
            schedule = Schedule(held=name == "held.md")
            return await store.intake.accept(scope, upload, mime="text/markdown", checksum=checksum, schedule=schedule)

        await asyncio.gather(accept("known.md", "as it is"), accept("changed.md", "before"))
        taken = await asyncio.gather(
            accept("first.md", "alone"),  # the first upload does not wait for others
            accept("a.md", "a", folder="hr", title="A", tags=("x", "y"), source_uri="https://example.com/a"),
            accept("b.md", "b"),
            accept("held.md", "later"),
            accept("known.md", "as it is"),
            accept("changed.md", "after"),
            accept("b.md", "b"),
        )
        outcomes = [outcome for _, outcome in taken]
        assert outcomes == ["new", "new", "new", "new", "unchanged", "new_version", "unchanged"]
        document = taken[1][0]
        assert (document.folder, document.name, document.title, document.tags) == ("hr", "a.md", "A", ("x", "y"))
        assert document.source_uri == "https://example.com/a"
        assert taken[2][0].id == taken[6][0].id
        for found, text in ((document, b"a"), (taken[5][0], b"after")):
            assert (await store.library.raw(scope, found.id))[1] == text
        jobs = [await store.jobs.claim("w", 60) for _ in range(7)]
        held = [document.id for document, _ in taken if document.name == "held.md"]
        assert held[0] not in {job.document_id for job in jobs if job}
        assert {document.id for document, _ in taken} - set(held) == {job.document_id for job in jobs if job}

    with_store(test)
