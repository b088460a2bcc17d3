"""Reads the text in a picture that is attached to a question, in the confined process that reads files."""

from pincite.config.branches.ingestion import Chunking
from pincite.core.query.pictures import Picture
from pincite.ingest.read.reader_pool import Reader


class OcrPictureReader:
    """Recognizes text in pictures with the image parser."""

    def __init__(self, reader: Reader, chunking: Chunking) -> None:
        self._reader = reader
        self._chunking = chunking

    async def text_in(self, picture: Picture) -> str:
        """The text in a picture; raises `Unreadable` where there is none or text recognition is not installed."""
        return (await self._reader.read(picture.data, "image", self._chunking)).parsed.text
