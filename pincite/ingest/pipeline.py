"""The ingest pipeline: parse, chunk, embed, index and publish one version of a document. Read this module first."""

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
from pincite.ingest.chunk.semantic import topic_changes
from pincite.ingest.embed.bulk_embedder import BulkEmbedder
from pincite.ingest.embed.embed import Vectors, embed_chunks
from pincite.ingest.embed.embedding_text import EmbeddingTextComposer
from pincite.ingest.embed.enrich import EnrichmentTools
from pincite.ingest.read.reader_pool import Prepared, Reader
from pincite.parsers import file_types
from pincite.store.documents.blobs import Blobs
from pincite.store.indexing.chunk_rows import ChunkRow
from pincite.store.indexing.jobs import Job, Jobs
from pincite.store.indexing.publish import ParsedVersion
from pincite.store.indexing.write_edition import EditionWriter
from pincite.store.search.packed_postings import PackedPostings

BATCH_CHUNKS = 32
"""Chunks that are embedded and written at a time; limits the memory used and the work that a crash loses."""
PARSING_SHARE = 0.05
"""Share of a document's progress that parsing and chunking count for."""


async def _discard_trace(_owner: str, _trace: Trace) -> None:
    """The default for `keep_trace`: do nothing."""


async def _no_other_index(_index: int) -> "IngestKit":
    """The default for `kit_for_index`: there is only the index that is searched."""
    raise Conflict("no second index is being built")


@dataclass(frozen=True, slots=True)
class IngestKit:
    """The settings, stores and models with which documents are processed; built once per change of settings.

    `window` is the embedder's maximum input in tokens. `keep_trace` stores the trace of a document's processing.
    `kit_for_index` returns the kit for an index that is being
    built and is not searched yet.
    """

    settings: Settings
    originals: Blobs
    reader: Reader
    bulk_embedder: BulkEmbedder
    model: str
    window: int
    indexing: EditionWriter
    jobs: Jobs
    packs: PackedPostings
    enriching: EnrichmentTools
    keep_trace: Callable[[str, Trace], Awaitable[None]] = _discard_trace
    kit_for_index: "Callable[[int], Awaitable[IngestKit]]" = _no_other_index


async def ingest(kit: IngestKit, job: Job) -> None:
    """Make one version of a document searchable and store a trace, also where it fails; errors are raised."""
    started, failed, trace_id = datetime.now(UTC), None, secrets.token_hex(16)
    request_id.set(trace_id)
    with recording() as made:
        try:
            await _run_stages(kit, job)
        except BaseException as error:
            failed = error
            raise
        finally:
            trace = Trace(
                trace_id,
                "ingest",
                started,
                made.elapsed_ms,
                error=type(failed).__name__ if failed else None,
                code=error_code(failed) if failed else None,
                spans=tuple(made.spans),
                request_id=trace_id,
                options={"document_id": job.document_id, "version": job.version, "attempt": job.attempts},
            )
            await kit.keep_trace(job.owner, trace)


async def _run_stages(kit: IngestKit, job: Job) -> None:
    """Run the stages from top to bottom; searches see the new version only after the last one."""
    target = await kit.indexing.target(job)
    if target.outdated:
        await kit.indexing.drop(job)
        return
    if target.generation is not None:
        kit = await kit.kit_for_index(target.generation)
    await kit.jobs.report(job, "parsing", 0.0)
    with span("parsing", mime=target.mime) as it:
        data = await kit.originals.read(job.owner, job.document_id, target.version_id)
        prepared = await _parse_and_chunk(kit, job, data, _parser_for(target.mime))
        it.attributes["passages"] = len(prepared.chunks)
    if target.generation is not None and not await kit.indexing.has_text(job, prepared.parsed.text):
        # Both indexes share one text. The parser gives another text by now, so the searched index is renewed first.
        await kit.indexing.requeue_for_parsing(job)
        return
    composer = await EmbeddingTextComposer.of(kit.settings, kit.enriching, job, prepared.parsed)

    async def known_vectors(hashes: Sequence[bytes]) -> dict[bytes, Vectors]:
        return await kit.indexing.known_vectors(job.owner, hashes) if kit.settings.ingest.dedupe else {}

    async def embed_passages(passages: Sequence[tuple[str, str]]) -> list[Vectors]:
        began = time.monotonic()
        vectors = await kit.bulk_embedder.embed(passages)
        count("calls")
        count("texts", len(passages))
        count("embedding_ms", round((time.monotonic() - began) * 1000))
        return vectors

    with span("indexing", **embedding_attributes(kit.settings.embedding.provider, kit.model), calls=0) as it:
        it.attributes["chunks"] = len(prepared.chunks)
        edition = await kit.indexing.begin(target) if len(prepared.chunks) > BATCH_CHUNKS else None
        entries: list[ChunkRow] = []
        for done, batch in _batches(prepared.chunks):
            await kit.jobs.report(job, "embedding", PARSING_SHARE + (1 - PARSING_SHARE) * done / len(prepared.chunks))
            composed = await composer.compose(batch)
            entries = await embed_chunks(
                batch, prepared.parsed.title, kit.model, known_vectors, embed_passages, composed
            )
            if edition:
                await kit.indexing.write(edition, entries)
    with span("serving"):
        if edition:
            await kit.indexing.serve(edition, ParsedVersion(prepared.parsed, notes=composer.notes))
        else:  # a small document is written and published in one transaction
            await kit.indexing.publish(target, ParsedVersion(prepared.parsed, entries, composer.notes))


async def _parse_and_chunk(kit: IngestKit, job: Job, data: bytes, parser: str) -> Prepared:
    """Parse and chunk the file; with semantic chunking twice, because its sentences must be compared in between."""
    chunking = kit.settings.chunking

    async def report(what: str, done: int, of: int) -> None:
        await kit.jobs.report(job, f"parsing, {what} {done:,} of {of:,}", PARSING_SHARE * min(1.0, done / max(1, of)))

    prepared = await kit.reader.read(data, parser, chunking, report=report, window=kit.window)
    if not prepared.runs:
        return prepared
    await kit.jobs.report(job, "comparing", 0.0)
    changes = await topic_changes(
        prepared.parsed.text, prepared.runs, chunking.breakpoint_percentile, kit.bulk_embedder.embed
    )
    return await kit.reader.read(data, parser, chunking, changes, window=kit.window)


def _batches(chunks: Sequence[Chunk]) -> Iterator[tuple[int, Sequence[Chunk]]]:
    for start in range(0, len(chunks), BATCH_CHUNKS):
        yield start, chunks[start : start + BATCH_CHUNKS]


def _parser_for(mime: str) -> str:
    return next(kind.parser for kind in file_types().values() if kind.mime == mime)
