"""The composed text that is embedded for a passage."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from pincite.config.branches.ingestion import Enrichment
from pincite.config.settings import Settings
from pincite.core.documents.document import About, Enriched, Parsed, Upload
from pincite.ingest.embed.embedding_text import MAX_EMBEDDED_CHARS, augmented_input, labelled_input
from tests.builders import chunk

ABOUT = About("doc1", "v1", "pets.md", "https://pets.test/", "Ann", "On pets", ("a", "b"))
WRITTEN = Enriched("Felines rest.", ("Who rests?",))


def enriching(*parts: str) -> Settings:
    return Settings(enrichment=Enrichment.model_validate({"with": parts}))


def test_labels_say_source_document_version_and_section() -> None:
    worded = labelled_input(chunk(3, "They purr.", heading_path=("Pets", "Cats")), ABOUT)
    assert worded.whole == ("source: https://pets.test/\ndoc_id: doc1\nversion: v1\nsection: Pets / Cats\n\nThey purr.")
    assert not worded.augmented
    plain = labelled_input(chunk(3, "They purr.", heading_path=("Document",)), ABOUT)
    assert plain.prefix == "source: https://pets.test/\ndoc_id: doc1\nversion: v1\nsection: Document\n\n"
    written = augmented_input(chunk(3, "They purr."), ABOUT, WRITTEN, enriching("heading_path"))
    assert written.whole == "section: Document\n\nThey purr."


def test_headers_come_first_then_summary_and_questions_then_the_text_with_its_tables_header() -> None:
    row = chunk(3, "| a | 1 |", heading_path=("Pets",), header="| name | n |")
    assert augmented_input(row, ABOUT, WRITTEN, Settings()).whole == (
        "source: https://pets.test/\nsection: Pets\nauthor: Ann\ndescription: On pets\ntags: a, b\n"
        "content_type: prose\n\nsummary: Felines rest.\n\nquestions:\n- Who rests?\n\n| name | n |\n| a | 1 |"
    )


def test_only_the_configured_parts_are_embedded() -> None:
    row = chunk(3, "They purr.", heading_path=("Pets",))
    assert augmented_input(row, ABOUT, WRITTEN, enriching("summary")).whole == "summary: Felines rest.\n\nThey purr."
    assert augmented_input(row, ABOUT, WRITTEN, enriching("heading_path")).whole == "section: Pets\n\nThey purr."
    assert augmented_input(row, ABOUT, WRITTEN, enriching("possible_queries")).whole == (
        "questions:\n- Who rests?\n\nThey purr."
    )


def test_the_embedded_text_is_cut_at_its_limit() -> None:
    row = chunk(3, "word " * 5000)
    assert len(augmented_input(row, ABOUT, WRITTEN, Settings()).whole) == MAX_EMBEDDED_CHARS
    told = About("doc1", "v1", "n", None, description="x" * 20_000)
    worded = augmented_input(row, told, WRITTEN, Settings())
    assert len(worded.whole) == MAX_EMBEDDED_CHARS
    assert "summary: Felines" in worded.text


def test_metadata_of_the_upload_wins_over_that_of_the_file() -> None:
    parsed = Parsed("x", "plain", title="T", author="Bob", tags=("c",))
    about = ABOUT.or_else(parsed)
    assert (about.title, about.author, about.tags) == ("T", "Ann", ("a", "b"))
    assert About("d", "v", "n", None).or_else(parsed).author == "Bob"


@pytest.mark.parametrize(("lead", "expected"), [("headings", 1), ("labels", 2)])
def test_equal_texts_of_two_documents_are_embedded_once_and_under_labels_twice(
    open_pincite: Callable[..., Any], lead: str, expected: int
) -> None:
    async def go() -> None:
        async with open_pincite(chunking__lead=lead) as pincite:
            pincite.services.workers.start()
            for name in ("one.md", "two.md"):
                added = await pincite.documents.upload(Upload(name, b"Cats purr."))
                await pincite.documents.wait([added.document.id])
            query = "select count(distinct hash) from vector v join document d on d.served = v.edition"
            [[(found,)]] = await pincite.services.database.run_batch("local", query, values={})
            assert (await pincite.search("Cats purr.")).hits[0].chunk.vectorized_text is None
            assert found == expected

    asyncio.run(go())
