"""Synthetic passages with the word frequencies of real text, written through the product's own store."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import numpy as np
import psycopg

from pincite.core.accounts.access import Scope
from pincite.core.documents.document import Chunk, ChunkLevel, Parsed, Upload
from pincite.store.database import Database, fetch_all
from pincite.store.documents.blob_files import BlobFiles
from pincite.store.documents.blobs import Blobs
from pincite.store.documents.remove import Removal
from pincite.store.indexing.chunk_rows import ChunkRow
from pincite.store.indexing.jobs import Jobs
from pincite.store.indexing.publish import ParsedVersion
from pincite.store.indexing.uploads import UploadStore
from pincite.store.indexing.write_edition import EditionWriter
from pincite.text.terms import terms

DIMENSIONS, PER_DOCUMENT, CLUSTERS = 384, 20, 200
VOCABULARY, SHIFT = 100_000, 20
LENGTHS, ASKED = (40, 160), 8
LANGUAGE = "xx"
"""Of no language: a word is indexed as it stands."""
FOLDERS = {"one": 0.01, "five": 0.05, "twenty": 0.20, "rest": 0.74}
"""The folders of the library and which share of the passages lies in each."""
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"
_BULKY = ("posting_term", "vector_hash", "vector_near_1")


class MadeUp:
    """Passages, their vectors and questions about them, the same every time.

    Words follow Zipf's law with a flat head (Mandelbrot's shift): there are no stop words, as a search has none. A
    question is eight words of one passage, which makes the postings it meets (.43 of the passages in the median, .94
    at p95) as many as those of real questions: .35 and .79 on MuSiQue, .69 and 1.53 on SciFact.
    """

    def __init__(self, count: int) -> None:
        chosen = np.random.default_rng(5)
        share = np.cumsum(1 / (np.arange(VOCABULARY) + 1 + SHIFT))
        lengths = chosen.integers(*LENGTHS, count)
        drawn = np.searchsorted(share / share[-1], chosen.random(int(lengths.sum()))).astype(np.int32)
        self._drawn, self._ends = drawn, np.cumsum(lengths)
        self._centres = chosen.normal(size=(CLUSTERS, DIMENSIONS))
        self.vectors = self._near(chosen, count)
        self.queries = self._near(np.random.default_rng(6), 1000)
        asking = np.random.default_rng(7)
        self.questions = [
            " ".join(spell(n) for n in asking.choice(self._words(passage), ASKED, replace=False).tolist())
            for passage in asking.integers(0, count, 1000)
        ]

    def __len__(self) -> int:
        return len(self._ends)

    def text(self, n: int) -> str:
        """The words of a passage."""
        return " ".join(spell(word) for word in self._words(n).tolist())

    def _words(self, n: int) -> np.ndarray:
        return self._drawn[self._ends[n - 1] if n else 0 : self._ends[n]]

    def _near(self, chosen: np.random.Generator, count: int) -> np.ndarray:
        vectors = chosen.normal(size=(count, DIMENSIONS)).astype(np.float32)
        vectors += self._centres[chosen.integers(0, CLUSTERS, count)]
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors


@lru_cache(VOCABULARY)
def spell(number: int) -> str:
    """A word one could say, another for every number; it ends as no stop word does, which a search would leave out."""
    word, rest = "", number
    while True:
        rest, vowel = divmod(rest, len(_VOWELS))
        rest, consonant = divmod(rest, len(_CONSONANTS))
        word += _CONSONANTS[consonant] + _VOWELS[vowel]
        if not rest:
            return f"{word}x"
        rest -= 1


class Shelf:
    """A store filled with made-up passages, and what was put where."""

    def __init__(self, database: Database, folder: Path, model: int, made: MadeUp) -> None:
        files = BlobFiles(folder, "bench")
        self.database, self.made = database, made
        self.intake = UploadStore(database, Blobs(database, files, shared=False), "bench")
        self.removal = Removal(database, files)
        self.jobs, self.indexing = Jobs(database, files.place), EditionWriter(database, model, "bench")
        self.scope = Scope("local", (1,))
        self.documents: list[tuple[str, str, range]] = []
        self.number_of: dict[int, int] = {}

    async def fill(self) -> None:
        """Write every passage, so many a document, folder after folder."""
        for start in range(0, len(self.made), PER_DOCUMENT):
            part = range(start, min(start + PER_DOCUMENT, len(self.made)))
            upload = Upload(f"{start}.md", str(start).encode(), self._folder(start))
            await self.intake.accept(self.scope, upload, mime="text/markdown", checksum=str(start))
            job = await self.jobs.claim("bench", 60)
            assert job is not None
            edition = await self.indexing.begin(await self.indexing.target(job))
            await self.indexing.write(edition, [self._entry(n) for n in part])
            await self.indexing.serve(edition, ParsedVersion(Parsed("x", "markdown")))
        await self.look()

    async def look(self) -> None:
        """Find out what is on the shelf."""
        async with self.database.transaction("local") as connection:
            self.number_of = dict(await fetch_all(connection, "select key, checksum::int from chunk"))
            found = await fetch_all(connection, "select id, folder, rtrim(name, '.md')::int from document order by 3")
        self.documents = []
        for document_id, folder, start in found:
            self.documents.append((document_id, folder, range(start, min(start + PER_DOCUMENT, len(self.made)))))

    def admitted(self, folder: str | None) -> np.ndarray:
        """The numbers of the passages in a folder, or of all."""
        return np.array([n for _, place, part in self.documents if folder in (None, place) for n in part])

    def _folder(self, start: int) -> str:
        bounds = np.cumsum([share * len(self.made) for share in FOLDERS.values()])
        return list(FOLDERS)[min(int(np.searchsorted(bounds, start, side="right")), len(FOLDERS) - 1)]

    def _entry(self, n: int) -> ChunkRow:
        text = self.made.text(n)
        chunk = Chunk(n, ChunkLevel.CHUNK, None, text, 0, len(text), 1, 1, None, (), "prose", LANGUAGE, 1)
        words = Counter(terms(text, LANGUAGE))
        return ChunkRow(chunk, str(n), words, hashlib.sha256(b"%d" % n).digest(), [self.made.vectors[n].tolist()])


@contextmanager
def indexes_made_at_the_end(url: str) -> Iterator[None]:
    """Take the large indexes away and make them again: many times faster, and the same for whoever searches."""
    with psycopg.connect(url, autocommit=True, options="-c search_path=pincite,public") as connection:
        wanted = "select indexname, indexdef from pg_indexes where schemaname = 'pincite' and indexname = any(%s)"
        indexes = connection.execute(wanted, (list(_BULKY),)).fetchall()
        for name, _ in indexes:
            connection.execute(f"drop index {name}")
        yield
        connection.execute("set maintenance_work_mem = '4GB'")
        for _, definition in indexes:
            connection.execute(definition)
        connection.execute("vacuum (analyze)")
