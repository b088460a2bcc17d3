import asyncio
from typing import Any

import pytest

from pincite.config.branches.ingestion import Chunking
from pincite.core.query.pictures import picture_from_bytes
from pincite.errors import Unreadable
from pincite.ingest.read.picture_text import OcrPictureReader
from pincite.ingest.read.reader_pool import Reader
from tests.picture_maker import draw, saved

pytestmark = pytest.mark.slow


def text_in(data: bytes) -> str:
    async def go() -> str:
        reader = Reader(children=1, memory_mb=2048, timeout_s=60)
        try:
            return await OcrPictureReader(reader, Chunking()).text_in(picture_from_bytes(data))
        finally:
            await reader.close()

    return asyncio.run(go())


@pytest.mark.parametrize("kind", ["PNG", "GIF"])
def test_the_text_in_a_picture_is_read_in_a_reader_process(kind: Any) -> None:
    assert "door is open" in text_in(saved(draw(["Error", "The door is open"]), kind)).lower()


def test_a_picture_without_text_is_refused() -> None:
    from PIL import Image

    with pytest.raises(Unreadable, match="no text"):
        text_in(saved(Image.new("RGB", (200, 100), "white")))
