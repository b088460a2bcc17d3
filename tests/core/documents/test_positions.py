from collections.abc import Sequence

import pytest

from pincite.core.documents.pages import Page, PageKind, PageMark, pack
from pincite.core.documents.positions import (
    PageText,
    Slice,
    describe_places,
    line_boxes,
    locate,
    number_pages,
    span_at_ref,
    span_in_box,
)

WORDS = "Five days carry over.\nTell your manager."
SHEET = "| Item | Price |\n| --- | --- |\n| Pens | 3,50 |\n| Ink \\| blue | 12 |"


def words(text: str, at: int = 0) -> list[PageMark]:
    """A mark for every word, ten points wide, lines twenty points apart."""
    marks, here = [], at
    for down, line in enumerate(text.split("\n")):
        for across, word in enumerate(line.split(" ")):
            left, top = 10.0 * across, 20.0 * down
            marks.append(PageMark(here, here + len(word), box=(left, top, left + 9, top + 12)))
            here += len(word) + 1
    return marks


def sheet(name: str = "Prices", at: int = 0) -> Page:
    rows = SHEET.split("\n")
    starts = [at + sum(len(row) + 1 for row in rows[:n]) for n in range(len(rows))]
    refs = {0: "B2:C2", 2: "B3:C3", 3: "B4:C4"}
    marks = [PageMark(starts[n], starts[n] + len(rows[n]), ref=ref) for n, ref in refs.items()]
    return Page(at, "sheet", name, marks=pack(marks))


def placed(pages: Sequence[Page], text: str, sought: str) -> tuple[str | None, int]:
    start = text.index(sought)
    found = locate(number_pages(pages, len(text)), start, start + len(sought), Slice(text))
    return describe_places(found), len(found)


def test_a_quote_on_a_page_has_a_box_for_each_line() -> None:
    page = Page(0, marks=pack(words(WORDS)))
    start = WORDS.index("carry")
    [place] = locate(number_pages([page], len(WORDS)), start, WORDS.index("your") + 4, Slice(WORDS))
    assert place.boxes == ((20.0, 0.0, 39.0, 12.0), (0.0, 20.0, 19.0, 32.0))
    assert describe_places([place]) == "page 1"


def test_boxes_of_another_column_are_another_line() -> None:
    left, right = (0.0, 100.0, 50.0, 110.0), (300.0, 100.0, 350.0, 110.0)
    assert line_boxes([left, right]) == ((0.0, 100.0, 350.0, 110.0),)
    assert line_boxes([right, left]) == (right, left)
    assert line_boxes([None, left]) == (left,)


def test_a_quote_over_two_pages_names_both() -> None:
    text = WORDS + "\n\n" + WORDS
    pages = [Page(0, marks=pack(words(WORDS))), Page(len(WORDS) + 2, marks=pack(words(WORDS, len(WORDS) + 2)))]
    found = locate(number_pages(pages, len(text)), 30, len(WORDS) + 10, Slice(text))
    assert [place.number for place in found] == [1, 2]
    assert describe_places(found) == "pages 1–2"


@pytest.mark.parametrize(
    ("sought", "place"),
    [
        ("3,50", "sheet Prices, C3"),
        ("| Pens | 3,50 |", "sheet Prices, B3:C3"),
        ("blue", "sheet Prices, B4"),
        ("3,50 |\n| Ink", "sheet Prices, B3:C4"),
        ("| Item | Price |", "sheet Prices, B2:C2"),
    ],
)
def test_a_quote_in_a_sheet_has_its_cells(sought: str, place: str) -> None:
    assert placed([sheet()], SHEET, sought) == (place, 1)


def test_without_the_text_of_a_row_the_whole_row_is_referenced() -> None:
    start = SHEET.index("3,50")
    [place] = locate([PageText(1, sheet(), len(SHEET))], start, start + 4, Slice("3,50", start))
    assert place.ref == "B3:C3"


