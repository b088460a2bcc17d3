"""Asks questions one after the other through the engine's own search, and takes the time."""

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

WARM_UP = 3
"""Questions asked beforehand, so that no model is loaded and no plan is made while the time is taken."""

Report = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Response:
    """What a question found, how long that took, and what was missing."""

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
    """What each question finds with these settings, in order."""
    for text in texts[:WARM_UP]:
        await _ask(pincite, text, settings, caller)
    for number, text in enumerate(texts, start=1):
        yield await _ask(pincite, text, settings, caller)
        report(Progress("asking", number, len(texts), 0.0, of="question"))


async def _ask(pincite: AsyncPincite, text: str | Question, settings: Settings, caller: Caller) -> Response:
    """Ask as one would, for the time; then deeper, for the ranking. What the settings do not allow finds nothing."""
    question = Question(text) if isinstance(text, str) else text
    started = time.perf_counter()
    try:
        await pincite.search(question, caller=caller, settings=settings)
        ms = (time.perf_counter() - started) * 1000
        result = await pincite.search(replace(question, top_k=depth(settings)), caller=caller, settings=settings)
    except BadRequest as error:
        return Response((), (time.perf_counter() - started) * 1000, (f"questions refused: {error.code}",))
    return Response(result.hits, ms, tuple(f"{note.stage}: {note.reason}" for note in result.degraded))


def depth(settings: Settings) -> int:
    """How many passages to ask for: as many as are judged, yet never so many that the search itself widens."""
    return min(DEPTH, max(settings.rag.candidates, settings.rag.top_k))


def counted(notes: Iterable[str]) -> tuple[str, ...]:
    """Each thing that was missing once, with how often it was."""
    seen: dict[str, int] = {}
    for note in notes:
        seen[note] = seen.get(note, 0) + 1
    return tuple(note if times == 1 else f"{note} ({times:,} times)" for note, times in seen.items())


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share of all does not exceed; 0 where there are none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
