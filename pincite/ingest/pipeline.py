"""A file becomes searchable. Read this first."""

import secrets
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pincite.config.settings import Settings
from pincite.core.documents.document import Chunk
from pincite.core.request_context import request_id
from pincite.core.traces import Trace, count, embedding_attributes, error_code, recording, span
from pincite.errors import Conflict
from pincite.ingest.chunk.semantic import cuts
from pincite.ingest.embed.bulk_embedder import BulkEmbedder
from pincite.ingest.embed.embed import Vectors, embed
from pincite.ingest.embed.embedding_text import EmbeddingText
from pincite.ingest.embed.enrich import Enriching
from pincite.ingest.read.reader_pool import Prepared, Reader
from pincite.parsers import file_types
from pincite.store.documents.blobs import Blobs
from pincite.store.indexing.chunk_rows import ChunkRow
from pincite.store.indexing.jobs import Job, Jobs
from pincite.store.indexing.publish import ParsedVersion
from pincite.store.indexing.write_edition import EditionWriter
from pincite.store.search.packed_postings import PackedPostings

BATCH = 32
"""Chunks embedded and written at a time: bounds memory, and what a crash can cost."""
PREPARED = 0.05
"""Share of the progress that reading and chunking count for."""


async def _forget(_owner: str, _trace: Trace) -> None:
    """Where traces go that nobody wants."""


async def _nowhere(_index: int) -> "IngestKit":
    """Where there is no index but the one that is searched."""
    raise Conflict("no other index is built here")


@dataclass(frozen=True, slots=True)
class IngestKit:
    """Everything that processing a document needs, built once; `keep` takes the trace of each.

    `beside` is where a document is made part of an index that is not searched yet.
    """

    settings: Settings
    originals: Blobs
    reader: Reader
    lane: BulkEmbedder
    model: str
    indexing: EditionWriter
    jobs: Jobs
    packs: PackedPostings
    enriching: Enriching
    keep: Callable[[str, Trace], Awaitable[None]] = _forget
    beside: "Callable[[int], Awaitable[IngestKit]]" = _nowhere


async def ingest(shop: IngestKit, job: Job) -> None:
    """Make one version searchable, and keep a trace of it however it ends; what went wrong is the document's to tell."""
    started, failed, trace_id = datetime.now(UTC), None, secrets.token_hex(16)
    request_id.set(trace_id)
    with recording() as made:
        try:
            await _ingest(shop, job)
        except BaseException as error:
            failed = error
            raise
        finally:
            trace = Trace(
                trace_id, "ingest", started, made.elapsed_ms, error=type(failed).__name__ if failed else None,
                code=error_code(failed) if failed else None, spans=tuple(made.spans), request_id=trace_id,
                options={"document_id": job.document_id, "version": job.version, "attempt": job.attempts},
            )  # fmt: skip
            await shop.keep(job.owner, trace)


async def _ingest(shop: IngestKit, job: Job) -> None:
    """Every stage once, top to bottom; readers see nothing before the last."""
    target = await shop.indexing.target(job)
    if target.outdated:
        await shop.indexing.drop(job)
        return
    if target.generation is not None:
        shop = await shop.beside(target.generation)
    await shop.jobs.report(job, "parsing", 0.0)
    with span("parsing", mime=target.mime) as it:
        data = await shop.originals.read(job.owner, job.document_id, target.version_id)
        prepared = await _prepared(shop, job, data, _parser(target.mime))
        it.attributes["passages"] = len(prepared.chunks)
    if target.generation is not None and not await shop.indexing.says(job, prepared.parsed.text):
        await shop.indexing.read_anew(
            job
        )  # two indexes share one text: where it is read otherwise by now, that is served first
        return
    composer = await EmbeddingText.of(shop.settings, shop.enriching, job, prepared.parsed)

    async def known(hashes: Sequence[bytes]) -> dict[bytes, Vectors]:
        return await shop.indexing.known_vectors(job.owner, hashes) if shop.settings.ingest.dedupe else {}

    async def lane(passages: Sequence[tuple[str, str]]) -> list[Vectors]:
        began = time.monotonic()
        vectors = await shop.lane.embed(passages)
        count("calls")
        count("texts", len(passages))
        count("embedding_ms", round((time.monotonic() - began) * 1000))
        return vectors

    with span("indexing", **embedding_attributes(shop.settings.embedding.provider, shop.model), calls=0) as it:
        it.attributes["chunks"] = len(prepared.chunks)
        edition = await shop.indexing.begin(target) if len(prepared.chunks) > BATCH else None
        entries: list[ChunkRow] = []
        for done, batch in _batches(prepared.chunks):
            await shop.jobs.report(job, "embedding", PREPARED + (1 - PREPARED) * done / len(prepared.chunks))
            worded = await composer.compose(batch)
            entries = await embed(batch, prepared.parsed.title, shop.model, known, lane, worded)
            if edition:
                await shop.indexing.write(edition, entries)
    with span("serving"):
        if edition:
            await shop.indexing.serve(edition, ParsedVersion(prepared.parsed, notes=composer.notes))
        else:  # so little is written and served at once
            await shop.indexing.publish(target, ParsedVersion(prepared.parsed, entries, composer.notes))


async def _prepared(shop: IngestKit, job: Job, data: bytes, parser: str) -> Prepared:
    """The file's text and chunks; one that is cut by meaning is read again once its sentences have been compared."""
    chunking = shop.settings.chunking

    async def report(what: str, done: int, of: int) -> None:
        await shop.jobs.report(job, f"parsing, {what} {done:,} of {of:,}", PREPARED * min(1.0, done / max(1, of)))

    prepared = await shop.reader.read(data, parser, chunking, report=report)
    if not prepared.runs:
        return prepared
    await shop.jobs.report(job, "comparing", 0.0)
    turns = await cuts(prepared.parsed.text, prepared.runs, chunking.breakpoint_percentile, shop.lane.embed)
    return await shop.reader.read(data, parser, chunking, turns)


def _batches(chunks: Sequence[Chunk]) -> Iterator[tuple[int, Sequence[Chunk]]]:
    for start in range(0, len(chunks), BATCH):
        yield start, chunks[start : start + BATCH]


def _parser(mime: str) -> str:
    return next(kind.parser for kind in file_types().values() if kind.mime == mime)
