"""Makes the Office files beside it with LibreOffice, so that not all we test with comes from one program.

Needs `soffice`; run it after changing a source, and look at what changes: `python tests/parsers/office/make.py`.
"""

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from pptx import Presentation
from pptx.util import Cm

HERE = Path(__file__).parent


def convert(source: Path, ending: str, folder: Path) -> Path:
    """Have LibreOffice save a file in another format."""
    profile = f"-env:UserInstallation=file://{folder}/profile"
    subprocess.run(
        ["soffice", profile, "--headless", "--convert-to", ending, "--outdir", folder, source], check=True, timeout=120
    )
    return folder / f"{source.stem}.{ending}"


def make_talk(path: Path) -> None:
    """Write a presentation that LibreOffice then converts: a title, two boxes, bullets, notes and a table."""
    deck = Presentation()
    one = deck.slides.add_slide(deck.slide_layouts[1])
    one.shapes.title.text = "A season at Fjellstua"
    body = one.placeholders[1].text_frame
    body.text = "Guests"
    for text, level in (("1204 in all", 1), ("Repairs", 0)):
        paragraph = body.add_paragraph()
        paragraph.text, paragraph.level = text, level
    right = one.shapes.add_textbox(Cm(14), Cm(17), Cm(9), Cm(1.5))
    right.text_frame.text = "Right: the lake"
    left = one.shapes.add_textbox(Cm(1), Cm(17), Cm(9), Cm(1.5))
    left.text_frame.text = "Left: the ridge, see "
    run = left.text_frame.paragraphs[0].add_run()
    run.text, run.hyperlink.address = "map", "https://example.org/map"
    one.notes_slide.notes_text_frame.text = "Thank the volunteers."
    two = deck.slides.add_slide(deck.slide_layouts[6])
    table = two.shapes.add_table(2, 2, Cm(2), Cm(5), Cm(15), Cm(4)).table
    for row, cells in enumerate((("Month", "Guests"), ("July", "611"))):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    two._element.set("show", "0")
    deck.save(str(path))


def main() -> None:
    """Make all three."""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        make_talk(folder / "talk.pptx")
        presentation = convert(folder / "talk.pptx", "odp", folder)
        made = [
            convert(presentation, "pptx", folder),
            convert(HERE / "handbook.fodt", "docx", folder),
            convert(HERE / "accounts.fods", "xlsx", folder),
        ]
        for file in made:
            (HERE / file.name).write_bytes(file.read_bytes())


if __name__ == "__main__":
    main()
