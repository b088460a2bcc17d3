import base64
import struct
import zlib
from typing import Any

import pytest
from PIL import Image

from pincite.core.query.pictures import (
    MAX_PICTURE_BYTES,
    MAX_PICTURES,
    MAX_SIDE_PIXELS,
    Picture,
    picture_from_bytes,
    picture_from_url,
    read_pictures,
)
from pincite.errors import Invalid, TooLarge, Unsupported
from tests.picture_maker import saved


def url_of(data: bytes, mime: str = "image/png") -> str:
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


def png(width: int, height: int) -> bytes:
    head = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))


@pytest.mark.parametrize("size", [(3, 5), (301, 17)])
@pytest.mark.parametrize(
    ("kind", "options"), [("PNG", {}), ("JPEG", {}), ("GIF", {}), ("WEBP", {}), ("WEBP", {"lossless": True})]
)
def test_the_type_of_a_picture_is_detected_from_its_bytes(kind: str, options: Any, size: tuple[int, int]) -> None:
    import io

    out = io.BytesIO()
    Image.new("RGB", size, "red").save(out, kind, **options)
    found = picture_from_url(url_of(out.getvalue(), "text/html"))
    assert (found.mime, found.width, found.height) == (f"image/{kind.lower()}", *size)
    assert found.data == out.getvalue()
    assert picture_from_url(found.url) == found


def test_the_size_of_an_extended_webp_is_read() -> None:
    data = saved(Image.new("RGBA", (40, 30), (1, 2, 3, 4)), "WEBP")
    assert (picture_from_bytes(data).width, picture_from_bytes(data).height) == (40, 30)


def test_the_size_of_an_embedded_jpeg_preview_is_ignored() -> None:
    plain, preview = (saved(Image.new("RGB", size, "red"), "JPEG") for size in ((64, 48), (8, 8)))
    held = plain[:2] + b"\xff\xe1" + struct.pack(">H", len(preview) + 2) + preview + plain[2:]
    assert (picture_from_bytes(held).width, picture_from_bytes(held).height) == (64, 48)


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/p.png",
        "file:///etc/passwd",
        "data:image/png,abc",
        "/p.png",
        "",
        "data:image/png;base64,!!",
        "data:;base64",
    ],
)
def test_urls_other_than_base64_data_urls_are_refused(url: str) -> None:
    with pytest.raises(Invalid) as raised:
        picture_from_url(url)
    assert raised.value.code == "not_a_data_url"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"%PDF-1.7",
        b"RIFF0000WAVE",
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff\xe0",
        b"GIF89a",
        b"RIFF\0\0\0\0WEBPVP9 ",
    ],
)
def test_broken_pictures_and_other_files_are_refused(data: bytes) -> None:
    with pytest.raises(Unsupported):
        picture_from_bytes(data)


@pytest.mark.parametrize("size", [(MAX_SIDE_PIXELS + 1, 1), (1, MAX_SIDE_PIXELS + 1), (10_000, 10_000), (0, 5)])
def test_a_picture_with_too_many_pixels_is_refused(size: tuple[int, int]) -> None:
    with pytest.raises(TooLarge, match="pixels"):
        picture_from_bytes(png(*size))


def test_too_many_bytes_and_too_many_pictures_are_refused() -> None:
    with pytest.raises(TooLarge, match="bytes"):
        picture_from_url(url_of(b"\0" * (MAX_PICTURE_BYTES + 9)))
    with pytest.raises(Invalid, match=f"at most {MAX_PICTURES}"):
        read_pictures([url_of(png(1, 1))] * (MAX_PICTURES + 1))
    heavy = url_of(png(1, 1) + b"\0" * (MAX_PICTURE_BYTES - 100))
    with pytest.raises(TooLarge, match="in total"):
        read_pictures([heavy] * 3)
    assert len(read_pictures([url_of(png(1, 1))] * MAX_PICTURES)) == MAX_PICTURES


def test_the_repr_of_a_picture_omits_its_bytes() -> None:
    assert "secret" not in repr(Picture("image/png", b"secret"))
