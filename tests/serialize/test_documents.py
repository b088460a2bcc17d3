"""The JSON of documents, receipts and chunks has exactly the documented fields."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

from pincite.core.documents.document import Access, Document, Failure, Receipt, Status, Version
from pincite.serialize.documents import chunk_json, document_json, receipt_json
from tests.builders import chunk, found

NOON = datetime(2024, 5, 1, 12, tzinfo=timezone(timedelta(hours=2)))


def fields(text: str) -> set[str]:
    return set(text.replace(",", " ").split())


def test_a_document() -> None:
    shape = document_json(
        Document(
            id="d",
            name="a.md",
            title="A",
            author=None,
            description=None,
            status=Status.ERROR,
            progress=0.5,
            stage="parse",
            error=Failure("unreadable", "no"),
            version="v",
            versions=1,
            mime="text/markdown",
            bytes=3,
            checksum="c",
            folder="hr",
            tags=("x",),
            source_uri=None,
            source_urls=(),
            chunks=2,
            stale=False,
            access=Access("local"),
            created_at=NOON,
            updated_at=NOON,
        )
    )
    assert set(shape) == fields(
        "id, name, title, author, description, status, progress, stage, error,"
        " version, versions, mime, bytes, checksum,"
        " folder, tags, source_uri, source_urls, chunks, stale, access, created_at, updated_at"
    )
    assert shape["status"] == "error"
    assert shape["error"] == {"code": "unreadable", "message": "no"}
    assert shape["access"] == {"owner": "local", "users": (), "groups": (), "everyone": False, "roles": ()}
    assert shape["created_at"] == "2024-05-01T10:00:00Z"


def test_a_receipt() -> None:
    assert set(receipt_json(Receipt("d", 1, 2, 3, 4, 0, 0, 0, True, True))) == fields(
        "document_id, versions, chunks, vectors, postings, facts, cache_entries, quotes, file, verified, summaries, token_vectors"
    )


def test_a_chunk_is_named_as_searches_name_it() -> None:
    version = Version(
        "v1", "doc1", "c" * 64, 9, "text/markdown", Status.COMPLETED, True, datetime(2024, 1, 1, tzinfo=UTC)
    )
    shape = chunk_json(version, chunk(1))
    assert shape["id"] == found("x").id
    assert (shape["level"], shape["chunk_variant"]) == (2, "original")
    assert (shape["checksum"], shape["mime"]) == ("c" * 64, "text/markdown")
    assert shape["created_at"].startswith("2024-01-01T00:00:00")
    enriched = chunk_json(version, replace(chunk(1), vectorized_text="About cats: Cats purr."))
    assert (enriched["chunk_variant"], enriched["vectorized_text"]) == ("augmented", "About cats: Cats purr.")
