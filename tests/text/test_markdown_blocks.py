"""The block structure of a text."""

import time

import pytest

from pincite.text.markdown_blocks import blocks, plain


def shown(text: str, markup: str = "markdown", start: int = 0) -> list[tuple[str, str]]:
    return [(block.kind, text[block.start : block.end]) for block in blocks(text, markup, start)]  # type: ignore[arg-type]


def test_kinds_and_exact_spans():
    text = "# A\n\npara\nmore\n\n- one\n- two\n  deep\n\n| a |\n|---|\n| 1 |\n\n```\n# x\n```\n\n    code\n"
    assert shown(text) == [
        ("heading", "# A"),
        ("prose", "para\nmore"),
        ("list", "- one"),
        ("list", "- two\n  deep"),
        ("table", "| a |\n|---|\n| 1 |"),
        ("code", "```\n# x\n```"),
        ("code", "code"),
    ]


def test_offsets_count_from_the_start_of_the_whole_text():
    text = "---\ntitle: x\n---\n# A\n"
    assert shown(text, start=17) == [("heading", "# A")]


def test_headings_have_level_and_plain_title():
    found = blocks("## **Set** [up](x) `now` &amp; ![pic](y) ##\n\nTwo\nlines\n===\n", "markdown")
    assert [(block.level, block.title) for block in found] == [(2, "Set up now & pic"), (1, "Two lines")]


def test_an_endless_heading_takes_bounded_time():
    started = time.thread_time()
    assert blocks("# " + "[" * 20_000, "markdown")[0].kind == "heading"
    assert time.thread_time() - started < 2


@pytest.mark.parametrize(
    "text", ["> # Quoted", "- # Listed", "<div>\n# Html\n</div>", "```\n# Code\n```", "    # Code"]
)
def test_what_stands_inside_something_else_is_no_heading(text: str):
    assert all(block.kind != "heading" for block in blocks(text, "markdown"))


def test_a_list_item_holds_its_blocks():
    text = "- one\n\n  ```\n  x\n  ```\n  - two\n"
    (item,) = blocks(text, "markdown")
    assert [(part.kind, text[part.start : part.end]) for part in item.parts] == [
        ("prose", "- one"),
        ("code", "```\n  x\n  ```"),
        ("list", "- two"),
    ]


def test_a_table_knows_where_its_header_ends():
    text = "x\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    table = blocks(text, "markdown")[1]
    assert text[table.start : table.header_end] == "| a | b |\n|---|---|"


def test_link_definitions_are_not_lost():
    assert shown("[a]: http://x\n\ntext\n\n[b]: http://y") == [
        ("prose", "[a]: http://x"),
        ("prose", "text"),
        ("prose", "[b]: http://y"),
    ]


def test_plain_text_has_paragraphs_only():
    assert shown("# a\n- b\n\n\n  c", "plain") == [("prose", "# a\n- b"), ("prose", "c")]


def test_markup_footnotes_and_line_ends_are_left_out() -> None:
    assert plain("Every **employee** has\n> `30` days, see [the form](http://example.org/f). [3]") == (
        "Every employee has 30 days, see the form."
    )
    assert plain("2 * 3 is *six*") == "2 * 3 is six"
