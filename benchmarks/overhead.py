"""The pipeline's own time per question, by stage, without the model, the embedder and the store.

    ./run bench overhead [--documents DIR] [--questions 300]

Runs questions about the sample documents through the public API, in a conversation, with a model that answers at once.
Time inside a database transaction, the embedder or the model is subtracted from the total. Overlapping times count
once.
"""

import argparse
import asyncio
import itertools
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from pincite import AsyncPincite
from pincite.config.settings import Settings
from pincite.core.query.prompt import Prompt, StreamPart
from pincite.core.query.question import Question
from pincite.core.run import Kit
from pincite.core.traces import Trace
from pincite.ingest.accept.collect import collect

GOAL_MS = 3.5
WARM_UP = 30
DOCUMENTS = Path(__file__).parents[1] / "examples" / "documents"
ANSWER = "The observatory was opened in 1931 [Source 1]. It is on a mountain pass [Source 2]."
QUESTIONS = (
    "When was the observatory opened?", "How much did the recoating of the main mirror cost?",
    "What is the visitors' code of conduct?", "Wie viele Urlaubstage kann man übertragen?", "Who may use the telescope?",
)  # fmt: skip


class Outside:
    """When the work was outside of the pipeline, as (begin, end); the trace of the last question, and when it began."""

    def __init__(self) -> None:
        self.moments: list[tuple[float, float]] = []
        self.traced: tuple[Trace, float] | None = None

    @contextmanager
    def spell(self) -> Iterator[None]:
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.moments.append((begun, time.perf_counter()))

    def within(self, begin: float, end: float) -> float:
        """Seconds of this stretch that were spent outside."""
        total, reached = 0.0, begin
        for first, last in sorted(self.moments):
            first, last = max(first, reached), min(last, end)
            if last > first:
                total, reached = total + last - first, last
        return total


class Timed:
    """A part whose calls count as outside."""

    def __init__(self, part: Any, outside: Outside) -> None:
        self._part = part
        self._outside = outside

    def __getattr__(self, name: str) -> Any:
        return getattr(self._part, name)

    async def embed(self, *args: Any, **kwargs: Any) -> Any:
        with self._outside.spell():
            return await self._part.embed(*args, **kwargs)


class Instant:
    """A model that answers at once, as a stream of words."""

    name, window = "instant", 8192

    async def write(self, _prompt: Prompt) -> AsyncIterator[StreamPart]:
        for word in ANSWER.split(" "):
            yield StreamPart(f"{word} ")
        yield StreamPart(finish_reason="stop", model=self.name)


def time_the_rest(pincite: AsyncPincite, outside: Outside) -> None:
    """Take note of every call of the database, and of the embedder; let the instant model answer."""
    transaction, run_batch, make = (
        pincite.services.database.transaction,
        pincite.services.database.run_batch,
        pincite.services.kit_factory.kit,
    )
    keep = pincite.services.trace_sink.keep

    async def kept(owner: str, trace: Trace) -> None:
        outside.traced = trace, time.perf_counter() - trace.duration_ms / 1000
        await keep(owner, trace)

    @asynccontextmanager
    async def timed(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        with outside.spell():
            async with transaction(*args, **kwargs) as connection:
                yield connection

    async def timed_batch(*args: Any, **kwargs: Any) -> Any:
        with outside.spell():
            return await run_batch(*args, **kwargs)

    def kit(settings: Settings) -> Kit:
        from dataclasses import replace

        made = make(settings)
        return replace(made, llm=Instant(), embedder=Timed(made.embedder, outside))

    pincite.services.database.transaction = timed  # type: ignore[method-assign]
    pincite.services.database.run_batch = timed_batch  # type: ignore[method-assign]
    pincite.services.kit_factory.kit = kit  # type: ignore[method-assign]
    pincite.services.trace_sink.keep = kept  # type: ignore[method-assign]


async def measure(pincite: AsyncPincite, count: int) -> None:
    """Ask, and print what was ours of each stage."""
    outside = Outside()
    time_the_rest(pincite, outside)
    scope = await pincite.scope()
    session = (await pincite.services.sessions.create(scope)).id
    whole: list[float] = []
    ours: list[float] = []
    stages: dict[str, list[float]] = defaultdict(list)
    for number, text in enumerate(itertools.islice(itertools.cycle(QUESTIONS), WARM_UP + count)):
        outside.moments.clear()
        begun = time.perf_counter()
        await pincite.ask(Question(f"{text} ({number})", session_id=session))
        ended = time.perf_counter()
        if number < WARM_UP:
            continue
        whole.append((ended - begun) * 1000)
        ours.append((ended - begun - outside.within(begun, ended)) * 1000)
        assert outside.traced is not None
        trace, origin = outside.traced
        for span in trace.spans:
            if span.parent is None:
                first = origin + span.started_ms / 1000
                last = first + span.duration_ms / 1000
                stages[span.name].append((last - first - outside.within(first, last)) * 1000)
    report(whole, ours, stages)


def report(whole: list[float], ours: list[float], stages: dict[str, list[float]]) -> None:
    """The table, the dearest stage first; what no stage accounts for is told."""
    medians = {name: statistics.median(times) for name, times in stages.items()}
    print("| stage | own ms, p50 | p95 |\n|---|---|---|")
    for name in sorted(medians, key=lambda name: -medians[name]):
        print(f"| {name} | {medians[name]:.2f} | {percentile(stages[name], 95):.2f} |")
    print(f"| between and around them | {statistics.median(ours) - sum(medians.values()):.2f} | |")
    print(f"| **all (goal ≤ {GOAL_MS})** | **{statistics.median(ours):.2f}** | {percentile(ours, 95):.2f} |")
    print(f"| the whole question | {statistics.median(whole):.2f} | {percentile(whole, 95):.2f} |")


def percentile(values: list[float], percent: int) -> float:
    """The value that so many percent do not exceed."""
    return statistics.quantiles(values, n=100)[percent - 1]


async def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=Path, default=DOCUMENTS)
    parser.add_argument("--questions", type=int, default=300)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pincite-") as folder:
        async with AsyncPincite(folder) as pincite:
            await pincite.add_all(collect([options.documents]))
            await measure(pincite, options.questions)


if __name__ == "__main__":
    asyncio.run(main())
