"""Presentations: slides, reading order, bullets, tables, charts and notes."""

import io
from pathlib import Path

import pytest
from pptx import Presentation
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.enum.shapes import MSO_SHAPE
from pptx.util import Inches

from pincite.core.documents.document import Parsed
from pincite.errors import Unreadable
from pincite.parsers.office.pptx_graphics import diagram_texts
from pincite.parsers.office.pptx_text import markdown_blocks, paragraphs
from pincite.parsers.office.zip_safety import parse_xml
from pincite.parsers.pptx import Options, make_parser
from tests.office_maker import element

OFFICE = Path(__file__).parent / "office"
PIXEL = bytes.fromhex("47494638396101000100800000ffffff00000021f90401000000002c00000000010001000002024401003b")
"""The smallest picture."""
BULLETS, TITLE_ONLY, BLANK = 1, 5, 6


class Deck:
    """A presentation being made."""

    def __init__(self) -> None:
        self.deck = Presentation()
        self.deck.core_properties.title = ""

    def slide(self, layout: int, title: str = "") -> object:
        made = self.deck.slides.add_slide(self.deck.slide_layouts[layout])
        if title:
            made.shapes.title.text = title
        return made

    def parse(self) -> Parsed:
        target = io.BytesIO()
        self.deck.save(target)
        return make_parser(Options()).parse(target.getvalue())


def refs(parsed: Parsed, number: int = 0) -> dict[str, str]:
    return {mark.ref: parsed.text[mark.start : mark.end] for mark in parsed.pages[number].unpack_marks()}


def box(slide, text: str, left: float, top: float):  # type: ignore[no-untyped-def]
    shape = slide.shapes.add_textbox(Inches(left), Inches(top), Inches(2), Inches(0.5))
    shape.text_frame.text = text
    return shape


def test_a_presentation_saved_by_libreoffice_comes_out_right():
    parsed = make_parser(Options()).parse((OFFICE / "talk.pptx").read_bytes())
    assert parsed.text == (OFFICE / "talk.md").read_text("utf-8")
    assert [(page.kind, page.name) for page in parsed.pages] == [("slide", "A season at Fjellstua"), ("slide", "")]
    assert refs(parsed)["title"] == "# A season at Fjellstua"
    assert refs(parsed)["notes"] == "Thank the volunteers."
    assert refs(parsed, 1)["table 1, row 2"] == "| July | 611 |"
    assert parsed.text[parsed.pages[1].start :].startswith("# Slide 2")


def test_text_is_read_row_by_row_and_groups_stay_together():
    deck = Deck()
    slide = deck.slide(TITLE_ONLY, "Order")
    box(slide, "four", 1, 5)
    box(slide, "three", 6, 3.1)
    box(slide, "two", 1, 3)
    group = slide.shapes.add_group_shape()
    for text, left in (("second", 3), ("first", 1)):
        shape = group.shapes.add_shape(MSO_SHAPE.RECTANGLE, Inches(left), Inches(2), Inches(1), Inches(0.5))
        shape.text_frame.text = text
    parsed = deck.parse()
    assert parsed.text == "# Order\n\nfirst\n\nsecond\n\ntwo\n\nthree\n\nfour"
    assert parsed.title == "Order"


def test_bullets_have_levels_and_boxes_have_none():
    deck = Deck()
    slide = deck.slide(BULLETS, "Points")
    frame = slide.placeholders[1].text_frame
    frame.text = "one"
    for text, level in (("deeper", 1), ("deepest", 2), ("two", 0)):
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = text, level
    box(slide, "no bullet", 1, 6)
    assert deck.parse().text == "# Points\n\n- one\n  - deeper\n    - deepest\n- two\n\nno bullet"


def test_numbers_are_counted_and_breaks_kept():
    body = element(
        "p:txBody",
        "<a:p><a:pPr><a:buAutoNum type='arabicPeriod' startAt='3'/></a:pPr><a:r><a:t>three</a:t></a:r></a:p>"
        "<a:p><a:pPr lvl='1'><a:buAutoNum type='alphaLcParenBoth'/></a:pPr><a:r><a:t>a</a:t></a:r></a:p>"
        "<a:p><a:pPr><a:buAutoNum type='arabicPeriod' startAt='3'/></a:pPr><a:r><a:t>four</a:t></a:r></a:p>"
        "<a:p><a:pPr><a:buNone/></a:pPr><a:r><a:t># no</a:t></a:r><a:br/><a:r><a:t>list</a:t></a:r></a:p>",
    )
    assert list(markdown_blocks(paragraphs(parse_xml(body.encode()), {}))) == [
        "3. three\n   - (a) a\n4. four",
        "\\# no\nlist",
    ]


