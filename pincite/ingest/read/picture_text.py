"""The text in a picture that comes with a question, read where files are read: in a process that can do no harm."""

from pincite.config.branches.ingestion import Chunking
from pincite.core.query.pictures import Picture
from pincite.ingest.read.reader_pool import Reader


class OcrPictureReader:
    """Reads pictures as files of their kind are read."""

    def __init__(self, reader: Reader, chunking: Chunking) -> None:
        self._reader = reader
        self._chunking = chunking

    async def text_in(self, picture: Picture) -> str:
        """The words in it; `Unreadable` where there are none, or nobody here can read them."""
        return (await self._reader.read(picture.data, "image", self._chunking)).parsed.text
