"""PDF files."""

import io
from contextlib import closing
from pathlib import Path

import pypdfium2
import pytest

from pincite.core.documents.document import Parsed
from pincite.core.documents.pages import PageMark
from pincite.errors import Unreadable
from pincite.parsers import pdf
from pincite.parsers.layout import ocr
from tests.pdf_maker import HEIGHT, WIDTH, Entry, Line, Link, Note, Rule, make_pdf
from tests.picture_maker import draw

GOLDEN = Path(__file__).parent / "pdfs"
BODY = ["This is running text that fills the page,", "line after line, so that its size is the usual one."]


def parse(data: bytes) -> Parsed:
    return pdf.make_parser(pdf.Options()).parse(data)


def unreadable(data: bytes) -> str:
    with pytest.raises(Unreadable) as caught:
        parse(data)
    return caught.value.code


def words(parsed: Parsed, page: int = 0) -> dict[str, PageMark]:
    return {parsed.text[mark.start : mark.end]: mark for mark in parsed.pages[page].unpack_marks()}


def column(lines: list[str], x: float, y: float = 700) -> list[Line]:
    return [Line(text, x=x, y=y - 14 * number) for number, text in enumerate(lines)]


@pytest.mark.parametrize("name", sorted(path.stem for path in GOLDEN.glob("*.pdf")))
def test_office_made_pdfs_match_their_expected_text(name: str):
    parsed = parse((GOLDEN / f"{name}.pdf").read_bytes())
    assert parsed.text == (GOLDEN / f"{name}.md").read_text(encoding="utf-8").rstrip("\n")


def test_headings_come_from_the_size_of_letters():
    parsed = parse(make_pdf([[Line("Größe", 24), *BODY, Line("Straße", 16, gap=2), *BODY]]))
    assert [line for line in parsed.text.split("\n") if line.startswith("#")] == ["# Größe", "## Straße"]
    assert parsed.title == "Größe"
    assert parsed.markup == "markdown"


def test_headings_come_from_the_outline_where_it_names_a_line():
    page = [*BODY, Line("Costs and", gap=3), "benefits", Line("2.1 Travel", gap=3), Line(BODY[0], gap=3), BODY[1]]
    outline = [Entry("Costs and Benefits", 0), Entry("Travel", 0, level=2), Entry("Not there", 0)]
    text = parse(make_pdf([page], outline=outline)).text
    assert "\n\n# Costs and benefits\n\n## 2.1 Travel\n\n" in text


def test_a_bold_line_alone_is_a_heading_and_bold_words_in_text_are_none():
    page = [*BODY, Line("Who may travel", gap=3, bold=True), *BODY, Line("Note:", bold=True, gap=3), *BODY]
    assert [line for line in parse(make_pdf([page])).text.split("\n") if "#" in line] == ["# Who may travel"]


def test_a_heading_over_two_lines_is_one():
    parsed = parse(make_pdf([[Line("A long heading", 20), Line("on two lines", 20), *BODY]]))
    assert parsed.text.startswith("# A long heading on two lines\n\nThis")


def test_lines_stay_lines_and_gaps_become_blank_lines():
    parsed = parse(make_pdf([[*BODY, *BODY, Line("A new paragraph.", gap=2.5), "It goes on."]]))
    assert parsed.text == "\n".join([*BODY, *BODY]) + "\n\nA new paragraph.\nIt goes on."


def test_pages_have_their_start_offset():
    parsed = parse(make_pdf([["First page."], [], ["Third page."]]))
    assert parsed.text == "First page.\n\nThird page."
    assert parsed.page_starts == (0, 13, 13)
    assert {(page.width, page.height) for page in parsed.pages} == {(WIDTH, HEIGHT)}


def test_trailing_empty_pages_begin_at_the_end():
    parsed = parse(make_pdf([["Text."], [], []]))
    assert parsed.page_starts == (0, 5, 5)


def test_every_word_has_its_box():
    parsed = parse(make_pdf([[Line("Title", 20, x=100, y=700), Line("two words", x=100, y=600)], ["Next."]]))
    title, two = words(parsed)["Title"].box, words(parsed)["two"].box
    assert title
    assert two
    assert title[0] == pytest.approx(101, abs=2)
    assert title[1] < HEIGHT - 700 < title[3]
    assert title[2] - title[0] == pytest.approx(41, abs=4)
    assert two[1] < HEIGHT - 600 < two[3]
    assert list(words(parsed)) == ["Title", "two", "words"]
    assert list(words(parsed, 1)) == ["Next."]


def test_boxes_are_those_of_the_displayed_page():
    upright = parse(make_pdf([[Line("Word", x=100, y=700)]]))
    turned = parse(make_pdf([[Line("Word", x=100, y=700)]], rotate=90))
    left, top, right, bottom = words(upright)["Word"].box or (0, 0, 0, 0)
    assert (turned.pages[0].width, turned.pages[0].height) == (HEIGHT, WIDTH)
    assert words(turned)["Word"].box == pytest.approx((HEIGHT - bottom, left, HEIGHT - top, right), abs=0.2)


