"""Pages as Markdown."""

from dataclasses import replace

from pincite.parsers.layout.blocks import Line
from pincite.parsers.layout.headings import Style
from pincite.parsers.layout.lines import pieces
from pincite.parsers.layout.render import HyphenJoiner, render
from pincite.parsers.layout.tables import Table

STYLE = Style(10, 1.2, bold=False)


def written(page):
    return render(page, STYLE, HyphenJoiner([page]), lambda box: box)


def lines(line, *texts, pitch: float = 12):
    return [Line(line(text, base=100 + pitch * number)) for number, text in enumerate(texts)]


def test_each_word_has_a_mark_that_slices_it(line):
    text, marks = written(lines(line, "two words", "below"))
    assert text == "two words\nbelow"
    assert [text[mark.start : mark.end] for mark in marks] == ["two", "words", "below"]
    assert marks[2].box == (0, 104, 25, 114)


def test_a_divided_word_is_joined_unless_it_is_a_compound(line):
    assert written(lines(line, "some docu-", "ments here"))[0] == "some documents\nhere"
    assert written(lines(line, "well and known", "a well-", "known one"))[0] == "well and known\na well-known\none"
    assert written(lines(line, "the Smith-", "Jones case"))[0] == "the Smith-Jones\ncase"
    assert written(lines(line, "from 10-", "20 days"))[0] == "from 10-\n20 days"
    assert written(lines(line, "soft\u00ad", "ly does it"))[0] == "softly\ndoes it"


def test_a_soft_hyphen_is_seen_only_where_it_divides(line):
    assert written(lines(line, "soft\u00ad word", "ends\u00ad"))[0] == "soft word\nends"


def test_halves_of_other_divided_words_are_no_words(line):
    page = lines(line, "they keep to our-", "selves and to them-", "selves, as them")
    assert written(page)[0] == "they keep to ourselves\nand to themselves,\nas them"


def test_a_dash_within_a_line_stays(line):
    assert written(lines(line, "pre- and post-war"))[0] == "pre- and post-war"


def test_a_gap_another_size_or_an_indent_begins_a_paragraph(line):
    assert written(lines(line, "one.", "two.", pitch=20))[0] == "one.\n\ntwo."
    assert written([Line(line("large", size=14)), Line(line("small", base=114))])[0] == "large\n\nsmall"
    indented = [Line(line("ends.", base=100)), Line(line("begins", 15, 112)), Line(line("goes on", base=124))]
    assert written(indented)[0] == "ends.\n\nbegins\ngoes on"


def test_a_paragraph_goes_on_in_the_next_column_unless_it_has_ended(line):
    left, right = line("this goes", base=200), line("on here", 200, 100)
    assert written([Line(left), Line(right, fresh=True)])[0] == "this goes\non here"
    assert written([Line(line("It ends.", base=200)), Line(right, fresh=True)])[0] == "It ends.\n\non here"


def test_bullets_become_items_nested_by_their_indent(line):
    page = [
        Line(line("• one", 10, 100)),
        Line(line("•two", 20, 112)),
        Line(line("wrapped", 30, 124)),
        Line(line("after", 0, 136)),
    ]
    assert written(page)[0] == "- one\n  - two\nwrapped\n\nafter"


def test_words_with_one_link_are_one_link(words):
    (piece,) = pieces([*words("see"), *words("the [book],", 20, link="https://example.org")])
    text, marks = written([Line(piece)])
    assert text == r"see [the \[book\]](https://example.org),"
    assert text[marks[2].start : marks[2].end] == r"\[book\]"


def test_a_table_escapes_pipes_and_keeps_empty_cells(words):
    table = Table(((tuple(words("a|b")), ()), (tuple(words("c d")), tuple(words("e")))), (0, 0, 1, 1))
    text, marks = written([table])
    assert text == "| a\\|b | |\n| --- | --- |\n| c d | e |"
    assert [text[mark.start : mark.end] for mark in marks] == ["a\\|b", "c", "d", "e"]


def test_headings_have_blank_lines_around_them(line):
    page = lines(line, "Title", "text", "more")
    page[0] = replace(page[0], level=2)
    assert written(page)[0] == "## Title\n\ntext\nmore"


def test_marks_are_in_coordinates_of_the_displayed_page(line):
    _, marks = render(lines(line, "word"), STYLE, HyphenJoiner([]), lambda box: (1, 2, 3, 4))
    assert marks[0].box == (1, 2, 3, 4)
