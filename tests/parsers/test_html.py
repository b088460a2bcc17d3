"""Web pages: main content, structure, and what they say about themselves; `pages/` holds layouts that people meet."""

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pincite.core.documents.document import Parsed
from pincite.errors import Unreadable
from pincite.parsers.html import Options, declared, make_parser
from pincite.text.markdown_blocks import blocks
from pincite.text.sentences import normalise

PARSER = make_parser(Options())
PAGES = sorted(path for path in (Path(__file__).parent / "pages").iterdir() if path.suffix != ".md")


def read(body: str, head: str = "") -> Parsed:
    return PARSER.parse(f"<!doctype html><html><head>{head}</head><body>{body}</body></html>".encode())


def text(body: str, head: str = "") -> str:
    return read(body, head).text


def or_refused(body: str) -> str:
    """The text, without the signs of lists and quotations before it, or why there is none."""
    try:
        return text(body).lstrip("-> ")
    except Unreadable as refused:
        return refused.code


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_becomes_the_markdown_it_should(page: Path):
    parsed = PARSER.parse(page.read_bytes())
    assert parsed.text + "\n" == page.with_suffix(".md").read_text(encoding="utf-8")
    assert parsed.markup == "markdown"
    assert normalise(parsed.text) == parsed.text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_marks_say_what_stands_where(page: Path):
    parsed = PARSER.parse(page.read_bytes())
    [whole] = parsed.pages
    assert (whole.kind, whole.start, parsed.page_starts) == ("text", 0, ())
    marked = {mark.ref: parsed.text[mark.start : mark.end] for mark in whole.unpack_marks()}
    assert len(marked) == len(whole.unpack_marks())
    for ref, words in marked.items():
        assert words.strip() != ""
        assert words == words.strip("\n")
        assert words.lstrip("> ").startswith("|") == ref.startswith("table"), ref
        assert words.startswith("#") == ref.startswith("heading"), ref


def test_a_table_s_row_is_found_by_its_number():
    parsed = PARSER.parse((Path(__file__).parent / "pages/news.html").read_bytes())
    marked = {mark.ref: parsed.text[mark.start : mark.end] for mark in parsed.pages[0].unpack_marks()}
    assert marked["table 1, row 1"] == "| Abschnitt | Bauzeit Beginn | Bauzeit Ende |"
    assert marked["table 1, row 3"] == "| Nord | Juli | August |"
    assert marked["heading 1"] == "# Stadtrat beschließt Radweg"


def test_a_page_says_who_wrote_it_what_about_and_where_it_is():
    parsed = PARSER.parse((Path(__file__).parent / "pages/blog.html").read_bytes())
    assert (parsed.title, parsed.author) == ("Keeping sourdough alive", "Mara Lindqvist")
    assert parsed.description == "How to feed a starter that you use once a week."
    assert parsed.tags == ("bread", "sourdough", "starter")
    assert parsed.source_urls == ("https://slowkitchen.example/2024/sourdough",)


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title>A – Site</title>", "<h1>A</h1><p>x</p>", "A"),
        ("<title>Site</title>", "<h1>Another</h1><p>x</p>", "Site"),
        (
            "<title>Tide 3.2 “Barge” – Release notes</title>",
            "<h1>Release notes</h1><p>x</p>",
            "Tide 3.2 “Barge” – Release notes",
        ),
        ("", "<h1>Only  <b>here</b></h1><p>x</p>", "Only here"),
        ("<meta property='og:title' content='Shared'>", "<p>x</p>", "Shared"),
        ("<title>  </title>", "<p>x</p>", None),
    ],
)
def test_the_title_is_what_a_reader_would_call_it(head: str, body: str, title: str | None):
    assert read(body, head).title == title


@pytest.mark.parametrize(
    "furniture",
    [
        "<nav>menu</nav>", "<aside>menu</aside>", "<footer>menu</footer>", "<header>menu</header>",
        "<div role=navigation>menu</div>", "<div class='cookie-consent'>menu</div>", "<div id=sidebar>menu</div>",
        "<div class=site-footer>menu</div>", "<form><label>menu</label><input></form>", "<div hidden>menu</div>",
        "<p style='color:red; display: none'>menu</p>", "<div aria-hidden=true>menu</div>", "<script>menu</script>",
        "<style>menu</style>", "<noscript>menu</noscript>", "<template>menu</template>", "<svg><text>menu</text></svg>",
        "<ul><li><a href=/1>menu</a><li><a href=/2>menu</a><li><a href=/3>menu</a></ul>", "<iframe>menu</iframe>",
        "<button>menu</button>", "<select><option>menu</select>", "<span class='sr-only'>menu</span>",
        "<dialog>menu</dialog>", "<div class='share'>menu</div>", "<!-- menu -->",
    ],
)  # fmt: skip
def test_what_is_no_content_is_left_out(furniture: str):
    prose = "<p>" + "The content of the page is here. " * 5 + "</p>"
    assert "menu" not in text(f"{furniture}<div>{prose}</div>{furniture}")


