"""Run questions one after the other through the engine's search, and measure the time."""

import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from pincite.config.settings import Settings
from pincite.core.accounts.access import LOCAL, Caller
from pincite.core.documents.document import Progress
from pincite.core.query.hits import Hit
from pincite.core.query.question import Question
from pincite.engine.app import AsyncPincite
from pincite.errors import BadRequest
from pincite.evaluate.measure.metrics import DEPTH

WARM_UP_QUESTIONS = 3
"""Number of questions run beforehand, so that loading models and planning queries is not measured."""

Report = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Response:
    """The hits of a question, its time, and notes on degraded stages."""

    hits: tuple[Hit, ...]
    ms: float
    notes: tuple[str, ...]


async def ask_all(
    pincite: AsyncPincite,
    texts: Sequence[str | Question],
    settings: Settings,
    *,
    caller: Caller = LOCAL,
    report: Report,
) -> AsyncIterator[Response]:
    """Yield the response to each question with these settings, in order."""
    for text in texts[:WARM_UP_QUESTIONS]:
        await _ask(pincite, text, settings, caller)
    for number, text in enumerate(texts, start=1):
        yield await _ask(pincite, text, settings, caller)
        report(Progress("asking", number, len(texts), 0.0, of="question"))


async def _ask(pincite: AsyncPincite, text: str | Question, settings: Settings, caller: Caller) -> Response:
    """Search normally to measure the time, then deeper for the ranking; a refused question has no hits."""
    question = Question(text) if isinstance(text, str) else text
    started = time.perf_counter()
    try:
        await pincite.search(question, caller=caller, settings=settings)
        ms = (time.perf_counter() - started) * 1000
        result = await pincite.search(replace(question, top_k=search_depth(settings)), caller=caller, settings=settings)
    except BadRequest as error:
        return Response((), (time.perf_counter() - started) * 1000, (f"questions refused: {error.code}",))
    return Response(result.hits, ms, tuple(f"{note.stage}: {note.reason}" for note in result.degraded))


def search_depth(settings: Settings) -> int:
    """Number of passages to request: as many as the metrics need, but no more than the search's candidates."""
    return min(DEPTH, max(settings.rag.candidates, settings.rag.top_k))


def count_notes(notes: Iterable[str]) -> tuple[str, ...]:
    """Deduplicate notes, with the number of occurrences."""
    seen: dict[str, int] = {}
    for note in notes:
        seen[note] = seen.get(note, 0) + 1
    return tuple(note if times == 1 else f"{note} ({times:,} times)" for note, times in seen.items())


def percentile(values: Sequence[float], share: float) -> float:
    """Return a percentile; 0 if there are no values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