@pytest.mark.parametrize(
    ("kind", "refs", "expected"),
    [
        ("text", ["paragraph 12"], "paragraph 12"),
        ("text", ["table 2, row 3", "table 2, row 5"], "table 2, rows 3–5"),
        ("text", ["paragraph 1", "table 2, row 5"], "paragraph 1 to table 2, row 5"),
        ("text", [], None),
        ("slide", ["title"], "slide 1, title"),
        ("slide", ["text"], "slide 1"),
        ("part", ["body"], "part report.pdf, body"),
    ],
)
def test_other_places_are_described_by_their_references(kind: PageKind, refs: list[str], expected: str | None) -> None:
    marks = [PageMark(10 * n, 10 * n + 5, ref=ref) for n, ref in enumerate(refs)]
    page = Page(0, kind, "report.pdf", marks=pack(marks))
    assert describe_places(locate([PageText(1, page, 100)], 0, 100, Slice("x" * 100))) == expected


def test_parts_of_one_page_are_one_place() -> None:
    page = sheet()
    marks = page.unpack_marks()
    cut = marks[2].start
    halves = [
        PageText(1, Page(0, "sheet", "Prices", marks=pack(marks[:2])), cut),
        PageText(1, Page(cut, "sheet", "Prices", marks=pack(marks[2:])), len(SHEET)),
    ]
    assert locate(halves, 0, len(SHEET), Slice(SHEET)) == locate(
        number_pages([page], len(SHEET)), 0, len(SHEET), Slice(SHEET)
    )


@pytest.mark.parametrize("sought", ["3,50", "Pens", "12"])
def test_a_place_leads_back_to_its_text(sought: str) -> None:
    [leaf] = number_pages([sheet()], len(SHEET))
    start = SHEET.index(sought)
    [place] = locate([leaf], start, start + len(sought), Slice(SHEET))
    assert span_at_ref(leaf, place.ref, Slice(SHEET)) == (start, start + len(sought))


def test_a_range_of_cells_is_read_from_its_first_to_its_last() -> None:
    [leaf] = number_pages([sheet()], len(SHEET))
    start, end = span_at_ref(leaf, "b3:c4", Slice(SHEET)) or (0, 0)
    assert SHEET[start:end] == "Pens | 3,50 |\n| Ink \\| blue | 12"
    assert span_at_ref(leaf, "Z99", Slice(SHEET)) is None
    assert span_at_ref(leaf, "paragraph 1", Slice(SHEET)) is None


def test_the_cells_of_a_workbook_inside_something_else_are_found_too() -> None:
    marks = [PageMark(mark.start, mark.end, ref=f"sheet Prices, {mark.ref}") for mark in sheet().unpack_marks()]
    [leaf] = number_pages([Page(0, "part", "prices.xlsx", marks=pack(marks))], len(SHEET))
    start = SHEET.index("3,50")
    found = locate([leaf], start, start + 4, Slice(SHEET))
    assert describe_places(found) == "part prices.xlsx, sheet Prices, C3"
    assert span_at_ref(leaf, found[0].ref, Slice(SHEET)) == (start, start + 4)
    assert span_at_ref(leaf, "C3", Slice(SHEET)) is None
    whole = locate([leaf], 0, len(SHEET), Slice(SHEET))
    assert describe_places(whole) == "part prices.xlsx, sheet Prices, B2:C4"


@pytest.mark.parametrize(("first", "last"), [(0, 0), (0, 1), (2, 3), (1, 2), (0, 3)])
def test_a_reference_range_leads_back_to_its_marks(first: int, last: int) -> None:
    refs = ["paragraph 1", "paragraph 2", "table 1, row 1", "table 1, row 2"]
    marks = [PageMark(10 * n, 10 * n + 5, ref=ref) for n, ref in enumerate(refs)]
    [leaf] = number_pages([Page(0, "text", marks=pack(marks))], 40)
    [place] = locate([leaf], marks[first].start, marks[last].end, Slice("x" * 40))
    assert span_at_ref(leaf, place.ref, Slice("x" * 40)) == (marks[first].start, marks[last].end)


def test_a_box_leads_back_to_its_words() -> None:
    [leaf] = number_pages([Page(0, marks=pack(words(WORDS)))], len(WORDS))
    start, end = span_in_box(leaf, (15, 0, 40, 15)) or (0, 0)
    assert WORDS[start:end] == "carry over."
    assert span_in_box(leaf, (500, 500, 600, 600)) is None