@pytest.mark.parametrize(
    "body",
    [
        "<div class='has-sidebar'><p>{}</p></div>",
        "<div id=menu><p>{}</p></div>",
        "<form id=whole><div><p>{}</p></div></form>",
        "<main><header><p>{}</p></header></main>",
        "<article><aside class='note'><p>{}</p></aside></article>",
        "<table><tr><td>{}</td></tr></table>",
        "<div><font><center>{}</center></font></div>",
        "{}",
        "<main></main><div>{}</div>",
        "<article>short</article><article><p>{}</p></article>",
    ],
)
def test_what_is_content_is_kept_whatever_it_is_called(body: str):
    prose = "The content of the page is here, all of it. " * 20
    assert prose.strip() in text(body.format(prose))


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("x<sup>2</sup> and CO<sub>2</sub>", "x² and CO₂"),
        ("the 5<sup>th</sup>", "the 5th"),
        ("said so<sup><a href='#n1'>[1]</a></sup>.", "said so."),
        ("NAME<sub>except a <a href='#k'>keyword</a></sub>", "NAME except a keyword"),
        ("<code>a  b</code>, <kbd>x</kbd>, <q>y</q>, <s>z</s>", "`a b`, `x`, “y”, ~~z~~"),
        ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>", "漢"),
        ("a<br>b<br><br>c", "a\nb\n\nc"),
        ("<img alt='A long description'> <img alt='x.png'> <img>", "(image: A long description)"),
    ],
)
def test_signs_within_a_line_are_what_they_mean(html: str, shown: str):
    assert text(f"<p>{html}</p>") == shown


def test_a_page_that_is_all_menu_is_a_menu():
    dishes = "".join(
        f"<div class='menu-item'><p>Dish {n}, with potatoes and a salad of the season</p></div>" for n in range(12)
    )
    shown = text(f"<div class='page'><h1>Menu</h1>{dishes}</div><nav>Home</nav>")
    assert shown.startswith("# Menu\n\nDish 0, with potatoes")
    assert "Home" not in shown


def test_names_within_a_line_are_for_the_looks():
    code = "<pre><span class=linenos>1</span>let x; <span class='hljs-comment'>// why</span></pre>"
    assert "let x; // why" in text(f"<main><p>See</p>{code}</main>")
    assert "\n1" not in text(f"<main><p>See</p>{code}</main>")


def test_links_between_paragraphs_belong_to_the_text():
    links = "".join(f"<li><a href='https://x.example/{n}'>Report {n}</a></li>" for n in range(5))
    prose = "The content of the page is here, all of it. " * 5
    assert "[Report 4](https://x.example/4)" in text(f"<p>{prose}</p><p>Reports:</p><ul>{links}</ul><p>{prose}</p>")


def test_what_leads_into_the_largest_part_is_kept():
    long = "<p>" + "A long account of it all. " * 200 + "</p>"
    for tag in ("main", "div"):
        shown = text(f"<{tag}><h1>Title</h1><p>In short: it works.</p><div>{long}</div></{tag}><p>Site name</p>")
        assert shown.startswith("# Title\n\nIn short: it works.")


@pytest.mark.parametrize(
    "body",
    [
        "<table><tr><td>Tea</td><td>2.50</td></tr><tr><td>Mate</td><td>3</td></tr><tr><td>Cocoa</td><td>4</td></tr></table>",
        "<div><div>Tea 2.50</div><div>Mate 3</div><div>Cocoa, hot 4</div></div>",
        "Tea 2.50<div>Mate 3, as long as there is some of it left in the kitchen</div>Cocoa 4",
        "<div><div><a href='/t'>Tea 2.50</a></div><div><a href='/m'>Mate 3</a></div><div><a href='/c'>Cocoa 4</a></div></div>",
    ],
)
def test_a_page_of_short_pieces_keeps_all_of_them(body: str):
    assert all(word in text(body) for word in ("Tea", "2.50", "Mate", "3", "Cocoa", "4"))