def test_a_rotated_page_is_read_in_its_own_direction():
    lines = [
        Line("First line of a page", x=100, y=100, upwards=True),
        Line("and its second.", x=114, y=100, upwards=True),
    ]
    parsed = parse(make_pdf([lines]))
    assert parsed.text == "First line of a page\nand its second."
    box = words(parsed)["First"].box
    assert box
    assert box[3] - box[1] > box[2] - box[0]
    assert box[0] < 100 < box[2]


def test_two_columns_are_read_one_after_the_other_with_spanning_lines_in_place():
    left = [
        "The first column has lines of text",
        "that go down the page as far as",
        "they reach, and then the reader",
        "goes up again to the top of the",
    ]
    right = [
        "second column, which has as many",
        "lines as the first one and which",
        "stands beside it on the very same",
        "baselines, as columns often do.",
    ]
    top = Line("Above both columns there is one line that spans all of them, from left to right.", x=72, y=760)
    end = Line("Below both columns there is another line that spans them, from left to right too.", x=72, y=600)
    page = [item for pair in zip(column(left, 72), column(right, 310), strict=True) for item in pair]
    assert parse(make_pdf([[top, *page, end]])).text == "\n\n".join([top.text, "\n".join(left + right), end.text])


def test_a_sidebar_is_read_apart_from_the_text_beside_it():
    main = [f"Line {number} of the main text, which is long and runs on" for number in "ABCDEFG"]
    side = [
        Line(text, 9, x=430, y=693 - 11 * number)
        for number, text in enumerate(["Opening hours", "daily from nine", "closed in May"])
    ]
    text = parse(make_pdf([[*column(main, 72), *side]])).text
    assert "\n".join(main) in text
    assert "Opening hours\ndaily from nine\nclosed in May" in text


def test_footnotes_of_a_column_come_at_the_end_of_the_page():
    left = [
        "The first column has lines of text",
        "that go down the page as far as",
        "they reach, and then the reader",
        "goes up again to the top of the",
    ]
    right = [
        "second column, which has as many",
        "lines as the first one and which",
        "stands beside it on the very same",
        "baselines, as columns often do.",
    ]
    note = Line("1 A note in small letters.", 8, x=72, y=630)
    assert parse(make_pdf([[*column(left, 72), note, *column(right, 310)]])).text.endswith(
        "do.\n\n1 A note in small letters."
    )


def test_a_ruled_table_is_a_table_and_merged_cells_begin_where_they_begin():
    across = [Rule(72, y, 372, y) for y in (700, 680, 660, 640)]
    down = [Rule(72, 640, 72, 700), Rule(172, 640, 172, 700), Rule(272, 640, 272, 680), Rule(372, 640, 372, 700)]
    cells = {
        (76, 686): "Item",
        (176, 686): "Price | unit",
        (76, 666): "Rope",
        (176, 666): "12",
        (276, 666): "m",
        (76, 646): "Lamp",
    }
    page = [*BODY, *across, *down, *(Line(text, x=x, y=y) for (x, y), text in cells.items())]
    parsed = parse(make_pdf([page]))
    table = "| Item | Price \\| unit | |\n| --- | --- | --- |\n| Rope | 12 | m |\n| Lamp | | |"
    assert parsed.text == "\n".join(BODY) + "\n\n" + table
    assert parsed.text[words(parsed)["12"].start :].startswith("12 | m |")


def test_columns_that_are_clear_are_a_table_without_rules():
    rows = [("Month", "Snow", "Wind"), ("January", "122", "61"), ("February", "160", "74"), ("March", "98", "55")]
    page = [Line(text, x=72 + 100 * n, y=700 - 14 * m) for m, row in enumerate(rows) for n, text in enumerate(row)]
    header = "| Month | Snow | Wind |\n| --- | --- | --- |\n"
    expected = f"{header}| January | 122 | 61 |\n| February | 160 | 74 |\n| March | 98 | 55 |"
    assert parse(make_pdf([page])).text == expected


def test_running_headers_footers_and_page_numbers_are_left_out():
    pages = [
        [Line("Annual report", 9, y=810), Line(f"Text of page {name}.", y=700), Line(f"Page {number} of 3", 9, y=30)]
        for number, name in enumerate(["one", "two", "three"], 1)
    ]
    assert parse(make_pdf(pages)).text == "Text of page one.\n\nText of page two.\n\nText of page three."


def test_a_page_with_only_its_number_keeps_it():
    assert parse(make_pdf([[Line("1", y=30)], [Line("2", y=30)]])).text == "1\n\n2"


