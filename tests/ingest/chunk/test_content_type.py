"""Content types of passages on a labelled set in German and English, with similar passages that are no such type."""

import time
from pathlib import Path

import pytest

from pincite.config.branches.ingestion import Chunking
from pincite.core.documents.document import ChunkLevel, ContentType
from pincite.ingest.chunk.content_type import content_type_of
from pincite.ingest.read.parse_and_chunk import parse_and_chunk

GLOSSARIES = [
    (
        "## Glossary\n\n**Aperture**: the opening that lets light in.\n\n**Zenith**: the point overhead.",
        ("Guide", "Glossary"),
    ),
    ("### Seeing\n\nHow steady the air is.", ("Guide", "7 Glossary", "Seeing")),
    ("HTTP – Hypertext Transfer Protocol\nSQL – Structured Query Language", ("Abkürzungsverzeichnis",)),
    ("| Begriff | Bedeutung |\n|---|---|\n| Öse | Ein Ring aus Metall |", ("Handbuch", "Glossar")),
    ("Glossar\nBlende: die Öffnung für das Licht.\nZenit: der Punkt genau oben.", ("Document",)),
    (
        "Albedo: the share of light that is thrown back\nBaffle: a shield against stray light\n"
        "Coma: an error of lenses off the axis\n"
        "Dome: the turning roof over a telescope\nEtalon: a filter of two mirrors",
        ("Notes",),
    ),
    ("- Albedo: the share of light that is thrown back\n- Coma: an error of lenses", ("Notes", "Glossary")),
]
CONTENTS = [
    ("## Contents\n\n- [Set-up](#set-up)\n- [First light](#first-light)\n- [Care](#care)", ("Guide", "Contents")),
    (
        "Inhaltsverzeichnis\n1 Einleitung .......... 3\n"
        "2 Aufbau ............ 7\n2.1 Sockel . . . . . 9\n3 Pflege ...... 15",
        ("Document",),
    ),
    ("1 Introduction\n2 Building the base\n3 Caring for mirrors", ("Manual", "Table of Contents")),
    ("- [Set-up](#set-up) 1\n- [First light](#first-light) ..... 4\n- [Care](#care) 9", ("Guide", "Contents")),
    ("1. Einleitung 1\n2. Wetter im Tal 5\n3. Stürme 9", ("Inhalt",)),
    ("1 Base 3\n1.1 Feet 4\n2 Mirror of 1931 12", ("Manual", "Contents")),
    (
        "Preface .... iv\nIntroduction ....... 1\nThe base ....... 12\nMirrors ....... 40\nIndex ...... 88",
        ("Document",),
    ),
    ("* [Einführung](#einführung)\n* [Aufbau](#aufbau)\n  * [Sockel](#sockel)\n* [Pflege](#pflege)", ("Handbuch",)),
]
CREDITS = [
    ("## Bildnachweis\n\nS. 4: Mara Lind; S. 9: Archiv der Sternwarte", ("Broschüre", "Bildnachweis")),
    ("Photo: Mara Lind\nPhoto: Shutterstock / Ole\nCover image © Jon Aas", ("Brochure", "Credits")),
    ("Titelbild: © Mara Lind\nAbb. 2: © Ole Berg, Unsplash\nFoto: Archiv", ("Document",)),
    ("Images courtesy of the observatory (CC BY 4.0).\nPhotos 3–5: Getty Images", ("Image credits",)),
]
MADE_UP = [
    ("## Hypothetical questions\n\n- When was the dome built?\n- Who paid for it?", ("Dome", "Hypothetical questions")),
    ("Wann wurde die Kuppel gebaut?\nWer hat sie bezahlt?", ("Kuppel", "Hypothetische Fragen")),
]
ORDINARY = [
    (
        "- Albedo: the share of light that is thrown back\n- Baffle: a shield against stray light\n"
        "- Coma: an error of lenses off the axis\n"
        "- Dome: the turning roof over a telescope\n- Etalon: a filter of two mirrors",
        ("Notes",),
    ),
    ("\n".join(f"- Item {n}: a thing of the stock that is counted" for n in range(14, 20)), ("Stock",)),
    ("\n".join(f"Item {n}: a thing of the stock that is counted" for n in range(14, 20)), ("Stock",)),
    ("## Contents of the box\n\n- One lamp\n- Two cables\n- A manual", ("Lamp", "Contents of the box")),
    ("- One lamp\n- Two cables\n- A manual", ("Lamp", "Contents")),
    ("- Screws 4\n- Nuts 8\n- Bolts 12", ("Box", "Contents")),
    ("1. Screws 4\n2. Nuts 12\n3. Bolts 8", ("Box", "Contents")),
    ("Im Paket liegen eine Lampe und zwei Kabel.", ("Lampe", "Inhalt")),
    ("The table of contents is made by hand and comes first.", ("Style guide", "Writing a table of contents")),
    ("Espresso .......... 3\nCappuccino ....... 4\nWater ....... 2\nTea ...... 3\nCake .... 5", ("Menu",)),
    ("Lions 3\nTigers 1\nBears 4\nWolves 2", ("Results",)),
    (
        "Anna: Good morning, did you sleep?\nBen: Not much, the dome was loud.\nAnna: It always is in winter.\n"
        "Ben: Then let us grease it.\nAnna: After breakfast, please.",
        ("Scene 2",),
    ),
    (
        "Name: Mara Lind from Oslo\nAddress: Hill road 4, Tveit\nOpening hours: Monday to Friday\nPhone: 555 0100 200\n"
        "E-mail: mara@example.org",
        ("Contact",),
    ),
    (
        "| [Agent](https://example.org/a) | Part |\n"
        "| [Builder](https://example.org/b) | Part |\n| [Cleaner](https://example.org/c) | "
        "Part |\n| [Joiner](https://example.org/j) | Part |\n| [Router](https://example.org/r) | Part |",
        ("Parts",),
    ),
    ("Q: When is it open? We get asked often.\nA: Every clear night.", ("FAQ",)),
    ("Glossary entries are written by the editors and reviewed every year.", ("Editing", "Glossary rules")),
    ("Students need 30 credits, of which 10 are practical work.", ("Studies", "Credits")),
    ("© 2024 Tveit Observatory. All rights reserved.", ("Document",)),
    ("© 2024 Tveit Observatory.\n© 2023 Some Library Ltd.\nLicensed under MIT.", ("Licence",)),
    ("Take a photo: hold the lens to the eyepiece and press.\nSave the image: press the green key.", ("Photography",)),
    ("- When was the dome built?\n- Who paid for it?\n- Why is it green?", ("Exam", "Questions")),
    ("What is seeing?\n\nIt is how steady the air is.", ("FAQ", "Possible questions")),
    (
        "See [care](#care) and [set-up](#set-up) before you begin: both say how to hold the mirror.",
        ("Guide", "Contents"),
    ),
    ("1. Open the dome\n2. Take off the cover\n3. Wait ten minutes\n4. Focus", ("Guide", "First light")),
    (
        "In 1931, 12\nIn 1932, 14\nnothing more was built until after the war, when the pass was opened again",
        ("History",),
    ),
    (
        "Old Rhymes; Blackie, 1928\nHymns; Blackie, 1929\nA First Book; Blackie, 1930\nMore Songs; Blackie, 1931",
        ("Works",),
    ),
    ("", ("Document",)),
]


