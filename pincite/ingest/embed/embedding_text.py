"""Composes the text that is embedded for a passage: with labels, or with an enrichment that a model wrote."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pincite.config.settings import Settings
from pincite.core.documents.document import NO_HEADINGS, About, Chunk, ChunkLevel, Enriched, Parsed
from pincite.ingest.embed.enrich import Enricher, EnrichmentTools
from pincite.store.indexing.jobs import Job

MAX_EMBEDDED_CHARS = 8000
"""Maximum length in characters of the embedding input of an enriched passage."""


@dataclass(frozen=True, slots=True)
class EmbeddingInput:
    """A text to embed and the prefix of each of its windows; `augmented` where a model added to it."""

    prefix: str
    text: str
    augmented: bool = False

    @property
    def whole(self) -> str:
        """Prefix and text, as stored for inspection."""
        return self.prefix + self.text


class EmbeddingTextComposer:
    """Composes the embedding inputs of one document's passages where they differ from the default (see `embed`)."""

    def __init__(self, settings: Settings, about: About | None, enricher: Enricher | None) -> None:
        self._settings = settings
        self._about = about
        self._enricher = enricher

    @classmethod
    async def of(cls, settings: Settings, tools: EnrichmentTools, job: Job, parsed: Parsed) -> "EmbeddingTextComposer":
        """The composer for a document; its metadata is loaded only where the settings need it."""
        if not settings.enrichment.enabled and settings.chunking.lead == "headings":
            return cls(settings, None, None)
        about = (await tools.store.about(job)).or_else(parsed)
        return cls(settings, about, Enricher(tools, job, about, parsed.text) if settings.enrichment.enabled else None)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the document about passages without enrichment."""
        return self._enricher.notes if self._enricher else ()

    async def compose(self, chunks: Sequence[Chunk]) -> Mapping[int, EmbeddingInput]:
        """The embedding inputs, by ordinal, of the passages that do not use the default."""
        if self._about is None:
            return {}
        passages = [chunk for chunk in chunks if chunk.level == ChunkLevel.CHUNK]
        written = await self._enricher.enrich(passages) if self._enricher else {}
        composed: dict[int, EmbeddingInput] = {}
        for chunk in passages:
            if chunk.ordinal in written:
                composed[chunk.ordinal] = augmented_input(chunk, self._about, written[chunk.ordinal], self._settings)
            elif self._settings.chunking.lead == "labels":
                composed[chunk.ordinal] = labelled_input(chunk, self._about)
        return composed


def labelled_input(chunk: Chunk, about: About) -> EmbeddingInput:
    """A passage under labels: its source, document, version and section."""
    lines = [
        f"source: {about.source_uri or about.name}",
        f"doc_id: {about.document_id}",
        f"version: {about.version}",
        f"section: {_section_path(chunk)}",
    ]
    return EmbeddingInput("\n".join(lines) + "\n\n", _text_with_header(chunk))


def augmented_input(chunk: Chunk, about: About, written: Enriched, settings: Settings) -> EmbeddingInput:
    """A passage under its document's metadata and the enrichment; cut at `MAX_EMBEDDED_CHARS` characters."""
    parts = settings.enrichment.parts
    metadata = {
        "source_uri": ("source", about.source_uri or about.name),
        "heading_path": ("section", _section_path(chunk)),
        "author": ("author", about.author),
        "description": ("description", about.description),
        "tags": ("tags", ", ".join(about.tags)),
        "content_type": ("content_type", chunk.content_type),
    }
    headers = [f"{name}: {value}" for part, (name, value) in metadata.items() if part in parts and value]
    prefix = "\n".join(headers)[: MAX_EMBEDDED_CHARS // 2] + "\n\n" if headers else ""
    enrichment = [f"summary: {written.summary}"] if "summary" in parts and written.summary else []
    if "possible_queries" in parts and written.questions:
        enrichment.append("questions:\n" + "\n".join(f"- {question}" for question in written.questions))
    text = "\n\n".join([*enrichment, _text_with_header(chunk)])
    return EmbeddingInput(prefix, text[: MAX_EMBEDDED_CHARS - len(prefix)], augmented=True)


def _section_path(chunk: Chunk) -> str:
    return " / ".join(chunk.heading_path) or NO_HEADINGS


def _text_with_header(chunk: Chunk) -> str:
    return f"{chunk.header}\n{chunk.text}" if chunk.header else chunk.text
