"""Mails: headers, bodies in every shape, attachments as parts, and hostile ones."""

import base64
import quopri
import time
from contextlib import suppress
from email.message import EmailMessage

import pytest

from pincite.core.documents.document import Parsed
from pincite.errors import Unreadable
from pincite.parsers.mail import MAX_ATTACHMENTS, Options, make_parser
from pincite.text.sentences import normalise
from tests.pdf_maker import Line, make_pdf

PARSER = make_parser(Options())


def mail(body: str = "Hello", subject: str = "Offer", **headers: str) -> EmailMessage:
    made = EmailMessage()
    made["From"], made["Subject"] = headers.pop("sender", "Ana Ruiz <ana@x.example>"), subject
    for name, value in headers.items():
        made[name] = value
    made.set_content(body)
    return made


def read(message: EmailMessage | bytes) -> Parsed:
    parsed = PARSER.parse(message if isinstance(message, bytes) else message.as_bytes())
    assert normalise(parsed.text) == parsed.text
    return parsed


def marked(parsed: Parsed, part: int) -> dict[str, str]:
    return {mark.ref: parsed.text[mark.start : mark.end] for mark in parsed.pages[part].unpack_marks()}


def text_of(parsed: Parsed, part: int) -> str:
    starts = [*parsed.page_starts, len(parsed.text) + 2]
    return parsed.text[starts[part] : starts[part + 1] - 2]


GOLDEN = """\
# Angebot für März – Größe 5

From: Çelik, Jürgen <j.celik@x.example>
To: Ana Ruiz <ana@x.example>, bo@x.example
Cc: Zoë <zoe@x.example>
Date: Tue, 05 Mar 2024 10:12:00 +0100

Hallo Ana,

anbei das Angebot.
\\# keine Überschrift

> Kannst du das schicken?
>> Bis wann?

\\--
Jürgen

Attachment that was not read: x.zip (files of this type are not read)

# Preise ä.md

# Preise

| Ware | Euro |
| --- | --- |
| Lampe | 69 |

# bericht.pdf

# Bericht

Alles in Ordnung.

# Weitergeleitet

From: c@x.example

## Innen

aus HTML"""


def full() -> EmailMessage:
    made = mail(
        "Hallo Ana,\n\nanbei das Angebot.\n# keine Überschrift\n\n"
        "> Kannst du das schicken?\n>> Bis wann?\n\n-- \nJürgen\n",
        "Angebot für März – Größe 5",
        sender='"Çelik, Jürgen" <j.celik@x.example>',
        To="Ana Ruiz <ana@x.example>, bo@x.example",
        Cc="Zoë <zoe@x.example>",
        Date="Tue, 05 Mar 2024 10:12:00 +0100",
    )
    made.add_alternative("<p>Hallo <b>Ana</b>, HTML</p>", subtype="html")
    prices = "---\ntags: [a]\n---\n# Preise\n\n| Ware | Euro |\n| --- | --- |\n| Lampe | 69 |\n"
    made.add_attachment(prices.encode(), maintype="text", subtype="markdown", filename="Preise ä.md")
    made.add_attachment(b"PK\x03\x04", maintype="application", subtype="zip", filename="../../x.zip")
    pdf = make_pdf([[Line("Bericht", 20), "Alles in Ordnung."]])
    made.add_attachment(pdf, maintype="application", subtype="octet-stream", filename="bericht.pdf")
    inner = EmailMessage()
    inner["From"], inner["Subject"] = "c@x.example", "Weitergeleitet"
    inner.set_content("<html><body><h2>Innen</h2><p>aus <i>HTML</i></p></body></html>", subtype="html")
    made.add_attachment(inner)
    return made


def test_a_mail_with_everything_matches_its_expected_markdown():
    parsed = read(full())
    assert parsed.text == GOLDEN
    assert (parsed.title, parsed.author) == ("Angebot für März – Größe 5", "Çelik, Jürgen")
    assert parsed.markup == "markdown"


def test_the_message_and_each_attachment_are_parts():
    parsed = read(full())
    assert [(page.kind, page.name) for page in parsed.pages] == [
        ("part", "message"),
        ("part", "Preise ä.md"),
        ("part", "bericht.pdf"),
        ("part", "Weitergeleitet"),
    ]
    assert text_of(parsed, 1).startswith("# Preise ä.md\n\n# Preise")
    assert text_of(parsed, 3).endswith("aus HTML")


