"""A test screen, and factories of the printed values."""

import io
from collections.abc import Callable
from datetime import UTC, datetime

from pincite.cli.view.screen import Screen
from pincite.core.documents.document import Access, Document, Failure, Status
from pincite.core.query.answer import (
    Answer,
    AnswerMetadata,
    Citation,
    Confidence,
    Groundedness,
    SearchResult,
    Source,
    Sufficiency,
)
from pincite.core.query.hits import Hit, ScoreContribution
from tests.builders import found, fusion

DAY = datetime(2024, 1, 31, 12, 0, tzinfo=UTC)


def seen(show: Callable[[Screen], object], width: int = 80, *, colour: bool = False, piped: bool = False) -> str:
    """What a function prints on a terminal of this width, or into a pipe."""
    screen = Screen()
    screen.file = io.StringIO()
    screen.width = width
    screen._force_terminal = not piped
    if colour:
        screen._color_system = screen._detect_color_system()
    show(screen)
    return screen.file.getvalue()


def source(number: int, **more: object) -> Source:
    values: dict[str, object] = {
        "number": number, "document_id": f"doc{number}", "document_name": f"file{number}.md", "title": "Handbook",
        "chunk_id": "c", "version": "v", "checksum": "", "page": None, "start_line": 3, "end_line": 9, "start_char": 0,
        "end_char": 99, "heading_path": ("Keys",), "snippet": "", "score": 1.0, "relevance": 0.9,
        "similarity_score": 0.5, "hybrid_score": 1.0, "urls": (), "cited": True,
    }  # fmt: skip
    return Source(**{**values, **more})  # type: ignore[arg-type]


def citation(text: str, answer: str, number: int | None, quote: str = "", line: int = 5, **more: object) -> Citation:
    start = answer.index(text)
    values: dict[str, object] = {
        "text": text, "start": start, "end": start + len(text), "matched": number is not None, "matched_by": None,
        "source": number, "quote": quote, "quote_start_char": line * 10 if quote else None,
        "quote_end_char": line * 10 + len(quote) if quote else None, "quote_start_line": line if quote else None,
        "quote_end_line": line + quote.count("\n") if quote else None, "page": None, "support": 1.0,
    }  # fmt: skip
    return Citation(**{**values, **more})  # type: ignore[arg-type]


def answer(text: str, sources: tuple[Source, ...], citations: tuple[Citation, ...], **more: object) -> Answer:
    values: dict[str, object] = {
        "id": "a", "text": text, "strategy": "hybrid", "sources": sources, "citations": citations,
        "related_documents": (), "confidence": Confidence(0.82, "high", "1 cited source, every sentence supported"),
        "groundedness": Groundedness(1.0), "context_sufficiency": Sufficiency(True, 1.0), "has_relevant_sources": True,
        "metadata": AnswerMetadata(1, "extractive", "stop", "trace1"),
    }  # fmt: skip
    return Answer(**{**values, **more})  # type: ignore[arg-type]


def document(name: str = "file.md", **more: object) -> Document:
    values: dict[str, object] = {
        "id": "abcdefghijklmnop", "name": name, "title": "Handbook", "author": None, "description": None,
        "status": Status.COMPLETED, "progress": 1.0, "stage": None, "error": None, "version": "20240131T120000000000Z",
        "versions": 1, "mime": "text/markdown", "bytes": 2048, "checksum": "c" * 64, "folder": "", "tags": (),
        "source_uri": None, "source_urls": (), "chunks": 3, "stale": False, "access": Access("local"),
        "created_at": DAY, "updated_at": DAY,
    }  # fmt: skip
    return Document(**{**values, **more})  # type: ignore[arg-type]


FAILED = {"status": Status.ERROR, "error": Failure("not_utf8", "byte 4 is not UTF-8")}


def hit(text: str, score: float, *placings: ScoreContribution, **more: object) -> Hit:
    return Hit(found(text, **more), score, 0.5, 0.9, score, placings)  # type: ignore[arg-type]


def result(*hits: Hit, **more: object) -> SearchResult:
    values: dict[str, object] = {"strategy": "hybrid", "degraded": (), "trace_id": "t", "fusion": fusion()}
    return SearchResult(hits, **{**values, **more})  # type: ignore[arg-type]
