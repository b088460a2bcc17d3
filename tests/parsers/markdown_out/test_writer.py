"""Writing Markdown."""

import pytest

from pincite.parsers.markdown_out.writer import BULLET, Items, MarkdownWriter, escaped, heading, link, one_line, table
from pincite.text.markdown_blocks import blocks
from pincite.text.sentences import normalise


@pytest.mark.parametrize(
    "text",
    ["# 1 of us", "#", "```", "~~~ x", "===", "---", "- - -", "| --- | --- |", "<div>", "<!-- x", "</p>", ":---"],
)
def test_text_that_looks_like_markdown_stays_a_paragraph(text: str):
    for lines in (escaped(text), f"before\n{escaped(text)}"):
        (block,) = blocks(lines, "markdown")
        assert block.kind == "prose"


@pytest.mark.parametrize("text", ["#1 of us", "a - b", "- item", "3. item", "x < y", "-5 °C", "a | b"])
def test_other_text_is_not_escaped(text: str):
    assert escaped(text) == text


def test_white_space_around_lines_and_invisible_characters_are_removed():
    assert escaped("   four blanks are code\n\tso is a tab") == "four blanks are code\nso is a tab"
    assert escaped("\n\na\n \n\n\nb\n") == "a\n\nb"
    assert one_line(" so\u00adft \n hy\u200bphen\x07 ") == "soft hyphen"


@pytest.mark.parametrize(
    ("text", "title"), [("C #", "C #"), ("a <b> c", "a <b> c"), ("two\nlines", "two lines"), ("x ##", "x ##")]
)
def test_a_heading_is_read_as_it_was_written(text: str, title: str):
    (block,) = blocks(heading(2, text), "markdown")
    assert (block.kind, block.level, block.title) == ("heading", 2, title)


def test_levels_are_one_to_six_and_an_empty_heading_is_none():
    assert (heading(0, "x"), heading(9, "x"), heading(1, " \n")) == ("# x", "###### x", "")


def test_tables_are_tables_whatever_is_in_their_cells():
    lines = table([["a|b", "two\nlines"], ["c"]])
    assert lines == [r"| a\|b | two lines |", "| --- | --- |", "| c |  |"]
    (block,) = blocks("\n".join(lines), "markdown")
    assert block.kind == "table"


def test_a_table_without_a_header_gets_a_blank_one():
    assert table([["1", "2"]], header=False) == ["|  |  |", "| --- | --- |", "| 1 | 2 |"]
    assert table([]) == table([[]]) == []


@pytest.mark.parametrize(
    ("text", "target", "written"),
    [
        ("here ", "https://example.org/a(b)", "[here](https://example.org/a%28b%29) "),
        ("a [b]", "mailto:a@example.org", r"[a \[b\]](mailto:a@example.org)"),
        ("https://example.org", "https://example.org", "https://example.org"),
        ("here", "javascript:alert(1)", "here"),
        ("here", "file:///etc/passwd", "here"),
        ("here", "https://example.org/a b", "here"),
        (" ", "https://example.org", " "),
    ],
)
def test_only_links_to_the_web_and_to_mailboxes_are_kept(text: str, target: str, written: str):
    assert link(text, target) == written


def test_items_are_indented_under_their_parent():
    items = Items()
    given = [("one", "10.", 0), ("two\nlines", "(a)", 1), ("three", BULLET, 3), ("# four", "1)", 1), ("five", "11.", 0)]
    lines = [items.write(*item) for item in given]
    assert lines == ["10. one", "    - (a) two\n      lines", "      - three", "    1) \\# four", "11. five"]
    assert {block.kind for block in blocks("\n".join(lines), "markdown")} == {"list"}


def test_the_writer_marks_the_position_of_every_block():
    out = MarkdownWriter()
    out.page("sheet", "empty")
    out.page("sheet", "one")
    out.block("# One  ", "title")
    out.lines([("| a |", "A1"), ("", "A2"), ("| - |", ""), ("| b |", "A3")])
    out.page("sheet", "two")
    out.block("last", "A1")
    out.block("   ", "A2")
    out.page("sheet", "none")
    text, pages = out.done()
    assert text == "# One\n\n| a |\n| - |\n| b |\n\nlast"
    assert normalise(text) == text
    assert [(page.name, page.start) for page in pages] == [("empty", 0), ("one", 0), ("two", 26), ("none", 30)]
    found = [[(text[mark.start : mark.end], mark.ref) for mark in page.unpack_marks()] for page in pages]
    assert found == [[], [("# One", "title"), ("| a |", "A1"), ("| b |", "A3")], [("last", "A1")], []]