@pytest.mark.parametrize(
    ("name", "text", "path"),
    [
        (name, text, path)
        for name, cases in {
            "glossary": GLOSSARIES,
            "contents": CONTENTS,
            "image_credits": CREDITS,
            "hypothetical_question": MADE_UP,
            "prose": ORDINARY,
        }.items()
        for text, path in cases
    ],
)
def test_a_passage_gets_the_right_content_type(name: ContentType, text: str, path: tuple[str, ...]) -> None:
    assert content_type_of(text, path, "prose") == name


def test_other_passages_and_code_keep_the_type_of_their_blocks() -> None:
    assert content_type_of("| a | b |\n|---|---|\n| 1 | 2 |", ("Figures",), "table") == "table"
    assert content_type_of("- one\n- two", ("Steps",), "list") == "list"
    assert content_type_of("HTTP = 1\nSQL = 2", ("Glossary",), "code") == "code"


def test_chunks_get_content_types_and_the_whole_document_does_not() -> None:
    contents = "## Contents\n\n- [Care](#care)\n- [Glossary](#glossary)"
    text = f"# Guide\n\n{contents}\n\n## Care\n\nKeep it dry.\n\n## Glossary\n\nDome: a roof.\n"
    chunks = parse_and_chunk(text.encode(), "markdown", Chunking()).chunks
    labels = [(chunk.heading_path[-1], chunk.content_type) for chunk in chunks if chunk.level is ChunkLevel.CHUNK]
    assert labels == [("Contents", "contents"), ("Care", "prose"), ("Glossary", "glossary")]
    assert {chunk.content_type for chunk in chunks if chunk.level is ChunkLevel.DOCUMENT} <= {"prose", "list"}


def test_the_sample_documents_raise_no_false_alarm() -> None:
    folder = Path(__file__).parents[3] / "examples" / "documents"
    labelled = [
        (path.name, chunk.heading_path, chunk.content_type)
        for path in sorted(folder.rglob("*.md"))
        for chunk in parse_and_chunk(path.read_bytes(), "markdown", Chunking()).chunks
        if chunk.content_type in ("glossary", "contents", "image_credits", "hypothetical_question")
    ]
    assert all(kind == "glossary" and "lossar" in " ".join(path) for _, path, kind in labelled), labelled


@pytest.mark.slow
def test_blanks_dots_and_brackets_take_no_time() -> None:
    began = time.process_time()
    for run in (" ", ".", " .", "\t", "[" * 5, "[a](#"):
        content_type_of("\n".join(["Total" + run * 20_000 + "euros"] * 5), (), "prose")
    assert time.process_time() - began < 10
