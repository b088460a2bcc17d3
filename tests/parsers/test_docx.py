"""Word documents: what their styles, lists, tables, notes and changes become."""

from pathlib import Path

import pytest

from pincite.core.documents.document import Parsed
from pincite.errors import Unreadable
from pincite.parsers.docx import Options, make_parser
from tests.office_maker import element, make_docx, make_zip, p, relations

OFFICE = Path(__file__).parent / "office"


def parse(data: bytes) -> Parsed:
    return make_parser(Options()).parse(data)


def text_of(body: str, **more: object) -> str:
    return parse(make_docx(body, **more)).text  # type: ignore[arg-type]


def style(name: str) -> str:
    return f'<w:pStyle w:val="{name}"/>'


def listed(num: int, level: int = 0) -> str:
    return f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{num}"/></w:numPr>'


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def row(*cells: str) -> str:
    return f"<w:tr>{''.join(cells)}</w:tr>"


def cell(content: str, properties: str = "") -> str:
    inner = content if content.startswith("<") else p(content)
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{inner}</w:tc>"


def table(*rows: str) -> str:
    return f"<w:tbl>{''.join(rows)}</w:tbl>"


def test_a_document_saved_by_libreoffice_comes_out_right():
    parsed = parse((OFFICE / "handbook.docx").read_bytes())
    assert parsed.text == (OFFICE / "handbook.md").read_text("utf-8")
    assert (parsed.title, parsed.author) == ("Hut handbook", "Mira Holm")
    assert parsed.description == "For wardens of the Fjellstua hut"
    assert parsed.page_starts == ()
    (page,) = parsed.pages
    assert (page.kind, page.start) == ("text", 0)
    found = {mark.ref: parsed.text[mark.start : mark.end] for mark in page.unpack_marks()}
    assert found["table 1, row 3"] == r"| Summer | Child \| teen | 24 € |"
    assert found["footnote 1"] == "[^1]: The station at Skarvet reports every hour."
    assert found["paragraph 6"] == "   - a) North side"


# Headings

STYLES = """
<w:style w:type="paragraph" w:default="1" w:styleId="Standard"><w:name w:val="Normal"/></w:style>
<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/><w:basedOn w:val="Standard"/></w:style>
<w:style w:type="paragraph" w:styleId="Kapitel"><w:name w:val="Kapitel"/><w:basedOn w:val="berschrift1"/></w:style>
<w:style w:type="paragraph" w:styleId="Abschnitt"><w:name w:val="Abschnitt"/>
  <w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="Untertitel"><w:name w:val="Subtitle"/><w:basedOn w:val="berschrift1"/></w:style>
<w:style w:type="paragraph" w:styleId="Code"><w:name w:val="Source Code"/></w:style>
<w:style w:type="paragraph" w:styleId="TOC1"><w:name w:val="toc 1"/></w:style>
<w:style w:type="paragraph" w:styleId="loop"><w:name w:val="loop"/><w:basedOn w:val="loop"/></w:style>
"""


@pytest.mark.parametrize(
    ("properties", "written"),
    [
        (style("berschrift1"), "# Words"),
        (style("Kapitel"), "# Words"),
        (style("Abschnitt"), "### Words"),
        (style("Titel"), "# Words"),
        (style("Untertitel"), "Words"),
        (style("loop"), "Words"),
        (style("Heading4"), "#### Words"),
        ('<w:outlineLvl w:val="1"/>', "## Words"),
        ('<w:outlineLvl w:val="9"/>', "Words"),
        ("", "Words"),
    ],
)
def test_headings_are_detected_by_style_name_parent_style_and_outline_level(properties: str, written: str):
    assert text_of(p("Words", properties), parts={"styles": STYLES}) == written


def test_the_title_is_the_files_own_else_the_one_styled_so_else_the_first_heading():
    body = p("Chapter", style("berschrift1")) + p("Told", style("Titel"))
    core = "<dc:title>Said</dc:title><dc:creator>Ann</dc:creator><cp:keywords>a, b;a</cp:keywords>"
    said = parse(
        make_docx(
            body, parts={"styles": STYLES}, core=core + "<dc:subject>On it</dc:subject><cp:category>Law</cp:category>"
        )
    )
    assert (said.title, said.author, said.tags, said.description) == ("Said", "Ann", ("a", "b"), "On it")
    assert said.category == "Law"
    assert parse(make_docx(body, parts={"styles": STYLES}, core="<dc:title>Word Document</dc:title>")).title == "Told"
    assert parse(make_docx(p("Chapter", style("berschrift1")), parts={"styles": STYLES})).title == "Chapter"
    assert parse(make_docx(p("Words"))).title is None