def test_links_to_the_web_are_kept_and_others_are_not():
    page = [Line("See the rules, please.", y=700), Line("Run this.", y=600), Line("https://example.org/a", y=500)]
    links = [Link("https://example.org/(x)", 110, 695, 140, 712), Link("javascript:alert(1)", 72, 595, 140, 612)]
    text = parse(make_pdf([[*page, *links, Link("https://example.org/a", 72, 495, 300, 512)]])).text
    assert text == "See the [rules](https://example.org/%28x%29), please.\n\nRun this.\n\nhttps://example.org/a"


def test_visible_notes_are_read():
    assert parse(make_pdf([[*BODY, Note("Checked by Ida", 72, 600)]])).text == "\n".join(BODY) + "\n\nChecked by Ida"


def test_bullets_and_numbers_make_lists():
    page = [
        *BODY,
        Line("• a rope", gap=2),
        "• a lamp",
        Line("• a battery", x=90),
        Line("1. Go up.", gap=2),
        "2. Come down.",
    ]
    assert parse(make_pdf([page])).text.endswith("\n\n- a rope\n- a lamp\n  - a battery\n\n1. Go up.\n2. Come down.")


def test_words_hyphenated_at_the_end_of_a_line_are_joined():
    parsed = parse(make_pdf([["Some docu-", "ments are well-", "known. Well known they are."]]))
    assert parsed.text == "Some documents\nare well-known.\nWell known they are."
    marks = parsed.pages[0].unpack_marks()
    assert [parsed.text[mark.start : mark.end] for mark in marks][:4] == ["Some", "docu", "ments", "are"]
    assert marks[1].box != marks[2].box


def test_text_that_looks_like_markdown_is_escaped():
    lines = ["# comment", "```", "Title", "=====", "<!-- x", "---", "- item"]
    parsed = parse(make_pdf([[*BODY, *lines]]))
    assert parsed.text.split("\n")[2:] == ["\\# comment", "\\```", "Title", "\\=====", "\\<!-- x", "\\---", "- item"]


def test_metadata_names_title_and_author():
    parsed = parse(make_pdf([["Text."]], title="Annual report", author="Jörg"))
    assert (parsed.title, parsed.author) == ("Annual report", "Jörg")


@pytest.mark.parametrize("title", ["", "untitled", "Microsoft Word - draft.doc", "draft_v2.docx"])
def test_a_useless_title_is_replaced_by_the_heading(title: str):
    assert parse(make_pdf([[Line("Real title", 20), *BODY]], title=title)).title == "Real title"


def test_a_stamp_in_the_margin_is_no_heading():
    parsed = parse(make_pdf([[*BODY, Line("Stamped upwards", 30, gap=8, x=30, upwards=True)]]))
    assert "Stamped upwards" in parsed.text
    assert "#" not in parsed.text
    assert parsed.title is None


def test_table_of_contents_lines_are_no_headings():
    parsed = parse(make_pdf([[Line("1 Introduction . . . . . . . . 4", 20), *BODY]]))
    assert parsed.text.startswith("1 Introduction")


def test_unreadable_files_are_refused_with_the_reason(monkeypatch: pytest.MonkeyPatch):
    good = make_pdf([["Text."]])
    assert unreadable(make_pdf([["Text."]], encrypted=True)) == "encrypted"
    assert unreadable(b"%PDF-1.4\n%%EOF") == "broken"
    assert unreadable(b"") == "broken"
    assert unreadable(good[:60]) == "broken"
    assert unreadable(make_pdf([[], []])) == "empty"
    monkeypatch.setattr(ocr, "available", lambda: False)
    with pytest.raises(Unreadable, match=r"scanned; install the extra 'ocr' .*'\.\[ocr\]'"):
        parse(make_pdf([[Rule(10, 10, 100, 100)]]))


def test_pages_and_characters_are_limited(monkeypatch: pytest.MonkeyPatch):
    two = make_pdf([["One."], ["Two."]])
    monkeypatch.setattr(pdf, "MAX_PAGES", 1)
    assert unreadable(two) == "limit"
    monkeypatch.setattr(pdf, "MAX_PAGES", 5)
    monkeypatch.setattr(pdf, "MAX_CHARS", 6)
    assert unreadable(two) == "limit"


@pytest.mark.slow
def test_only_pages_without_text_go_through_text_recognition():
    out = io.BytesIO()
    picture = draw(["Snow report", "The path is closed."])
    picture.save(out, "PDF", resolution=72)
    with closing(pypdfium2.PdfDocument(make_pdf([["A page of text."]]))) as document:
        with closing(pypdfium2.PdfDocument(out.getvalue())) as scanned:
            document.import_pages(scanned)
        both = io.BytesIO()
        document.save(both)
    parsed = parse(both.getvalue())
    assert parsed.text == "A page of text.\n\n# Snow report\n\nThe path is closed."
    box = words(parsed, 1)["closed."].box
    assert box
    assert 0 < box[0] < box[2] < picture.width
    assert 0 < box[1] < box[3] < picture.height
