"""Draws pictures of text for tests, as a camera or a scanner would record them."""

import io
from collections.abc import Sequence
from typing import Any

from PIL import Image, ImageDraw, ImageFont


def draw(lines: Sequence[str], *, size: int = 28, turn: int = 0) -> Any:
    """Return a picture with these lines, rotated counter-clockwise by `degrees`; the first line is large."""
    picture = Image.new("RGB", (60 + size * 16, 60 + 2 * size * (len(lines) + 1)), "white")
    pen = ImageDraw.Draw(picture)
    y = 30
    for number, line in enumerate(lines):
        letters = size * 2 if not number and len(lines) > 1 else size
        pen.text((30, y), line, font=ImageFont.load_default(letters), fill="black")
        y += 2 * letters
    return picture.rotate(turn, expand=True)


def saved(picture: Any, kind: str = "PNG", more: Sequence[Any] = ()) -> bytes:
    """Return the picture as a file of this type, with any further pages."""
    out = io.BytesIO()
    options = {"save_all": True, "append_images": list(more)} if more else {}
    picture.save(out, kind, **options)
    return out.getvalue()