def bold(text: str) -> str:
    return f"<w:r><w:rPr><w:b/></w:rPr><w:t>{text}</w:t></w:r>"


def test_without_headings_short_bold_lines_are_taken_for_them():
    body = (
        p(bold("Scope"))
        + p(bold("Never") + run(" do this"))
        + p(bold("Table 1: All"))
        + p(bold("Read this."))
        + p("Words")
    )
    assert text_of(body) == "## Scope\n\nNever do this\n\nTable 1: All\n\nRead this.\n\nWords"
    headed = p("Chapter", style("berschrift1")) + p(bold("Scope"))
    assert text_of(headed, parts={"styles": STYLES}) == "# Chapter\n\nScope"


def test_code_keeps_its_lines_together():
    body = p("let a = 1", style("Code")) + p("  ```", style("Code")) + p("After")
    assert text_of(body, parts={"styles": STYLES}) == "````\nlet a = 1\n  ```\n````\n\nAfter"


def test_a_table_of_contents_is_one_block_of_lines():
    body = "".join(p(f"{run(name)}<w:r><w:tab/></w:r>{run('3')}", style("TOC1")) for name in ("One", "Two"))
    assert text_of(body, parts={"styles": STYLES}) == "One\t3\nTwo\t3"


# Lists


def level(index: int, kind: str, pattern: str, more: str = "") -> str:
    numbering = f'<w:start w:val="1"/><w:numFmt w:val="{kind}"/>{more}<w:lvlText w:val="{pattern}"/>'
    return f'<w:lvl w:ilvl="{index}">{numbering}</w:lvl>'


NUMBERING = (
    f'<w:abstractNum w:abstractNumId="0">{level(0, "bullet", "•")}{level(1, "bullet", "o")}</w:abstractNum>'
    f'<w:abstractNum w:abstractNumId="1">{level(0, "decimal", "%1.")}{level(1, "lowerLetter", "(%2)")}</w:abstractNum>'
    f'<w:abstractNum w:abstractNumId="2">{level(0, "upperRoman", "%1")}{level(1, "decimal", "%1.%2", "<w:isLgl/>")}'
    "</w:abstractNum>"
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
    '<w:num w:numId="3"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/>'
    '</w:lvlOverride></w:num><w:num w:numId="4"><w:abstractNumId w:val="2"/></w:num>'
)


def test_lists_nest_and_count_as_word_counts():
    body = (
        p("one", listed(2))
        + p("a", listed(2, 1))
        + p("b", listed(2, 1))
        + p("two", listed(2))
        + p("again", listed(2, 1))
        + p("between")
        + p("three", listed(2))
        + p("five", listed(3))
        + p("dot", listed(1))
        + p("deep", listed(1, 1))
    )
    assert text_of(body, parts={"numbering": NUMBERING}) == (
        "1. one\n   - (a) a\n   - (b) b\n2. two\n   - (a) again\n\nbetween\n\n3. three\n5. five\n- dot\n  - deep"
    )


def test_numbered_headings_show_their_numbers():
    styles = STYLES + (
        f'<w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/><w:pPr>{listed(4, 1)}</w:pPr></w:style>'
    )
    body = p("Scope", style("berschrift1") + listed(4)) + p("Terms", style("H2")) + p("Rules", style("H2"))
    written = text_of(body, parts={"numbering": NUMBERING, "styles": styles})
    assert written == "# I Scope\n\n## 1.1 Terms\n\n## 1.2 Rules"


def test_list_id_zero_and_unknown_lists_give_plain_paragraphs():
    body = p("plain", listed(0)) + p("lost", listed(99)) + p("in", listed(1, 8))
    assert text_of(body, parts={"numbering": NUMBERING}) == "plain\n\nlost\n\n- in"


# Words


