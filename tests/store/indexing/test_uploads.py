import asyncio
from typing import Any

from pincite.core.documents.document import Status
from pincite.store.indexing.publish import ParsedVersion
from pincite.store.indexing.uploads import make_document_id


def test_a_document_id_is_derived_from_owner_folder_name_and_first_bytes() -> None:
    first = make_document_id("me", "hr", "a.md", b"x")
    assert first == make_document_id("me", "hr", "a.md", b"x")
    assert len(first) == 16
    others = {
        make_document_id("you", "hr", "a.md", b"x"),
        make_document_id("me", "h", "ra.md", b"x"),
        make_document_id("me", "hr", "a.md", b"y"),
    }
    assert first not in others
    assert len(others) == 3


def test_equal_bytes_are_unchanged_and_other_bytes_are_a_new_version(with_store: Any) -> None:
    async def test(store: Any) -> None:
        document_id = await store.put("a.md", "one")
        assert await store.accept("a.md", "one") == document_id
        assert await store.jobs.claim("w", 60) is None
        assert await store.put("a.md", "two") == document_id
        document = await store.library.get(await store.scope(), document_id)
        versions = await store.library.versions(await store.scope(), document_id)
        assert (document.versions, document.status, len(versions)) == (2, Status.COMPLETED, 2)
        assert [version.served for version in versions] == [True, False]
        assert versions[0].id > versions[1].id
        old = await store.library.text(await store.scope(), document_id, versions[1].id)
        assert old.text == "one"
        assert (await store.library.raw(await store.scope(), document_id, versions[1].id))[1] == b"one"

    with_store(test)


def test_unchanged_bytes_are_indexed_again_under_other_settings(with_store: Any) -> None:
    async def test(store: Any) -> None:
        document_id = await store.put("a.md", "one")
        store.library._signature = store.intake._signature = "s2"
        assert (await store.library.get(await store.scope(), document_id)).stale
        await store.accept("a.md", "one")
        assert (await store.jobs.claim("w", 60)).document_id == document_id
        assert (await store.library.get(await store.scope(), document_id)).versions == 1

    with_store(test)


def test_equal_uploads_at_once_are_one_document(with_store: Any) -> None:
    async def test(store: Any) -> None:
        ids = await asyncio.gather(*(store.accept("a.md", "one") for _ in range(20)))
        assert len(set(ids)) == 1
        document = await store.library.get(await store.scope(), ids[0])
        assert document.versions == 1
        assert len(list(store.files._folder.glob("*/*"))) == 1

    with_store(test)


def test_metadata_of_the_uploader_takes_precedence_over_the_file(with_store: Any) -> None:
    from pincite.core.documents.document import Parsed, Upload

    async def test(store: Any) -> None:
        scope = await store.scope()
        upload = Upload("a.md", b"text", title="Given", tags=("x",))
        document, _ = await store.intake.accept(scope, upload, mime="text/markdown", checksum="c")
        job = await store.jobs.claim("w", 60)
        edition = await store.indexing.begin(await store.indexing.target(job))
        found = Parsed(
            "text", "markdown", title="Found", author="Ann", tags=("y",), source_urls=("https://example.org",)
        )
        await store.indexing.serve(edition, ParsedVersion(found))
        served = await store.library.get(scope, document.id)
        assert (served.title, served.author, served.tags, served.source_urls) == (
            "Given",
            "Ann",
            ("x",),
            ("https://example.org",),
        )

    with_store(test)


def test_old_files_without_a_version_are_removed(with_store: Any) -> None:
    import os

    async def test(store: Any) -> None:
        document_id = await store.put("a.md", "kept")
        store.files.write("stray", "20240101T000000000000Z", b"left behind")
        assert await store.intake.remove_stray_files() == 0
        path = store.files.path("stray", "20240101T000000000000Z")
        os.utime(path, (0, 0))
        for kept in (store.files._folder / document_id).iterdir():
            os.utime(kept, (0, 0))
        assert await store.intake.remove_stray_files() == 1
        assert not path.exists()
        assert (await store.library.raw(await store.scope(), document_id))[1] == b"kept"

    with_store(test)


def test_concurrent_versions_of_one_name_are_all_stored(with_store: Any) -> None:
    async def test(store: Any) -> None:
        ids = await asyncio.gather(*(store.accept("a.md", f"text {n}") for n in range(30)))
        assert len(set(ids)) == 1
        assert (await store.library.get(await store.scope(), ids[0])).versions == 30

    with_store(test)


def test_files_of_another_library_are_not_removed(with_store: Any, tmp_path: Any) -> None:
    import os

    from pincite.store.documents.blob_files import BlobFiles
    from pincite.store.documents.blobs import Blobs
    from pincite.store.indexing.uploads import UploadStore

    async def test(store: Any) -> None:
        document_id = await store.put("a.md", "kept")
        for path in tmp_path.glob("files/*/*/*"):
            os.utime(path, (0, 0))
        other = UploadStore(
            store.database, Blobs(store.database, BlobFiles(tmp_path, "another library"), shared=False), "s1"
        )
        assert await other.remove_stray_files() == 0
        assert (await store.library.raw(await store.scope(), document_id))[1] == b"kept"

    with_store(test)


def test_a_job_is_done_where_its_file_is(with_store: Any) -> None:
    from pincite.store.indexing.jobs import Jobs

    async def test(store: Any) -> None:
        await store.accept("a.md", "text")
        assert await Jobs(store.database, "another folder").claim("w", 60) is None
        assert await store.jobs.claim("w", 60) is not None

    with_store(test)