@pytest.mark.parametrize("marked", ["itemprop=articleBody", "class='post entry-content'", "class=e-content"])
def test_an_article_is_its_text_from_its_title_on(marked: str):
    body = "<p>" + "A long account of it all. " * 40 + "</p>"
    around = "<div><p>Another story that has nothing to do with it, but is told in whole sentences as well.</p></div>"
    page = (
        f"<h1>The Site</h1>{around}<div><h1>Bees</h1><p>In short: they hum.</p></div><div {marked}>{body}</div>{around}"
    )
    assert text(page).startswith("# Bees\n\nIn short: they hum.\n\nA long account")
    assert "Another story" not in text(page)


def test_an_article_without_a_title_begins_where_it_says():
    body = "<div itemprop=articleBody><p>" + "A long account of it all. " * 40 + "</p></div>"
    lead = "<p itemprop=description>In short: they hum.</p>"
    page = f"<div>Ten more stories of today</div><div itemscope><h3>Bees</h3>{lead}{body}<p>Tags: bees</p></div>"
    assert text(page).startswith("### Bees\n\nIn short: they hum.\n\nA long account")
    assert "Tags" not in text(page)


def test_several_articles_on_a_page_are_all_kept():
    entries = "".join(
        f"<div class=entry-content><p>{f'The story number {n} is told here. ' * 9}</p></div>" for n in range(3)
    )
    assert all(f"number {n}" in text(entries) for n in range(3))


def test_of_two_main_parts_alike_neither_is_left_out():
    parts = [
        f"<section role=main><p>{f'The {which} part is told here. ' * 20}</p></section>" for which in ("first", "other")
    ]
    assert all(which in text("".join(parts)) for which in ("first", "other"))
    assert "aside" not in text(f"{parts[0] * 3}<div role=main>aside</div>".replace("</section><section role=main>", ""))


def test_a_heading_is_no_furniture_by_the_words_it_is_made_of():
    prose = "<p>" + "Say why, not what. " * 20 + "</p>"
    shown = text(f"<main><h2 id='writing-useful-comments'>Writing useful comments</h2>{prose}</main>")
    assert shown.startswith("## Writing useful comments\n\nSay why")


def test_a_place_to_link_to_is_no_link():
    part = "<div><h3><a name='{0}'/>{0} ()</h3><pre>void {0}(void)</pre><p>Ends it.</p></div>"
    prose = "<div><p><a href=/x>See</a> " + "the content of the page here. " * 9 + "</p></div>"
    assert "void free_all(void)" in text(f"<div>{part.format('free_all')}<hr>{part.format('free_one')}</div>{prose}")


def test_a_list_of_links_in_a_wrapper_belongs_to_the_text_around_it():
    links = "".join(f"<li><p><a href='https://x.example/{n}'>Report {n}</a></p></li>" for n in range(5))
    prose = "The content of the page is here, all of it. " * 5
    page = f"<div><p>{prose}</p><div class=itemizedlist><ul>{links}</ul></div><p>{prose}</p></div>"
    assert "[Report 4](https://x.example/4)" in text(page)


@pytest.mark.parametrize(
    "named", ["two-related-articles", "rightRail", "ArticleSidebar", "trending", "l-sidebar-fixed"]
)
def test_furniture_is_told_by_any_piece_of_its_name(named: str):
    prose = "<p>" + "The content of the page is here. " * 5 + "</p>"
    assert "menu" not in text(f"<main>{prose}<div class='{named}'>menu of others</div></main>")