def test_tracked_changes_are_accepted():
    body = p(
        run("The fee is ") + f"<w:ins>{run('40')}</w:ins>" + "<w:del><w:r><w:delText>30</w:delText></w:r></w:del>"
        f"<w:moveFrom>{run('gone')}</w:moveFrom><w:moveTo>{run(' euros')}</w:moveTo>" + run(".")
    )
    joined = p("First ", "<w:rPr><w:del/></w:rPr>") + p("second.")
    rows = table(row(cell("a"), cell("b")), "<w:tr><w:trPr><w:del/></w:trPr><w:tc><w:p/></w:tc></w:tr>")
    assert text_of(body + joined + rows) == "The fee is 40 euros.\n\nFirst second.\n\n| a | b |\n| --- | --- |"


def test_links_are_kept_where_they_lead_to_the_web():
    field = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>HYPERLINK "https://example.org/f"</w:instrText>'
        '</w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>'
        f'{run("field")}<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    body = p(
        f'<w:hyperlink r:id="web" w:anchor="part">{run("here")}</w:hyperlink>{run(" and ")}'
        f'<w:hyperlink w:anchor="below">{run("below")}</w:hyperlink>{run(" and ")}'
        f'<w:hyperlink r:id="disk">{run("disk")}</w:hyperlink>{run(" and ")}{field}'
    )
    links = {"web": ("hyperlink", "https://example.org/a"), "disk": ("hyperlink", "file:///etc/passwd")}
    assert text_of(body, links=links) == (
        "[here](https://example.org/a#part) and below and disk and [field](https://example.org/f)"
    )


