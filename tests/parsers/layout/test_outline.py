"""The outline of a file."""

from pincite.parsers.layout.blocks import Line
from pincite.parsers.layout.outline import Bookmark, find_headings


def page(line, *texts: str):
    return [Line(line(text, base=100 + 20 * number)) for number, text in enumerate(texts)]


def test_a_line_is_found_by_its_title_whatever_its_case_number_and_signs(line):
    pages = [page(line, "Text.", "2.1 Costs & Benefits", "Text."), page(line, "A PROMPTS")]
    assert find_headings(pages, [Bookmark("Costs and", 1, 0), Bookmark("costs benefits", 2, 0)]) == {(0, 1): 2}
    assert find_headings(pages, [Bookmark("Prompts", 1, 1), Bookmark("A Prompts", 1, 1)]) == {(1, 0): 1}


def test_a_title_over_several_lines_is_found(line):
    pages = [page(line, "3 What to do", "when it snows", "at night", "Text.")]
    assert find_headings(pages, [Bookmark("What to do when it snows at night", 1, 0)]) == {
        (0, 0): 1,
        (0, 1): 1,
        (0, 2): 1,
    }


def test_equal_titles_match_one_line_each(line):
    pages = [page(line, "Example", "Text.", "Example")]
    assert find_headings(pages, [Bookmark("Example", 1, 0), Bookmark("Example", 2, 0)]) == {(0, 0): 1, (0, 2): 2}


def test_a_title_mentioned_within_a_line_does_not_match(line):
    pages = [page(line, "See Costs below."), page(line, "Costs")]
    assert (
        find_headings(
            pages, [Bookmark("Costs", 1, 0), Bookmark("", 1, 0), Bookmark("Costs", 1, 5), Bookmark("x", 1, -1)]
        )
        == {}
    )