def test_slides_without_title_hidden_slides_and_empty_ones():
    deck = Deck()
    deck.slide(BLANK)
    box(deck.slide(BLANK), "alone", 1, 1)
    hidden = deck.slide(TITLE_ONLY, "Secret")
    hidden._element.set("show", "0")  # type: ignore[attr-defined]
    parsed = deck.parse()
    assert parsed.text == "# Slide 2\n\nalone\n\n# Secret\n\n(hidden slide)"
    assert parsed.page_starts == (0, 0, parsed.text.index("# Secret"))
    assert parsed.title == "Secret"


def test_tables_links_and_notes():
    deck = Deck()
    slide = deck.slide(TITLE_ONLY, "Prices")
    made = slide.shapes.add_table(3, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
    for row, cells in enumerate((("Item", "€"), ("Tea", "2|50"), ("", "3"))):
        for column, text in enumerate(cells):
            made.cell(row, column).text = text
    made.cell(1, 0).merge(made.cell(2, 0))
    run = box(slide, "see ", 1, 6).text_frame.paragraphs[0].add_run()
    run.text, run.hyperlink.address = "there", "https://example.org/"
    slide.notes_slide.notes_text_frame.text = "Say\nthanks"
    parsed = deck.parse()
    assert parsed.text == (
        "# Prices\n\n| Item | € |\n| --- | --- |\n| Tea | 2\\|50 |\n"
        "| Tea | 3 |\n\nsee [there](https://example.org/)\n\n"
        "Speaker notes:\n\nSay\n\nthanks"
    )
    assert refs(parsed)["table 1, row 3"] == "| Tea | 3 |"


def test_charts_are_tables_of_their_numbers_as_shown():
    deck = Deck()
    slide = deck.slide(TITLE_ONLY, "Chart")
    data = CategoryChartData(number_format="0.0%")
    data.categories = ["East", "West"]
    data.add_series("2025", (0.25, 0.5))
    data.add_series("2026", (0.125, None))
    place = (Inches(1), Inches(2), Inches(4), Inches(3))
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Share"
    points = XyChartData()
    points.add_series("Track").add_data_point(0.7, 2.7)
    slide.shapes.add_chart(XL_CHART_TYPE.XY_SCATTER, Inches(1), Inches(5), Inches(4), Inches(2), points)
    parsed = deck.parse()
    assert parsed.text == (
        "# Chart\n\nShare\n\n|  | 2025 | 2026 |\n| --- | --- | --- |\n| East | 25.0% | 12.5% |\n| West | 50.0% |  |\n\n"
        "|  | Track |\n| --- | --- |\n| 0.7 | 2.7 |"
    )
    assert refs(parsed)["chart 1, row 3"] == "| West | 50.0% |  |"
    assert refs(parsed)["chart 2, row 2"] == "| 0.7 | 2.7 |"


def test_alternative_texts_of_pictures_are_kept():
    deck = Deck()
    slide = deck.slide(TITLE_ONLY, "Places")
    for descr in ("The hut in snow", "A house\nDescription automatically generated"):
        shown = slide.shapes.add_picture(io.BytesIO(PIXEL), Inches(1), Inches(3))
        shown._element.nvPicPr.cNvPr.set("descr", descr)
    parsed = deck.parse()
    assert parsed.text == "# Places\n\n(picture: The hut in snow)"
    assert refs(parsed)["picture 1"] == "(picture: The hut in snow)"


def test_diagrams_are_lists_of_their_boxes():
    point = "<dgm:pt><dgm:t><a:p><a:r><a:t>{}</a:t></a:r></a:p></dgm:t></dgm:pt>"
    data = element("dgm:dataModel", f"<dgm:ptLst>{point.format('Plan')}<dgm:pt/>{point.format('Build')}</dgm:ptLst>")
    assert diagram_texts(parse_xml(data.encode())) == ["Plan", "Build"]


def test_a_presentation_without_text_is_refused():
    deck = Deck()
    deck.slide(BLANK)
    with pytest.raises(Unreadable) as refusal:
        deck.parse()
    assert refusal.value.code == "empty"