HIDDEN = [
    "<p style='opacity: 0'>{}</p>", "<p style='opacity:0.00;x:y'>{}</p>", "<p style='visibility:collapse'>{}</p>",
    "<p style='content-visibility:hidden'>{}</p>", "<p popover>{}</p>", "<p style='text-indent:-9999px'>{}</p>",
    "<p style='position:absolute; left:-10000px'>{}</p>", "<p style='transform:scale(0)'>{}</p>",
    "<p style='position:absolute;clip:rect(0 0 0 0)'>{}</p>", "<p style='clip-path: inset(100%)'>{}</p>",
    "<div style='height:0;overflow:hidden'>{}</div>", "<div style='overflow:hidden;max-height:0px'><p>{}</p></div>",
    "<p style='font-size:0'>{}</p>", "<p style='font-size:1px'>{}</p>", "<p style='font-size:0'><b style='font-size:2em'>{}</b></p>",
    "<p style='color:#fff;background:#FFFFFF'>{}</p>", "<p style='color:white'>{}</p>", "<p><font color='#fefefe'>{}</font></p>",
    "<table bgcolor=black><tr><td style='color:rgb(0,0,0)'>{}</td></tr></table>", "<p style='color:rgba(250,250,250,1)'>{}</p>",
    "<div style='background:#036'><p style='background:none'><span style='color:#003366'>{}</span></p></div>",
    "<style>.gone{{display:none}}</style><p class='x gone'>{}</p>", "<style>a,#gone,b{{x:y;visibility:hidden}}</style><p id=gone>{}</p>",
    "<style>/* }} */ @media print{{.a{{x:y}}}} .gone{{display:none}}</style><p class=gone>{}</p>",
]  # fmt: skip


@pytest.mark.parametrize("hidden", HIDDEN)
def test_words_that_nobody_can_see_are_left_out(hidden: str):
    prose = "<p>" + "The content of the page is here. " * 5 + "</p>"
    assert "secret" not in text(f"<main>{prose}{hidden.format('secret words')}{prose}</main>")


@pytest.mark.parametrize(
    "seen",
    [
        "<p style='opacity:0.4'>{}</p>", "<p style='color:#fff;background:#036'>{}</p>", "<p bgcolor=white color=black>{}</p>",
        "<link rel=stylesheet href=x.css><div class=hero><p style='color:#fff'>{}</p></div>",
        "<link rel=stylesheet href=x.css><div style='background:#fff'><div class=hero><p style='color:#fff'>{}</p></div></div>",
        "<div style='color:#fff;background:#fff'><p style='color:#000'>{}</p></div>", "<p style='color:#fff'><a href=/x>{}</a></p>",
        "<div style='background:url(x.png)'><p style='color:#fff'>{}</p></div>", "<p style='background-color:#fff'>{}</p>",
        "<div style='font-size:0'><p style='font-size:16px'>{}</p></div>", "<p style='font-size:0.9em'>{}</p>",
        "<p style='position:relative;left:-999px'>{}</p>", "<p style='position:absolute;left:-9px'>{}</p>",
        "<div style='overflow:hidden;height:90px'>{}</div>", "<p style='text-indent:-20px'>{}</p>",
        "<style>.a{{display:none}} .a.open{{display:block}}</style><p class='a open'>{}</p>",
        "<style>@media print{{.a{{display:none}}}}</style><p class=a>{}</p>",
        "<style media=print>.a{{display:none}}</style><p class=a>{}</p>", "<style>.b .a{{display:none}}</style><p class=a>{}</p>",
    ],
)  # fmt: skip
def test_words_that_can_be_seen_are_kept(seen: str):
    prose = "<p>" + "The content of the page is here. " * 5 + "</p>"
    assert "plain words" in text(f"<main>{prose}{seen.format('plain words')}{prose}</main>")


@pytest.mark.parametrize("hidden", ["style='opacity:0'", "class=fade"])
def test_a_page_that_fades_in_is_read(hidden: str):
    parts = "".join(f"<div {hidden}><p>Part {n} is told here, at some length. </p></div>" for n in range(9))
    assert "Part 8" in text(f"<h1>Us</h1>{parts}", "<style>.fade{visibility:hidden}</style>")


def test_a_page_that_stands_in_a_form_is_no_form():
    assert text("<form><h1>Notice</h1><p>The pool is closed.</p></form>") == "# Notice\n\nThe pool is closed."


def test_a_table_that_is_all_of_a_page_is_a_table():
    shown = text("<div><table><tr><th>Name</th><th>Price</th></tr><tr><td>Tea</td><td>2.50</td></tr></table></div>")
    assert shown == "| Name | Price |\n| --- | --- |\n| Tea | 2.50 |"


def test_an_index_of_links_is_its_links():
    links = "".join(f"<li><a href='https://x.example/{n}'>Report {n}</a></li>" for n in range(20))
    assert "[Report 19](https://x.example/19)" in text(f"<ul>{links}</ul>")


