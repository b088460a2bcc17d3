import pytest

from pincite.core.documents.document import ReadRequest, VersionText
from pincite.engine.reader.document_reader import extract_passage
from pincite.errors import Invalid, NotFound

TEXT = "# Top\nfirst\n\n## Größe\nalpha\nbeta\n\n### Deep\ngamma\n\n## Other\nlast"


def text(content: str = TEXT, mime: str = "text/markdown") -> VersionText:
    return VersionText("d", "v", "Title", mime, content, ())


def test_the_whole_text_is_returned_by_default() -> None:
    read = extract_passage(text(), ReadRequest("d"))
    assert (read.content, read.start_line, read.end_line, read.total_lines) == (TEXT, 1, 12, 12)


def test_a_newline_at_the_end_starts_no_further_line() -> None:
    read = extract_passage(text("a\nb\n"), ReadRequest("d"))
    assert (read.content, read.total_lines) == ("a\nb\n", 2)


def test_lines_take_precedence_over_a_section() -> None:
    read = extract_passage(text(), ReadRequest("d", section="Other", start_line=5, end_line=6))
    assert (read.content, read.section) == ("alpha\nbeta", None)


def test_an_end_past_the_last_line_is_the_last_line() -> None:
    assert extract_passage(text(), ReadRequest("d", start_line=12, end_line=99)).content == "last"


@pytest.mark.parametrize("wanted", ["Größe", "grosse", "Top > Größe", "Top / größe", "## Größe"])
def test_a_section_includes_its_subsections(wanted: str) -> None:
    read = extract_passage(text(), ReadRequest("d", section=wanted))
    assert read.content.startswith("## Größe\nalpha\nbeta")
    assert "gamma" in read.content
    assert "Other" not in read.content
    assert read.section == "Top > Größe"


@pytest.mark.parametrize(("first", "last"), [(0, 3), (13, 14), (5, 4)])
def test_missing_lines_are_refused(first: int, last: int) -> None:
    with pytest.raises(Invalid, match="the document has lines 1 to 12"):
        extract_passage(text(), ReadRequest("d", start_line=first, end_line=last))


def test_the_error_of_a_missing_section_lists_the_sections() -> None:
    with pytest.raises(NotFound, match="there are: 'Top', 'Größe'"):
        extract_passage(text(), ReadRequest("d", section="Nope"))
