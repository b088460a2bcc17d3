"""A file becomes searchable. Read this first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pincite.core.documents import Chunk
from pincite.ingest.accept import file_types
from pincite.ingest.embed import Vectors, embed
from pincite.ingest.lane import Lane
from pincite.ingest.parse import Reader
from pincite.settings import Settings
from pincite.store.files import Files
from pincite.store.indexing import Indexing
from pincite.store.jobs import Job, Jobs

BATCH = 32
"""Chunks embedded and written at a time: bounds memory, and what a crash can cost."""
PREPARED = 0.05
"""Share of the progress that reading and chunking count for."""


@dataclass(frozen=True, slots=True)
class Workshop:
    """Everything that processing a document needs, built once."""

    settings: Settings
    files: Files
    reader: Reader
    lane: Lane
    model: str
    indexing: Indexing
    jobs: Jobs


async def ingest(shop: Workshop, job: Job) -> None:
    """Make one version searchable: every stage once, top to bottom; readers see nothing before the last."""
    target = await shop.indexing.target(job)
    if target.outdated:
        return await shop.indexing.drop(job)
    await shop.jobs.report(job, "parsing", 0.0)
    path = shop.files.path(job.document_id, target.version_id)
    prepared = await shop.reader.read(path, _parser(target.mime), shop.settings.chunking)
    edition = await shop.indexing.begin(target)

    async def known(hashes: Sequence[bytes]) -> dict[bytes, Vectors]:
        return await shop.indexing.known_vectors(job.owner, hashes) if shop.settings.ingest.dedupe else {}

    for done, batch in _batches(prepared.chunks):
        await shop.jobs.report(job, "embedding", PREPARED + (1 - PREPARED) * done / len(prepared.chunks))
        entries = await embed(batch, shop.model, known, shop.lane.embed)
        await shop.indexing.write(edition, entries)
    return await shop.indexing.serve(edition, prepared.parsed)


def _batches(chunks: Sequence[Chunk]) -> Iterator[tuple[int, Sequence[Chunk]]]:
    for start in range(0, len(chunks), BATCH):
        yield start, chunks[start : start + BATCH]


def _parser(mime: str) -> str:
    return next(kind.parser for kind in file_types().values() if kind.mime == mime)