@pytest.mark.parametrize(
    ("base", "href", "shown"),
    [
        ("", "https://a.example/x", "[w](https://a.example/x)"),
        ("", "/x", "w"),
        ("<base href='https://b.example/d/'>", "x?y=1#z", "[w](https://b.example/d/x?y=1#z)"),
        ("<link rel=canonical href='https://c.example/p/q'>", "../x", "[w](https://c.example/x)"),
        ("<base href='d/'><link rel=canonical href='https://c.example/p/'>", "x", "[w](https://c.example/p/d/x)"),
        ("<base href='javascript:alert(1)'>", "x", "w"),
        ("", "javascript:alert(1)", "w"),
        ("", "data:text/html,x", "w"),
        ("", "file:///etc/passwd", "w"),
        ("", "#part", "w"),
        ("", "mailto:a@b.example", "[w](mailto:a@b.example)"),
        ("<base href='https://[bad/'>", "x", "w"),
    ],
)
def test_links_are_kept_where_they_lead_to_the_web(base: str, href: str, shown: str):
    assert text(f"<p>w <a href='{href}'>w</a></p>", base) == f"w {shown}"


def test_headings_and_blocks_are_what_the_library_takes_them_for():
    parsed = read(
        "<main><h2>Part</h2><p># no heading</p><pre>## no heading</pre><ul><li><h3>in a list</h3></ul></main>"
    )
    assert [block.title for block in blocks(parsed.text, "markdown") if block.kind == "heading"] == ["Part"]


@pytest.mark.parametrize("charset", ["utf-8", "windows-1252", "iso-8859-1", "utf-16"])
def test_a_page_is_read_in_the_charset_it_declares(charset: str):
    page = f"<meta http-equiv=Content-Type content='text/html; charset={charset}'><p>Größe"
    assert PARSER.parse(page.encode(charset)).text == "Größe"


def test_the_declaration_is_found_in_html_and_xml():
    assert declared(b'<html><head><META CHARSET = "Shift_JIS">') == "Shift_JIS"
    assert declared(b"<?xml version='1.0' encoding='koi8-r'?><html>") == "koi8-r"
    assert declared(b"<p>charset=x") == ""


@pytest.mark.parametrize(
    "page", [b"<p></p>", b"<script>app()</script><div id=root></div>", b"<!-- only this -->", b"<nav>x</nav>"]
)
def test_a_page_without_text_is_told(page: bytes):
    with pytest.raises(Unreadable, match="no text") as caught:
        PARSER.parse(page)
    assert caught.value.code == "empty"


@pytest.mark.slow
@pytest.mark.parametrize(
    "tag", ["div", "b", "p", "table", "ul><li", "blockquote", "span", "a href=x", "table><tr><td", "font"]
)
def test_deep_nesting_takes_bounded_time(tag: str):
    started = time.thread_time()
    told = or_refused(f"<{tag}>" * 30_000 + "deep words")
    assert told in ("deep words", "limit")
    assert time.thread_time() - started < 10


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        "<table>" + "<tr><td colspan=99999999 rowspan=99999>x</td></tr>" * 2000 + "</table>",
        "<p>word</p>" * 20_000,
        "<ul>" + "<li>a<ul>" * 900 + "x",
        "<p>" + "<br>" * 50_000 + "x",
        "<a href=x>" * 20_000 + "x",
        "<p>" + "x " * 1_000_000,
        "<p>" + "`" * 1_000_000,
        "<div>" * 1_900 + "<article>x</article>" * 5_000,
        "<div>" * 1_900 + "<nav>x</nav>" * 5_000 + "<p>y",
        "<div>" * 1_900 + "<h1>x</h1>" * 5_000,
    ],
    ids=["spans", "paragraphs", "lists", "breaks", "links", "one line", "backticks", "articles", "menus", "titles"],
)
def test_large_pages_take_bounded_time(body: str):
    started = time.thread_time()
    assert or_refused(f"<main>{body}</main>")
    assert time.thread_time() - started < 10


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(
    "<p> </p> <ul> <li> </ul> <table> <tr> <td> <th> </table> <a href=/x> </a> <pre> </pre> <h1> </h1> <blockquote>"
    " </blockquote> <dl> <dt> <dd> </dl> <br> <code> </code> x | # > - \u2028 \x0b \x85 &#13; &#0; <main> <article>".split(" ")
), max_size=40))  # fmt: skip
def test_any_soup_of_tags_is_read(soup: list[str]):
    try:
        parsed = PARSER.parse(" ".join(soup).encode())
    except Unreadable:
        return
    assert normalise(parsed.text) == parsed.text
    for mark in parsed.pages[0].unpack_marks():
        assert parsed.text[mark.start : mark.end].strip()