def test_marks_say_which_header_which_paragraph_and_which_page_of_an_attachment():
    parsed = read(full())
    message = marked(parsed, 0)
    assert message["From"] == "From: Çelik, Jürgen <j.celik@x.example>"
    assert message["paragraph 3"] == "> Kannst du das schicken?\n>> Bis wann?"
    assert message["attachment x.zip"].startswith("Attachment that was not read")
    assert marked(parsed, 3) | {"heading 1": "## Innen", "paragraph 1": "aus HTML"} == marked(parsed, 3)


@pytest.mark.parametrize(
    ("raw", "subject"),
    [
        ("=?utf-8?q?Gr=C3=B6=C3=9Fe?=", "Größe"),
        ("=?iso-8859-1?q?Gr=F6=DFe?= =?utf-8?b?w6Q=?=", "Größeä"),
        ("=?koi8-r?b?89/F29g=?=", "Съешь"),
        ("=?utf-8?b?broken", "=?utf-8?b?broken"),
        ("=?no-such-charset?q?abc?=", "=?no-such-charset?q?abc?="),
        ("two\r\n lines", "two lines"),
    ],
)
def test_encoded_words_are_decoded(raw: str, subject: str):
    assert read(f"From: a@x.example\r\nSubject: {raw}\r\n\r\nHello".encode()).title == subject


def test_bytes_in_headers_are_read_as_they_look():
    assert read("From: a@x\nSubject: Größe\n\nHello".encode()).title == "Größe"
    assert read("From: a@x\nSubject: Größe\n\nHello".encode("latin-1")).text.startswith("# Gr")


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1", "koi8-r", "shift_jis"])
@pytest.mark.parametrize("encoding", ["8bit", "base64", "quoted-printable"])
def test_bodies_are_read_in_their_charset(charset: str, encoding: str):
    words = {"koi8-r": "Съешь ещё", "shift_jis": "休暇の申請"}.get(charset, "Größe müßig")
    part = mail()
    del part["Content-Transfer-Encoding"], part["Content-Type"]
    part["Content-Type"] = f"text/plain; charset={charset}"
    part["Content-Transfer-Encoding"] = encoding
    data = words.encode(charset)
    sent = {"base64": base64.encodebytes(data), "quoted-printable": quopri.encodestring(data)}.get(encoding, data)
    head = b"".join(f"{name}: {value}\n".encode() for name, value in part.items())
    assert words in read(head + b"\n" + sent).text


def test_flowed_lines_are_whole_again():
    head = b"From: a@x\nSubject: s\nContent-Type: text/plain; format=flowed\n\n"
    body = b"This sentence was only \nbroken to be sent.\n\n> So was \n> this one.\n>> But not \n> that.\n-- \nAna\n"
    text = read(head + body).text
    assert "This sentence was only broken to be sent." in text
    assert "> So was this one.\n>> But not\n> that.\n\\--\nAna" in text


def test_html_is_read_where_there_is_no_plain_text():
    made = mail(" \n")
    made.add_alternative(
        "<html><head><title>no</title></head><body><table><tr>"
        "<td><h1>News</h1><p>We open at <a href='https://x.example'>nine</a>."
        "</p></td></tr></table><blockquote>On Monday you wrote:</blockquote></body></html>",
        subtype="html",
    )
    text = read(made).text
    assert text.endswith("# News\n\nWe open at [nine](https://x.example).\n\n> On Monday you wrote:")
    assert "\nno" not in text


def test_paragraphs_are_counted_through_all_parts_of_the_body():
    made = mail("First.\n\nSecond.")
    made.make_mixed()
    for text, kind in (("<p>Third.</p><p>Fourth.</p>", "html"), ("Footer of the list.", "plain")):
        part = EmailMessage()
        part.set_content(text, subtype=kind)
        made.attach(part)
    refs = [f"paragraph {number}" for number in range(1, 6)]
    found = marked(read(made), 0)
    assert [found[ref] for ref in refs] == ["First.", "Second.", "Third.", "Fourth.", "Footer of the list."]


