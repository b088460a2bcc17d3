"""An engine with the stub as model and embedder, for questions under faults."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pincite.config.sources import load_settings
from pincite.core.query.answer import Answer
from pincite.core.query.question import Exchange, Question
from pincite.core.run import Event, Token
from pincite.engine.app import AsyncPincite
from pincite.models import calibration, facts
from pincite.models.kit_factory import KitFactory, make_embedder
from pincite.stub import StubLLM
from tests.builders import unresolved
from tests.reading import read_in_this_process
from tests.steady_clock import now

LEAVE = """# Leave

In Germany five vacation days — für alle — carry over into the next year.

In France three vacation days carry over.
"""
WRITTEN = "In Germany five vacation days — für alle — carry over. [Source 1]"
UNDERSTOOD = "How many vacation days carry over in Germany?"
BEFORE = "How many vacation days carry over in France?"


@dataclass(frozen=True, slots=True)
class Asked:
    """The result of a question: the answer, the streamed text, and the calls to the stub.

    `worked_s` is the time it took without that in which the machine ran something else.
    """

    answer: Answer
    shown: str
    complete: bool
    finish_in_trace: str | None
    calls: Counter[str]
    took_s: float
    worked_s: float

    @property
    def stages(self) -> set[str]:
        """The degraded stages of the answer."""
        return {note.stage for note in self.answer.degraded}

    @property
    def reasons(self) -> str:
        """The reasons for the degraded stages."""
        return " ".join(note.reason for note in self.answer.degraded)


SLOW = ("silent", "hang", "endless")
"""Faults that end by a time limit; all others get limits that a busy machine keeps."""


class Bench:
    """An engine and its stub; every `play` starts with new connections and circuit breakers."""

    def __init__(self, settings: dict[str, Any], pincite: AsyncPincite, stub: StubLLM, runner: asyncio.Runner) -> None:
        self.pincite, self.stub, self.run = pincite, stub, runner.run
        self._settings = settings

    def play(self, *faults: str, **settings: Any) -> None:
        """Start again with these faults and settings, such as `llm__timeout_s=1`."""
        answers = [{"match": "Rewritten question:", "say": UNDERSTOOD}, {"match": "", "say": WRITTEN}]
        self.stub.play(answers=answers, faults=faults)
        facts.DISCOVERY_TIMEOUT_S = 0.8 if any(fault.startswith(SLOW) for fault in faults) else 30
        changes = {name.replace("__", "."): value for name, value in settings.items()}
        self.pincite.services.settings = load_settings({**self._settings, **changes}, env={})
        index = self.pincite.services.tools.index(self.pincite.settings.rag)
        self.pincite.services.kit_factory = KitFactory(index, make_embedder(self.pincite.settings))

    def follow_up(self) -> Question:
        """A follow-up question in a new session."""
        turn = Exchange(BEFORE, BEFORE, "Three. [Source 1]")
        return Question("And in Germany?", conversation=(turn,), session_id=self.session())

    def session(self) -> str:
        """The id of a new session."""

        async def make() -> str:
            return (await self.pincite.services.sessions.create(await self.pincite.scope())).id

        return self.run(make())

    def ask(self, question: Question | None = None) -> Asked:
        """Ask a question with a session, or a follow-up question."""
        return self.run(self._ask(question or self.follow_up()))

    async def _ask(self, question: Question) -> Asked:
        scope, shown, before = await self.pincite.scope(), list[str](), len(self.stub.calls)

        def hear(event: Event) -> None:
            if isinstance(event, Token):
                shown.append(event.text)

        began, since = time.monotonic(), now()
        answer = await self.pincite.ask(question, listen=hear)
        took_s, worked_s = time.monotonic() - began, now() - since
        assert await unresolved(self.pincite, answer) == [], "every citation must resolve"
        kept = (await self.pincite.services.sessions.get(scope, str(question.session_id))).turns[-1]
        trace = await self.pincite.services.traces.get(scope, answer.metadata.trace_id)
        assert trace.outcome is not None
        paths = Counter(call.path.removeprefix("/v1/") for call in self.stub.calls[before:])
        return Asked(answer, "".join(shown), kept.complete, trace.outcome.finish_reason, paths, took_s, worked_s)


@contextmanager
def opened(database_url: str, folder: Path) -> Iterator[Bench]:
    """Open a bench with one document."""
    (folder / "leave.md").write_text(LEAVE, encoding="utf-8")
    with StubLLM() as stub, asyncio.Runner() as runner, pytest.MonkeyPatch.context() as patch:
        read_in_this_process(patch)
        patch.setattr(facts, "DISCOVERY_TIMEOUT_S", 30)  # and as `play` sets it
        patch.setitem(
            calibration.KNOWN, "e", calibration.MINILM
        )  # no calibration calls, so that only calls of questions are counted
        settings = {
            "data": folder / "data",
            "database.url": database_url,
            "ingest.workers": 1,
            "llm.base_url": stub.url,
            "llm.max_tokens": 50,
            "embedding.provider": "openai_compatible",
            "embedding.base_url": stub.url,
            "embedding.model": "e",
            "embedding.dimensions": 64,
            "resilience.backoff_s": 0,
            "resilience.backoff_cap_s": 0,
        }
        pincite = AsyncPincite(settings=load_settings(settings, env={}))
        runner.run(pincite.open())
        try:
            runner.run(pincite.add(folder / "leave.md"))
            yield Bench(settings, pincite, stub, runner)
        finally:
            runner.run(pincite.close())
