from pincite.extractive.sentences import sentences_of
from tests.builders import hit


def test_headings_comments_and_heads_of_tables_are_no_sentences() -> None:
    text = "# Leave\n\n<!-- secret -->\n\nIt is granted.\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    assert [one.text for one in sentences_of([hit(text, heading_path=("Leave",))])] == ["It is granted.", "| 1 | 2 |"]


def test_a_sentence_knows_what_stands_around_it() -> None:
    [first, second] = sentences_of([hit("Peyton Manning won. He was old.", title="Games", heading_path=("Finals",))])
    assert (first.refers_back, second.refers_back) == (False, True)
    assert second.terms_before == first.terms == {"peyton", "man", "won"}
    assert second.heading_terms == {"game", "final", "doc1"}
    assert "peyton" in second.passage_terms


def test_code_is_read_line_by_line() -> None:
    text = "Set it:\n\n```yaml\nmount:\n  port: 4717\n```\n"
    found = sentences_of([hit(text)])
    assert [one.text for one in found] == ["Set it:", "mount:", "port: 4717"]
    assert all(text[one.start : one.end] == one.text for one in found)


def test_a_row_holds_the_names_of_its_columns_and_is_read_with_them() -> None:
    [row] = sentences_of([hit("| April | 7.10 |", header="| month | high |\n|---|---|")])
    assert row.is_row
    assert {"month", "high", "april"} <= row.terms
    assert row.embedded_text == "month: April; high: 7.10."
