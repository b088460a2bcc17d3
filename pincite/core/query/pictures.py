"""Pictures of a question: decoded from data URLs and checked by their bytes; nothing is fetched."""

import base64
import binascii
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pincite.errors import Invalid, TooLarge, Unsupported

MAX_PICTURES = 8
"""Maximum pictures of one question."""
MAX_PICTURE_BYTES = 10 * 1024 * 1024
"""Maximum bytes of one picture."""
MAX_TOTAL_BYTES = 24 * 1024 * 1024
"""Maximum bytes of all pictures of a question."""
MAX_PIXELS = 50_000_000
"""Maximum pixels of one picture."""
MAX_SIDE_PIXELS = 16_384
"""Maximum width or height of a picture, in pixels."""

_DATA_URL = re.compile(r"data:(?P<mime>[\w.+/-]{1,100})?(?P<more>(?:;[\w.+=/-]{1,100})*?);base64,", re.IGNORECASE)
_SIZE_MARKERS = frozenset({*range(0xC0, 0xD0)}) - {0xC4, 0xC8, 0xCC}
"""The JPEG markers of segments that hold the picture size."""

Size = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture: its bytes, the MIME type detected from them, and the size in pixels from its header."""

    mime: str
    data: bytes = field(repr=False)
    width: int = 0
    height: int = 0

    @property
    def base64(self) -> str:
        """The bytes in base64."""
        return base64.b64encode(self.data).decode()

    @property
    def url(self) -> str:
        """The picture as a data URL."""
        return f"data:{self.mime};base64,{self.base64}"


def read_pictures(urls: Sequence[str]) -> tuple[Picture, ...]:
    """Decode and check the pictures of data URLs."""
    if len(urls) > MAX_PICTURES:
        raise Invalid(f"there are {len(urls)} images; send at most {MAX_PICTURES}", code="too_many_images")
    pictures = tuple(picture_from_url(url, f"image {number}") for number, url in enumerate(urls, start=1))
    if (size := sum(len(picture.data) for picture in pictures)) > MAX_TOTAL_BYTES:
        raise TooLarge(f"the images have {size:,} bytes in total; at most {MAX_TOTAL_BYTES:,} are accepted")
    return pictures


def picture_from_url(url: str, which: str = "the image") -> Picture:
    """Decode a picture from a data URL; other URLs are refused, since nothing is fetched."""
    found = _DATA_URL.match(url[:400])
    if found is None:
        raise Invalid(
            f"{which} must be a data URL, such as data:image/png;base64,…; other URLs are not fetched",
            code="not_a_data_url",
        )
    if (len(url) - found.end()) * 3 // 4 > MAX_PICTURE_BYTES + 3:
        raise TooLarge(f"{which} has more than {MAX_PICTURE_BYTES:,} bytes")
    try:
        data = base64.b64decode(url[found.end() :], validate=True)
    except (binascii.Error, ValueError):
        raise Invalid(f"{which} is not valid base64", code="not_a_data_url") from None
    return picture_from_bytes(data, which)


def picture_from_bytes(data: bytes, which: str = "the image") -> Picture:
    """Detect and check a picture by its bytes, whatever MIME type was declared."""
    if len(data) > MAX_PICTURE_BYTES:
        raise TooLarge(f"{which} has {len(data):,} bytes; at most {MAX_PICTURE_BYTES:,} are accepted")
    kind = next((kind for mark, kind in _KINDS.items() if data.startswith(mark)), None)
    if kind is None or (kind == "image/webp" and data[8:12] != b"WEBP"):
        raise Unsupported(f"{which} is not a PNG, JPEG, WebP or GIF")
    try:
        width, height = _SIZES[kind](data)
    except (struct.error, StopIteration, IndexError, ValueError):
        raise Unsupported(f"{which} is broken: its size cannot be read") from None
    if not (width and height) or max(width, height) > MAX_SIDE_PIXELS or width * height > MAX_PIXELS:
        raise TooLarge(
            f"{which} has {width} × {height} pixels; at most {MAX_PIXELS // 1_000_000} million are accepted, "
            f"{MAX_SIDE_PIXELS:,} on a side"
        )
    return Picture(kind, data, width, height)


def _png(data: bytes) -> Size:
    if data[12:16] != b"IHDR":
        raise ValueError("no header")
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def _gif(data: bytes) -> Size:
    width, height = struct.unpack_from("<HH", data, 6)
    return width, height


def _jpeg(data: bytes) -> Size:
    at = next(_frames(data))
    height, width = struct.unpack_from(">HH", data, at + 5)
    return width, height


def _frames(data: bytes) -> Iterator[int]:
    """Yield the offset of a JPEG's size segment; segments are skipped by length, since one may embed a preview JPEG."""
    at = 2
    while at + 4 <= len(data):
        if data[at] != 0xFF:
            return
        marker = data[at + 1]
        if marker in _SIZE_MARKERS:
            yield at
            return
        if marker == 0xFF:
            at += 1
        elif 0xD0 <= marker <= 0xD8 or marker == 0x01:
            at += 2
        else:
            at += 2 + max(2, struct.unpack_from(">H", data, at + 2)[0])


def _webp(data: bytes) -> Size:
    form = data[12:16]
    if form == b"VP8X":
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    if form == b"VP8L":
        bits = struct.unpack_from("<I", data, 21)[0]
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if form == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    raise ValueError("no header")


_KINDS: Mapping[bytes, str] = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"RIFF": "image/webp",
}
_SIZES: Mapping[str, Callable[[bytes], Size]] = {
    "image/png": _png,
    "image/jpeg": _jpeg,
    "image/gif": _gif,
    "image/webp": _webp,
}
