import asyncio
from typing import Any

from pincite.core.documents.document import Status
from pincite.store.indexing.publish import ParsedVersion
from pincite.store.indexing.uploads import make_document_id


def test_an_id_is_minted_from_who_where_name_and_first_bytes() -> None:
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


def test_the_same_again_is_nothing_new_and_other_bytes_are_a_new_version(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        document_id = await shelf.put("a.md", "one")
        assert await shelf.accept("a.md", "one") == document_id
        assert await shelf.jobs.claim("w", 60) is None
        assert await shelf.put("a.md", "two") == document_id
        document = await shelf.library.get(await shelf.scope(), document_id)
        versions = await shelf.library.versions(await shelf.scope(), document_id)
        assert (document.versions, document.status, len(versions)) == (2, Status.COMPLETED, 2)
        assert [version.served for version in versions] == [True, False]
        assert versions[0].id > versions[1].id
        old = await shelf.library.text(await shelf.scope(), document_id, versions[1].id)
        assert old.text == "one"
        assert (await shelf.library.raw(await shelf.scope(), document_id, versions[1].id))[1] == b"one"

    with_shelf(test)


def test_a_settings_change_makes_the_same_bytes_worth_doing_again(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        document_id = await shelf.put("a.md", "one")
        shelf.library._signature = shelf.intake._signature = "s2"
        assert (await shelf.library.get(await shelf.scope(), document_id)).stale
        await shelf.accept("a.md", "one")
        assert (await shelf.jobs.claim("w", 60)).document_id == document_id
        assert (await shelf.library.get(await shelf.scope(), document_id)).versions == 1

    with_shelf(test)


def test_equal_uploads_at_once_are_one_document(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        ids = await asyncio.gather(*(shelf.accept("a.md", "one") for _ in range(20)))
        assert len(set(ids)) == 1
        document = await shelf.library.get(await shelf.scope(), ids[0])
        assert document.versions == 1
        assert len(list(shelf.files._folder.glob("*/*"))) == 1

    with_shelf(test)


def test_what_the_uploader_said_wins_over_the_file(with_shelf: Any) -> None:
    from pincite.core.documents.document import Parsed, Upload

    async def test(shelf: Any) -> None:
        scope = await shelf.scope()
        upload = Upload("a.md", b"text", title="Given", tags=("x",))
        document, _ = await shelf.intake.accept(scope, upload, mime="text/markdown", checksum="c")
        job = await shelf.jobs.claim("w", 60)
        edition = await shelf.indexing.begin(await shelf.indexing.target(job))
        found = Parsed(
            "text", "markdown", title="Found", author="Ann", tags=("y",), source_urls=("https://example.org",)
        )
        await shelf.indexing.serve(edition, ParsedVersion(found))
        served = await shelf.library.get(scope, document.id)
        assert (served.title, served.author, served.tags, served.source_urls) == (
            "Given", "Ann", ("x",), ("https://example.org",),
        )  # fmt: skip

    with_shelf(test)


def test_files_without_a_record_are_swept_once_they_are_old(with_shelf: Any) -> None:
    import os

    async def test(shelf: Any) -> None:
        document_id = await shelf.put("a.md", "kept")
        shelf.files.write("stray", "20240101T000000000000Z", b"left behind")
        assert await shelf.intake.remove_stray_files() == 0
        path = shelf.files.path("stray", "20240101T000000000000Z")
        os.utime(path, (0, 0))
        for kept in (shelf.files._folder / document_id).iterdir():
            os.utime(kept, (0, 0))
        assert await shelf.intake.remove_stray_files() == 1
        assert not path.exists()
        assert (await shelf.library.raw(await shelf.scope(), document_id))[1] == b"kept"

    with_shelf(test)


def test_many_new_versions_of_one_name_at_once_all_come_in(with_shelf: Any) -> None:
    async def test(shelf: Any) -> None:
        ids = await asyncio.gather(*(shelf.accept("a.md", f"text {n}") for n in range(30)))
        assert len(set(ids)) == 1
        assert (await shelf.library.get(await shelf.scope(), ids[0])).versions == 30

    with_shelf(test)


def test_another_database_leaves_the_files_of_this_one_alone(with_shelf: Any, tmp_path: Any) -> None:
    import os

    from pincite.store.documents.blob_files import BlobFiles
    from pincite.store.documents.blobs import Blobs
    from pincite.store.indexing.uploads import UploadStore

    async def test(shelf: Any) -> None:
        document_id = await shelf.put("a.md", "kept")
        for path in tmp_path.glob("files/*/*/*"):
            os.utime(path, (0, 0))
        other = UploadStore(
            shelf.database, Blobs(shelf.database, BlobFiles(tmp_path, "another library"), shared=False), "s1"
        )
        assert await other.remove_stray_files() == 0
        assert (await shelf.library.raw(await shelf.scope(), document_id))[1] == b"kept"

    with_shelf(test)


def test_a_job_is_done_where_its_file_is(with_shelf: Any) -> None:
    from pincite.store.indexing.jobs import Jobs

    async def test(shelf: Any) -> None:
        await shelf.accept("a.md", "text")
        assert await Jobs(shelf.database, "another folder").claim("w", 60) is None
        assert await shelf.jobs.claim("w", 60) is not None

    with_shelf(test)
