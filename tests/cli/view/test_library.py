"""Documents in a terminal."""

from dataclasses import replace

import pytest

from pincite.cli.view.library import print_document, print_documents, print_receipt
from pincite.core.documents.document import Document, Receipt, Status, Version

from .makers import DAY, FAILED, document, seen

RECEIPT = Receipt("abc", 2, 14, 20, 913, 0, 0, 0, True, True)


def listed(*documents: Document, width: int = 80) -> list[str]:
    return seen(lambda screen: print_documents(screen, documents, None), width=width).splitlines()


def test_the_list_has_a_line_for_each() -> None:
    head, one, two, *summary = listed(document(), document("b.md", folder="hr/rules", chunks=1200, stale=True))
    assert head.split() == ["id", "name", "status", "passages", "version"]
    assert one.split() == ["abcdefghijklmnop", "file.md", "completed", "3", "2024-01-31"]
    assert two.split() == ["abcdefghijklmnop", "hr/rules/b.md", "completed", "stale", "1,200", "2024-01-31"]
    assert " ".join(summary).startswith("2 documents, 1,203 passages, 1 stale: indexed with other settings;")


@pytest.mark.parametrize("width", [60, 80, 120])
def test_long_names_are_shortened_in_the_middle(width: int) -> None:
    long = document("a-name-" + "that-goes-on-" * 12 + "and-ends.md", folder="some/folder/that/is/long/too")
    lines = listed(long, document(), width=width)
    assert max(map(len, lines)) <= width
    assert "…" in lines[1]
    assert "ends.md" in lines[1] or width == 60


def test_ids_are_full_on_wide_screens_and_distinct_on_narrow_ones() -> None:
    pair = document(id="abcdefghij123456"), document("b.md", id="abcdefghij654321")
    assert [line.split()[0] for line in listed(*pair)[1:3]] == [one.id for one in pair]
    assert [line.split()[0] for line in listed(*pair, width=60)[1:3]] == ["abcdefghij1", "abcdefghij6"]


def test_a_processing_document_shows_its_progress() -> None:
    line = listed(document(status=Status.PROCESSING, progress=0.42, stage="embedding"))[1]
    assert "42% embedding" in line


def test_a_document_shows_what_is_known_and_no_more() -> None:
    one = document(author="Ilse", tags=("a", "b"), **FAILED)
    versions = [Version("20240131T120000000000Z", one.id, "c" * 64, 2048, "text/markdown", Status.ERROR, False, DAY)]
    told = seen(lambda screen: print_document(screen, one, versions))
    assert "  author    Ilse\n" in told
    assert "  tags      a, b\n" in told
    assert "  problem   byte 4 is not UTF-8 (not_utf8)\n" in told
    noted = seen(
        lambda screen: print_document(screen, document(notes=("2 passages were indexed without enrichment",)), [])
    )
    assert "  note      2 passages were indexed without enrichment\n" in noted
    assert "  type      text/markdown, 2.0 KB\n" in told
    assert "folder" not in told
    assert "20240131T120000000000Z  error" in told


def test_a_receipt_is_printed() -> None:
    told = seen(lambda screen: print_receipt(screen, "handbook.md", RECEIPT), width=120)
    assert " ".join(told.split()) == (
        "removed handbook.md: 2 versions, 14 passages, 20 vectors, 913 postings; verified: nothing is left"
    )
    told = seen(lambda screen: print_receipt(screen, "x", replace(RECEIPT, verified=False)), width=120)
    assert "something is left" in told