def test_attachments_of_the_html_alternative_are_read_with_the_plain_text():
    rich = EmailMessage()
    rich.set_content("<p>Here is the lease.</p>", subtype="html")
    rich.add_attachment(b"Room,Rent\nAttic,510\n", maintype="text", subtype="csv", filename="lease.csv")
    made = mail("Here is the lease.")
    made.make_alternative()
    made.attach(rich)
    parsed = read(made)
    assert [page.name for page in parsed.pages] == ["message", "lease.csv"]
    assert text_of(parsed, 0).count("Here is the lease.") == 1
    assert marked(parsed, 1)["sheet 1, A2:B2"] == "| Attic | 510 |"


def test_pictures_within_the_text_are_no_attachments():
    made = mail()
    made.make_mixed()
    made.add_attachment(
        b"GIF89a", maintype="image", subtype="gif", disposition="inline", cid="<1>", filename="logo.gif"
    )
    assert len(read(made).pages) == 1
    assert "logo" not in read(made).text


def test_an_attachment_that_cannot_be_read_is_named_with_the_reason():
    made = mail()
    made.add_attachment(b"%PDF-1.4 broken", maintype="application", subtype="pdf", filename="a.pdf")
    assert "Attachment that was not read: a.pdf (it is not a PDF" in read(made).text


def test_plain_attachments_stay_text():
    made = mail()
    made.add_attachment(b"# a comment\nkey=1\n---\n", maintype="text", subtype="plain", filename="a.txt")
    assert text_of(read(made), 1) == "# a.txt\n\n\\# a comment\nkey=1\n\\---"


def test_a_mail_may_be_attached_as_a_file():
    made = mail()
    made.add_attachment(
        mail("inner words").as_bytes(), maintype="application", subtype="octet-stream", filename="b.eml"
    )
    assert "inner words" in read(made).text


def test_mails_inside_mails_are_read_to_a_depth():
    made = mail("innermost")
    for number in range(10):
        outer = mail(f"level {number}")
        outer.add_attachment(made)
        made = outer
    text = read(made).text
    assert "level 9" in text
    assert "level 6" in text
    assert "level 5" not in text
    assert "not read" in text


def test_attachments_over_the_limit_are_only_named():
    made = mail()
    for number in range(MAX_ATTACHMENTS + 5):
        made.add_attachment(b"words", maintype="text", subtype="plain", filename=f"{number}.txt")
    parsed = read(made)
    assert len(parsed.pages) == MAX_ATTACHMENTS + 1
    assert parsed.text.count("at most") == 5


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "broken"),
        (b"just some text", "broken"),
        (b"Content-Type: multipart/encrypted; boundary=x\nFrom: a@x\n\n--x\n\nabc\n--x--", "encrypted"),
        (b"From:\n\n", "empty"),
    ],
)
def test_unreadable_mails_are_refused_with_the_reason(data: bytes, code: str):
    with pytest.raises(Unreadable) as caught:
        PARSER.parse(data)
    assert caught.value.code == code


def nested(levels: int) -> bytes:
    head = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(levels))
    return f"From: a@x\nSubject: s\n{head}\n\ndeep".encode()


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        nested(5_000),
        b"From: " + b"(" * 1_000_000 + b"\n\nx",
        b"Subject: " + b"=?utf-8?q?a?= " * 100_000 + b"\n\nx",
        b"From: a@x\n" + b"X-A: b\n" * 100_000 + b"\nx",
        b"From: a@x\nContent-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 20_000,
        b"From: a@x\nContent-Type: text/plain; " + b"a*0=b; " * 50_000 + b"\n\nx",
        b"From: a@x\nContent-Type: text/plain; format=flowed\n\n" + b"x \n" * 300_000,
        b"From: a@x\nContent-Type: text/plain\n\n" + b">" * 1_000_000,
    ],
    ids=["nested", "comments", "words", "headers", "parts", "parameters", "flowed", "quoting"],
)
def test_hostile_mails_take_limited_time(data: bytes):
    started = time.thread_time()
    with suppress(Unreadable):
        assert PARSER.parse(data).text
    assert time.thread_time() - started < 10
