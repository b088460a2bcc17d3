"""The keywords of `ask`, `search` and `stream` as a question; the events of an answer as they come."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from pincite.concurrency import cancel_and_wait
from pincite.config.levels import find_level
from pincite.core.documents.document import Document
from pincite.core.query.answer import Answer
from pincite.core.query.question import EffortLevel, Filters, Question, RequestedStrategy, check_list
from pincite.core.run import Event
from pincite.core.times import parse_time
from pincite.errors import Invalid
from pincite.ingest.accept.accept import clean_folder

Paths = list[str] | list[Path] | list[str | Path] | tuple[str | Path, ...]
"""Several files."""
MAX_TOP_K = 1000
"""The largest number of passages that a question may ask for."""


def make_question(
    question: str | Question,
    *,
    top_k: int | None = None,
    folder: str | None = None,
    tags: Sequence[str] = (),
    documents: Sequence[str | Document] | None = None,
    strategy: RequestedStrategy | None = None,
    level: EffortLevel | None = None,
    as_of: datetime | str | None = None,
    session: str | None = None,
) -> Question:
    """Return the question with the keywords that were given; they replace its own values."""
    asked = Question(question) if isinstance(question, str) else question
    if not isinstance(asked, Question):
        raise Invalid(f"a question is a text or a Question, not {type(question).__name__}")
    if top_k is not None and not 1 <= top_k <= MAX_TOP_K:
        raise Invalid(f"top_k must be between 1 and {MAX_TOP_K}, not {top_k}")
    wanted: dict[str, Any] = {
        "top_k": top_k,
        "filters": _filters(asked.filters, folder, tags, documents, as_of),
        "strategy": strategy,
        "intelligence_level": level,
        "session_id": session,
    }
    return replace(asked, **{name: value for name, value in wanted.items() if value is not None})


def _filters(
    filters: Filters,
    folder: str | None,
    tags: Sequence[str],
    documents: Sequence[str | Document] | None,
    as_of: datetime | str | None,
) -> Filters:
    check_list("tags", tags)
    check_list("documents", documents)
    if isinstance(documents, Document):
        raise Invalid("documents must be a list of documents or ids, not one document: write [document]")
    ids = documents and tuple(one.id if isinstance(one, Document) else one for one in documents)
    wanted: dict[str, Any] = {
        "folder": clean_folder(folder) if folder else None,
        "tags": tuple(dict.fromkeys(tags)) or None,
        "document_ids": () if documents is not None and not ids else ids,
        "as_of": _moment(as_of),
    }
    return replace(filters, **{name: value for name, value in wanted.items() if value is not None})


def _moment(as_of: datetime | str | None) -> datetime | None:
    try:
        return parse_time(as_of) if isinstance(as_of, str) else as_of
    except ValueError as error:
        raise Invalid(f"as_of {error}") from None


def with_level_values(question: Question) -> Question:
    """Return a question whose level is spelt out as settings: a search has no level of its own."""
    if question.intelligence_level is None:
        return question
    values = {**find_level(question.intelligence_level).values, **dict(question.changes)}
    return replace(question, changes=tuple(values.items()))


async def events_of(ask: Callable[[Callable[[Event], None]], Awaitable[Answer]]) -> AsyncGenerator[Event, None]:
    """Yield the events of an answer as they come; the answer is cancelled if the caller stops listening."""
    events: asyncio.Queue[Event | None] = asyncio.Queue()

    async def answer() -> None:
        try:
            await ask(events.put_nowait)
        finally:
            events.put_nowait(None)

    task = asyncio.create_task(answer())
    try:
        while (event := await events.get()) is not None:
            yield event
        await task
    finally:
        await cancel_and_wait(task)
