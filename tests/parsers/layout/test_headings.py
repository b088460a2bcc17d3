"""Headings."""

from pincite.parsers.layout.blocks import Line
from pincite.parsers.layout.headings import style_of, with_headings
from pincite.parsers.layout.lines import piece
from pincite.parsers.layout.outline import Bookmark
from pincite.parsers.layout.tables import Table

TEXT = "running text of the usual size that goes on for a while"


def levels(pages, outline=()) -> list[tuple[str, int]]:
    style = style_of(pages)
    return [
        (item.piece.text, item.level)
        for page in with_headings(pages, style, outline)
        for item in page
        if isinstance(item, Line) and item.level
    ]


def page(line, *items, start: float = 100):
    """Lines below each other, with a larger gap above those that are not body text."""
    found = []
    for item in items:
        text, size, bold = item if isinstance(item, tuple) else (item, 10, False)
        start += 12 if item == (text, 10, False) or isinstance(item, str) else 30
        found.append(Line(line(text, base=start, size=size, bold=bold)))
    return found


def test_larger_letters_make_levels(line):
    flow = page(line, ("Title", 24, False), TEXT, ("Chapter", 16, False), TEXT, ("Section", 13, False), TEXT)
    assert levels([flow]) == [("Title", 1), ("Chapter", 2), ("Section", 3)]


def test_a_numbered_section_below_the_title_is_a_heading_of_its_own(line):
    title = Line(line("Lease agreement, warehouse", base=100, size=14, bold=True))
    rest = [
        Line(line(text, base=base, size=14, bold=True))
        for text, base in (("of the north side", 117), ("1. Parties", 134))
    ]
    flow = [title, *rest, *page(line, TEXT, TEXT, TEXT, start=150)]
    assert levels([flow]) == [("Lease agreement, warehouse of the north side", 1), ("1. Parties", 1)]


def test_sizes_that_are_nearly_equal_are_one_level(line):
    assert levels([page(line, ("One", 16, False), TEXT, ("Two", 15.8, False), TEXT)]) == [("One", 1), ("Two", 1)]


def test_long_text_in_large_letters_is_no_heading(line):
    assert levels([page(line, ("word " * 40, 16, False), TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT)]) == []


def test_many_large_lines_in_a_row_are_no_heading(line):
    block = [Line(line(f"Address {n}", base=20 + 14 * n, size=12)) for n in range(6)]
    assert levels([[*block, *page(line, TEXT, TEXT, start=200)]]) == []


def test_a_bold_line_is_a_heading_below_the_larger_ones(line):
    flow = page(line, ("Title", 20, False), TEXT, ("Who may", 10, True), TEXT, ("ends so.", 10, True), TEXT)
    assert levels([flow]) == [("Title", 1), ("Who may", 2)]


def test_bold_lines_are_no_headings_where_much_is_bold(line):
    assert levels([page(line, ("Who may", 10, True), TEXT, (TEXT, 10, True), (TEXT, 10, True))]) == []


def test_lines_of_a_table_of_contents_are_no_headings(line, words):
    entry = piece([*words("1 Rules", bold=True, size=14), *words("12", x=300, bold=True, size=14)])
    dotted = line("2 Costs . . . . 14", base=130, bold=True, size=14)
    assert levels([[Line(entry), Line(dotted), *page(line, TEXT, TEXT, start=150)]]) == []


def test_the_outline_wins_and_sizes_it_names_follow(line):
    flow = page(line, ("1 One", 12, False), TEXT, ("2 Two", 12, False), TEXT, ("Small", 10, False), TEXT)
    outline = [Bookmark("One", 2, 0), Bookmark("small", 3, 0)]
    assert levels([flow], outline) == [("1 One", 2), ("2 Two", 2), ("Small", 3)]


def test_a_title_outside_of_the_outline_gets_the_top_level(line):
    flow = page(line, ("The title", 24, False), TEXT, ("1 One", 12, False), TEXT)
    assert levels([flow], [Bookmark("One", 1, 0)]) == [("The title", 1), ("1 One", 2)]


def test_an_outline_of_one_level_leaves_the_levels_to_the_sizes(line):
    flow = page(line, ("Title", 20, False), TEXT, ("One", 14, False), TEXT, ("Small", 10, False), TEXT)
    outline = [Bookmark(title, 1, 0) for title in ("Title", "One", "Small")]
    assert levels([flow], outline) == [("Title", 1), ("One", 2), ("Small", 3)]


def test_an_outline_that_leads_nowhere_changes_nothing(line):
    assert levels([page(line, TEXT, TEXT)], [Bookmark("One", 1, 7), Bookmark("", 1, 0), Bookmark("Two", 1, -1)]) == []


def test_a_number_below_that_of_a_heading_makes_one(line):
    flow = page(line, ("3 Model", 14, False), TEXT, ("3.1 View", 14, False))
    alone = [
        Line(line("3.1.1 Logical view", base=flow[-1].piece.base + 40)),
        Line(line(TEXT, base=flow[-1].piece.base + 80)),
    ]
    wrapped = [Line(line("3.2 percent of it all", base=flow[-1].piece.base + 92))]
    assert levels([[*flow, *alone, *wrapped]]) == [("3 Model", 1), ("3.1 View", 2), ("3.1.1 Logical view", 3)]


def test_a_bold_line_above_a_table_is_a_heading_unless_it_is_a_caption(line):
    table = Table(((),), (0, 0, 1, 1))
    for text, expected in (("Revisions", [("Revisions", 1)]), ("Table 3 Snow", [])):
        assert (
            levels([[*page(line, TEXT, TEXT, TEXT, (text, 10, True)), table, *page(line, TEXT, start=300)]]) == expected
        )


def test_the_style_is_that_of_most_text(line):
    style = style_of([[Line(line(TEXT, base=100 + 12 * n)) for n in range(5)]])
    assert (style.size, style.pitch, style.bold) == (10, 1.2, False)
    assert style_of([]).size == 0