def test_fields_show_their_results_and_controls_their_content():
    body = p(
        '<w:fldSimple w:instr="DATE"><w:r><w:t>4 July</w:t></w:r></w:fldSimple>'
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>IF</w:instrText><w:t>hidden</w:t></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>: yes</w:t></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    controls = f"<w:sdt><w:sdtPr/><w:sdtContent>{p('chosen')}</w:sdtContent></w:sdt>"
    box = (
        '<w:r><w:fldChar w:fldCharType="begin"><w:ffData>'
        "<w:checkBox><w:checked/></w:checkBox></w:ffData></w:fldChar></w:r>"
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    assert text_of(body + controls + p(box + run(" agreed"))) == "4 July: yes\n\nchosen\n\n☒ agreed"


def test_breaks_signs_and_hidden_text():
    body = p(
        "<w:r><w:t>a</w:t><w:br/><w:t># b</w:t><w:tab/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t><w:softHyphen/>"
        '<w:sym w:font="Wingdings" w:char="F0FC"/><w:sym w:char="F0FF"/></w:r>'
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>"
        '<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>!</w:t></w:r><w:commentRangeStart/>'
    )
    assert text_of(body) == "a\n\\# b\tc-d✓!"


def test_formulas_are_written_on_one_line():
    fraction = "<m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f>"
    power = "<m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>"
    assert text_of(p(f"<m:oMath>{power}<m:r><m:t>=</m:t></m:r>{fraction}</m:oMath>")) == "x^2=(a)/(b)"


def test_notes_stand_below_the_paragraph_that_refers_to_them():
    note = "<w:footnote w:id='7'><w:p><w:r><w:footnoteRef/></w:r><w:r><w:t>See there.</w:t></w:r></w:p></w:footnote>"
    line = "<w:footnote w:type='separator' w:id='0'><w:p/></w:footnote>"
    last = f"<w:endnote w:id='1'>{p('The end.')}</w:endnote>"
    body = p(run("Said") + '<w:r><w:footnoteReference w:id="7"/></w:r>' + run(".")) + p(
        run("More") + '<w:r><w:endnoteReference w:id="1"/><w:footnoteReference w:id="7"/></w:r>'
    )
    parsed = parse(make_docx(body, parts={"footnotes": line + note, "endnotes": last}))
    assert parsed.text == "Said[^1].\n\n[^1]: See there.\n\nMore[^e1][^1]\n\n[^e1]: The end."
    assert [mark.ref for mark in parsed.pages[0].unpack_marks()] == [
        "paragraph 1",
        "footnote 1",
        "paragraph 2",
        "endnote 1",
    ]


def test_text_boxes_follow_their_paragraph_and_are_written_once():
    content = f"<w:txbxContent>{p('In the box')}</w:txbxContent>"
    box = (
        f"<w:r><mc:AlternateContent><mc:Choice><w:drawing><a:x>{content}</a:x></w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict><v:shape><v:textbox>{content}</v:textbox></v:shape></w:pict></mc:Fallback>"
        "</mc:AlternateContent></w:r>"
    )
    parsed = parse(make_docx(p(run("Beside") + box) + p("After")))
    assert parsed.text == "Beside\n\nIn the box\n\nAfter"
    assert [mark.ref for mark in parsed.pages[0].unpack_marks()] == ["paragraph 1", "text box 1", "paragraph 2"]


def test_the_alternative_text_of_a_picture_is_kept_in_place():
    def drawing(descr: str) -> str:
        return f'<w:r><w:drawing><a:inline><a:docPr id="1" name="x" descr="{descr}"/></a:inline></w:drawing></w:r>'

    body = p(drawing("A map of the lake")) + p(run("See ") + drawing("image1.png") + run("below."))
    assert text_of(body) == "(picture: A map of the lake)\n\nSee below."


# Tables


def test_merged_cells_are_repeated_downwards_and_above_columns():
    down, on = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    body = table(
        row(cell("Region"), cell("Sales", '<w:gridSpan w:val="2"/>')),
        row(cell("North", down), cell("1"), cell("2")),
        row(cell("", on), cell("3"), cell("4")),
        row(cell("Total", '<w:gridSpan w:val="2"/>'), cell("10")),
    )
    assert text_of(body) == (
        "| Region | Sales | Sales |\n| --- | --- | --- |\n| North | 1 | 2 |\n| North | 3 | 4 |\n| Total |  | 10 |"
    )


def test_a_first_row_with_a_single_text_is_written_before_the_table():
    body = table(
        row(cell("Prices", '<w:gridSpan w:val="2"/>')), row(cell("Item"), cell("€")), row(cell("Tea"), cell("2"))
    )
    parsed = parse(make_docx(body))
    assert parsed.text == "Prices\n\n| Item | € |\n| --- | --- |\n| Tea | 2 |"
    assert [mark.ref for mark in parsed.pages[0].unpack_marks()] == [
        "table 1, row 1",
        "table 1, row 2",
        "table 1, row 3",
    ]


def test_nested_tables_come_after_the_one_they_are_in():
    inner = table(row(cell("x"), cell("y")))
    body = table(row(cell("a"), cell("b")), row(cell("c"), cell(p("d") + inner + p(""))))
    assert text_of(body) == "| a | b |\n| --- | --- |\n| c | d |\n\n| x | y |\n| --- | --- |"


def test_a_table_used_for_layout_is_not_written_as_a_table():
    body = table(row(cell(p("Chapter", style("berschrift1")) + p("Words")), cell("Beside")))
    parsed = parse(make_docx(body, parts={"styles": STYLES}))
    assert parsed.text == "# Chapter\n\nWords\n\nBeside"
    assert {mark.ref for mark in parsed.pages[0].unpack_marks()} == {"table 1, row 1"}


# What is no Word document


def test_files_without_text_and_other_types_are_refused():
    with pytest.raises(Unreadable) as refusal:
        parse(make_docx(p("") + table(row(cell("")))))
    assert refusal.value.code == "empty"
    deck = {"_rels/.rels": relations({"a": ("officeDocument", "p.xml")}), "p.xml": element("p:presentation", "")}
    with pytest.raises(Unreadable, match="it is a presentation, not a Word document"):
        parse(make_zip(deck))
    with pytest.raises(Unreadable, match="not an Office document"):
        parse(make_zip({"a.txt": "text"}))


def test_deep_nesting_is_read_or_refused():
    deep = p("bottom")
    for _ in range(70):
        deep = table(row(cell(deep), cell("beside")))
    assert "bottom" in text_of(deep)
    controls = "<w:sdt><w:sdtContent>" * 110 + p("inside") + "</w:sdtContent></w:sdt>" * 110
    assert text_of(controls) == "inside"
    with pytest.raises(Unreadable):
        text_of("<w:sdt>" * 300 + "</w:sdt>" * 300)


def test_external_templates_and_pictures_are_never_fetched():
    links = {"t": ("attachedTemplate", "http://127.0.0.1:9/evil.dotm"), "i": ("image", "http://127.0.0.1:9/x.png")}
    assert text_of(p("Words"), links=links) == "Words"
