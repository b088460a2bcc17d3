"""What is embedded for a passage: the passage led by its headings, by labels, or by what a model wrote about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pincite.config.settings import Settings
from pincite.core.documents.document import NO_HEADINGS, About, Chunk, ChunkLevel, Enriched, Parsed
from pincite.ingest.embed.enrich import Enricher, Enriching
from pincite.store.indexing.jobs import Job

LONGEST = 8000
"""Characters of an enriched passage that are embedded."""


@dataclass(frozen=True, slots=True)
class Wording:
    """A text to be embedded and what leads every window of it; `augmented` where a model added to it."""

    prefix: str
    text: str
    augmented: bool = False

    @property
    def whole(self) -> str:
        """All of it, as it is kept for inspection."""
        return self.prefix + self.text


class EmbeddingText:
    """Words the passages of one document for their vectors; the usual wording is left to whoever embeds them."""

    def __init__(self, settings: Settings, about: About | None, enricher: Enricher | None) -> None:
        self._settings = settings
        self._about = about
        self._enricher = enricher

    @classmethod
    async def of(cls, settings: Settings, tools: Enriching, job: Job, parsed: Parsed) -> "EmbeddingText":
        """The one for a document; what is known about it is looked up only where somebody wants it said."""
        if not settings.enrichment.enabled and settings.chunking.lead == "headings":
            return cls(settings, None, None)
        about = (await tools.store.about(job)).or_else(parsed)
        return cls(settings, about, Enricher(tools, job, about, parsed.text) if settings.enrichment.enabled else None)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the document should say about how it was worded."""
        return self._enricher.notes if self._enricher else ()

    async def compose(self, chunks: Sequence[Chunk]) -> Mapping[int, Wording]:
        """The wording of each passage, by ordinal, that is not to be embedded as usual."""
        if self._about is None:
            return {}
        passages = [chunk for chunk in chunks if chunk.level == ChunkLevel.CHUNK]
        written = await self._enricher.enrich(passages) if self._enricher else {}
        worded: dict[int, Wording] = {}
        for chunk in passages:
            if chunk.ordinal in written:
                worded[chunk.ordinal] = augmented(chunk, self._about, written[chunk.ordinal], self._settings)
            elif self._settings.chunking.lead == "labels":
                worded[chunk.ordinal] = labelled(chunk, self._about)
        return worded


def labelled(chunk: Chunk, about: About) -> Wording:
    """A passage under lines that say where it is from."""
    lines = [
        f"source: {about.source_uri or about.name}",
        f"doc_id: {about.document_id}",
        f"version: {about.version}",
        f"section: {_section(chunk)}",
    ]
    return Wording("\n".join(lines) + "\n\n", _text(chunk))


def augmented(chunk: Chunk, about: About, written: Enriched, settings: Settings) -> Wording:
    """A passage under what is known about its document, then what a model wrote about it; cut at `LONGEST` characters."""
    parts = settings.enrichment.parts
    known = {
        "source_uri": ("source", about.source_uri or about.name),
        "heading_path": ("section", _section(chunk)),
        "author": ("author", about.author),
        "description": ("description", about.description),
        "tags": ("tags", ", ".join(about.tags)),
        "content_type": ("content_type", chunk.content_type),
    }
    headers = [f"{name}: {value}" for part, (name, value) in known.items() if part in parts and value]
    prefix = "\n".join(headers)[: LONGEST // 2] + "\n\n" if headers else ""
    told = [f"summary: {written.summary}"] if "summary" in parts and written.summary else []
    if "possible_queries" in parts and written.questions:
        told.append("questions:\n" + "\n".join(f"- {question}" for question in written.questions))
    text = "\n\n".join([*told, _text(chunk)])
    return Wording(prefix, text[: LONGEST - len(prefix)], augmented=True)


def _section(chunk: Chunk) -> str:
    return " / ".join(heading for heading in chunk.heading_path if heading != NO_HEADINGS)


def _text(chunk: Chunk) -> str:
    return f"{chunk.header}\n{chunk.text}" if chunk.header else chunk.text
