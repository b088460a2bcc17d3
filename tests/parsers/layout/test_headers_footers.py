"""Running headers and footers."""

from pincite.parsers.layout.headers_footers import remove_running_lines


def texts(pages) -> list[list[str]]:
    return [[item.text for item in page] for page in pages]


def test_what_is_repeated_in_the_margins_goes_and_numbers_may_differ(line):
    pages = [[line("Report", base=30), line(f"text {n}", base=400), line(f"page {n}", base=790)] for n in range(4)]
    assert texts(remove_running_lines(pages, [800] * 4)) == [[f"text {n}"] for n in range(4)]


def test_what_is_repeated_in_the_middle_stays(line):
    pages = [[line("Summary", base=300), line(f"text {n}", base=400)] for n in range(4)]
    assert texts(remove_running_lines(pages, [800] * 4)) == [["Summary", f"text {n}"] for n in range(4)]


def test_what_stands_at_different_heights_stays(line):
    pages = [[line("Note", base=20 + 15 * n), line("text", base=400)] for n in range(4)]
    assert texts(remove_running_lines(pages, [800] * 4)) == [["Note", "text"]] * 4


def test_headers_that_alternate_go(line):
    pages = [[line(("Left", "Right")[n % 2], base=30), line(f"text {n}", base=400)] for n in range(6)]
    assert texts(remove_running_lines(pages, [800] * 6)) == [[f"text {n}"] for n in range(6)]


def test_what_stands_beside_a_page_number_goes_with_it(line):
    pages = [
        [line(f"Chapter {name}", base=30), line(str(n), x=200, base=30), line(f"text {n}", base=400)]
        for n, name in enumerate("abc")
    ]
    assert texts(remove_running_lines(pages, [800] * 3)) == [[f"text {n}"] for n in range(3)]


def test_of_two_pages_only_numbers_that_differ_go(line):
    pages = [
        [line("Ida Renner, Kestrel Ridge", base=30), line(f"text {n}", base=400), line(f"page {n}", base=790)]
        for n in range(2)
    ]
    assert texts(remove_running_lines(pages, [800] * 2)) == [
        ["Ida Renner, Kestrel Ridge", f"text {n}"] for n in range(2)
    ]


def test_page_numbers_may_be_roman_or_stand_among_others_that_stay(line):
    numbers = ("viii", "ix", "x", "xi")
    pages = [
        [line(f"2026 · {n + 17} of 40", base=30), line(f"text {n}", base=400), line(number, base=790)]
        for n, number in enumerate(numbers)
    ]
    assert texts(remove_running_lines(pages, [800] * 4)) == [[f"text {n}"] for n in range(4)]


def test_numbered_lines_that_fill_their_pages_stay(line):
    pages = [[line(f"Reading {10 * n + at}: 4.{n}", base=20 + 80 * at) for at in range(10)] for n in range(4)]
    assert texts(remove_running_lines(pages, [800] * 4)) == texts(pages)


def test_one_page_has_nothing_that_is_repeated(line):
    assert texts(remove_running_lines([[line("Title", base=30), line("text", base=400)]], [800])) == [["Title", "text"]]


def test_a_page_is_never_left_empty(line):
    pages = [[line(f"{n}", base=790)] for n in range(3)]
    assert texts(remove_running_lines(pages, [800] * 3)) == [["0"], ["1"], ["2"]]
