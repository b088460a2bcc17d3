"""Parses images: recognizes the text in them, where the extra `ocr` is installed."""

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pincite.core.documents.document import Parsed
from pincite.core.protocols import Parser
from pincite.errors import Unreadable
from pincite.parsers.layout import ocr
from pincite.parsers.layout.document import build_document
from pincite.parsers.layout.words import PageWords

MAX_PIXELS = 50_000_000
"""Maximum number of pixels, checked in the image's header before anything is decoded."""
MAX_FRAMES = 500
"""Maximum number of pages of a TIFF image."""
_FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF")


@dataclass(frozen=True, slots=True)
class Options:
    """This parser has no options."""


class Image:
    """Recognizes text in images; positions on their pages are in pixels."""

    @property
    def reads(self) -> Mapping[str, str]:
        """MIME type → file name endings."""
        return {
            "image/png": ".png",
            "image/jpeg": ".jpg .jpeg",
            "image/tiff": ".tif .tiff",
            "image/webp": ".webp",
            "image/bmp": ".bmp",
        }

    def parse(self, data: bytes) -> Parsed:
        """The text of the image, page by page where it has several."""
        if not ocr.available():
            raise Unreadable(f"it is an image or scanned; {ocr.INSTALL_HINT} to read it", code="scanned")
        document = build_document(list(_read_pages(data)))
        if not document.text:
            raise Unreadable("no text can be read in the image", code="empty")
        return Parsed(text=document.text, markup="markdown", title=document.title, pages=document.pages)


def make_parser(options: Options) -> Parser:
    """Return the parser."""
    return Image()


def _read_pages(data: bytes) -> Iterator[PageWords]:
    """The recognized words of each page of an image."""
    from PIL import Image as Pillow
    from PIL import UnidentifiedImageError

    try:
        with Pillow.open(io.BytesIO(data), formats=_FORMATS) as image:
            frames = (
                getattr(image, "n_frames", 1) if image.format == "TIFF" else 1
            )  # in other formats, frames are an animation
            if frames > MAX_FRAMES:
                raise Unreadable(f"it has {frames} pages; at most {MAX_FRAMES} are read", code="limit")
            for number in range(frames):
                image.seek(number)
                yield _read_page(image)
    except UnidentifiedImageError:
        raise Unreadable("it is not an image that can be read", code="broken") from None
    except (OSError, SyntaxError, ValueError, EOFError, Pillow.DecompressionBombError) as error:
        raise Unreadable(f"the image is broken ({type(error).__name__}); save it again", code="broken") from None


def _read_page(image: Any) -> PageWords:
    """The words on one page of an image, which is first rotated as its EXIF data says."""
    import numpy
    from PIL import ImageOps

    width, height = image.size
    if width * height > MAX_PIXELS:
        raise Unreadable(
            f"the image has {width} × {height} pixels; at most {MAX_PIXELS // 1_000_000} million are read", code="limit"
        )
    upright = ImageOps.exif_transpose(image)
    pixels = numpy.asarray(_on_white(upright))[:, :, ::-1]
    return ocr.read_picture(numpy.ascontiguousarray(pixels), *map(float, upright.size))


def _on_white(image: Any) -> Any:
    """The image in RGB, on white where it is transparent."""
    from PIL import Image as Pillow

    if "A" not in image.getbands() and "transparency" not in image.info:
        return image.convert("RGB")
    layer = image.convert("RGBA")
    white = Pillow.new("RGBA", layer.size, "white")
    return Pillow.alpha_composite(white, layer).convert("RGB")
