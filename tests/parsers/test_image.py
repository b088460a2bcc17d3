"""Images."""

import asyncio
import io

import pytest
from PIL import ExifTags, Image, ImageOps

from pincite.config.branches.ingestion import Chunking
from pincite.errors import Unreadable
from pincite.ingest.read.reader_pool import Prepared, Reader
from pincite.parsers import image
from pincite.parsers.layout import ocr
from tests.picture_maker import draw, saved

LINES = ["Snow report", "The path is closed."]


def parse(data: bytes):
    return image.make_parser(image.Options()).parse(data)


def unreadable(data: bytes) -> str:
    with pytest.raises(Unreadable) as caught:
        parse(data)
    return caught.value.code


@pytest.mark.slow
def test_each_page_of_an_image_is_a_page():
    parsed = parse(saved(draw(LINES), "TIFF", [draw(["Second page"])]))
    assert parsed.text == "# Snow report\n\nThe path is closed.\n\nSecond page"
    assert [page.start for page in parsed.pages] == [0, 36]
    mark = parsed.pages[1].unpack_marks()[1]
    assert (parsed.text[mark.start : mark.end], parsed.title) == ("page", "Snow report")


@pytest.mark.slow
def test_transparent_images_are_read_on_white():
    picture = draw(LINES).convert("L")
    black = Image.new("RGBA", picture.size, "black")
    black.putalpha(ImageOps.invert(picture))
    assert parse(saved(black)).title == "Snow report"


@pytest.mark.slow
def test_a_photograph_is_rotated_by_its_exif_data():
    out = io.BytesIO()
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = 6
    lying = draw(LINES, turn=90)
    lying.save(out, "JPEG", exif=exif)
    parsed = parse(out.getvalue())
    assert parsed.title == "Snow report"
    assert (parsed.pages[0].width, parsed.pages[0].height) == (lying.height, lying.width)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ocr, "available", lambda: False)
    with pytest.raises(Unreadable, match=r"pip install '\.\[ocr\]'") as caught:
        parse(saved(draw(LINES)))
    assert caught.value.code == "scanned"


def test_large_images_are_refused_before_they_are_decoded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(image, "MAX_PIXELS", 1000)
    assert unreadable(saved(draw(LINES))[:60]) == "limit"
    monkeypatch.setattr(image, "MAX_FRAMES", 1)
    assert unreadable(saved(draw([]), "TIFF", [draw([])])) == "limit"


def test_broken_and_blank_images_are_refused():
    assert unreadable(b"") == "broken"
    assert unreadable(b"GIF89a" + b"\0" * 50) == "broken"
    assert unreadable(saved(draw(LINES))[:-200]) == "broken"
    assert unreadable(saved(draw([]))) == "empty"


@pytest.mark.slow
def test_images_are_read_in_the_confined_reader_process():
    async def read() -> Prepared:
        reader = Reader(children=1, memory_mb=1024, timeout_s=120)
        try:
            return await reader.read(saved(draw(LINES, size=60)), "image", Chunking())
        finally:
            await reader.close()

    assert asyncio.run(read()).parsed.title == "Snow report"
