from pincite.core.documents.document import ChunkLevel, Parsed
from pincite.core.documents.pages import Page, PageMark, pack
from pincite.ingest.chunk.positions import with_positions
from tests.builders import chunk


def test_passages_of_pages_name_the_first_and_last_page() -> None:
    parsed = Parsed("a" * 30, "markdown", pages=(Page(0), Page(10), Page(20)))
    rows = [chunk(0, level=ChunkLevel.DOCUMENT, start=0, end=30), chunk(1, start=2, end=9), chunk(2, start=8, end=25)]
    assert [row.place for row in with_positions(rows, parsed)] == [None, "page 1", "pages 1–3"]


def test_a_passage_of_a_file_without_pages_names_its_paragraphs() -> None:
    marks = pack(
        [PageMark(0, 9, ref="paragraph 1"), PageMark(11, 19, ref="paragraph 2"), PageMark(21, 30, ref="table 1, row 1")]
    )
    parsed = Parsed("a" * 30, "markdown", pages=(Page(0, "text", marks=marks),))
    rows = [chunk(1, start=0, end=19), chunk(2, start=21, end=30)]
    assert [row.place for row in with_positions(rows, parsed)] == ["paragraphs 1–2", "table 1, row 1"]


def test_blank_pages_are_not_named() -> None:
    parsed = Parsed("a" * 20, "markdown", pages=(Page(0), Page(10), Page(10)))
    assert [row.place for row in with_positions([chunk(1, start=10, end=20)], parsed)] == ["page 3"]


def test_text_without_pages_has_no_position() -> None:
    rows = [chunk(1, start=0, end=5)]
    assert with_positions(rows, Parsed("aaaaa", "plain")) == tuple(rows)
