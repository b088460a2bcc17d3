import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pincite.config.branches.retrieval import Cache
from pincite.core.accounts.access import Scope
from pincite.core.protocols import CacheEntry, CacheLookup, SimilarQuestion, Vector
from pincite.core.query.answer import Answer
from pincite.core.query.question import Exchange, Question
from pincite.core.run import Run
from pincite.errors import StoreDown
from pincite.providers.extractive import Extractive
from pincite.providers.scripted import Options, ScriptedEmbedder, ScriptedLLM
from pincite.query.cache import semantic_cache as module
from pincite.query.pipeline import answer

TEXTS = {1: "Every employee has 30 days of leave.\nUnused days expire in March.", 2: "The canteen opens at noon."}
RANKS = {1: 0.8, 2: 0.2}
ASKED = "When do unused days of leave expire?"


class MemoryCache:
    """Saves every entry, without permissions, which the store checks."""

    def __init__(self, fail: str = "", slow: bool = False) -> None:
        self.entries: list[CacheEntry] = []
        self._fail, self._slow = fail, slow

    async def look_up(self, _scope: Scope, key: bytes, question: str) -> CacheLookup:
        if self._fail == "look":
            raise StoreDown("the database is gone")
        mine = [(n, entry) for n, entry in enumerate(self.entries) if entry.key == key]
        same = next((n for n, entry in mine if entry.question == question), None)
        return CacheLookup("state", same, any(entry.question != question for _, entry in mine))

    async def similar(self, _scope: Scope, key: bytes, vector: Vector, least: float) -> list[SimilarQuestion]:
        found = [
            SimilarQuestion(n, one.question, _dot(one, vector)) for n, one in enumerate(self.entries) if one.key == key
        ]
        return sorted((one for one in found if one.similarity >= least), key=lambda one: -one.similarity)

    async def read(self, _scope: Scope, entry: int) -> Answer | None:
        return self.entries[entry].answer

    async def save(self, _scope: Scope, entry: CacheEntry, _limits: Cache) -> bool:
        if self._fail == "keep":
            raise StoreDown("the database is gone")
        if self._slow:
            await asyncio.sleep(60)
        self.entries.append(entry)
        return True


def _dot(entry: CacheEntry, vector: Vector) -> float:
    return sum(a * b for a, b in zip(entry.vector, vector, strict=True))


class Caller:
    """Asks questions in separate runs with one cache."""

    def __init__(self, make_run: Callable[..., Run], cache: MemoryCache | None = None, **settings: Any) -> None:
        self._make, self._settings = make_run, settings
        self.cache = cache or MemoryCache()
        self.runs: list[Run] = []

    def ask(self, question: str | Question, **more: Any) -> Answer:
        run = self._make(TEXTS, dict(RANKS), dict(RANKS), **{**self._settings, **more})
        run.kit = replace(run.kit, cache=self.cache)
        self.runs.append(run)
        return asyncio.run(answer(run, Question(question) if isinstance(question, str) else question))

    def told(self) -> dict[str, Any]:
        [lookup] = [span for span in self.runs[-1].spans if span.name == "cache_lookup"]
        return lookup.attributes


def test_a_cache_miss_costs_one_lookup_and_one_embedding(make_run: Callable[..., Run]) -> None:
    asker = Caller(make_run)
    asker.ask(ASKED)
    names = [span.name for span in asker.runs[0].spans]
    assert (names.count("cache_lookup"), names.count("query_embedding"), names[-1]) == (1, 1, "cache_saving")
    assert asker.told()["known"] is False
    asker.ask("When does the canteen open?")
    assert [span.name for span in asker.runs[1].spans].count(
        "query_embedding"
    ) == 1  # compared and searched by one vector


@pytest.mark.parametrize(
    ("mode", "polite", "reworded"), [("precision", False, False), ("adaptive", True, False), ("recall", True, True)]
)
def test_the_threshold_mode_sets_the_required_similarity(
    make_run: Callable[..., Run], mode: str, polite: bool, reworded: bool
) -> None:
    limits = {"cache__threshold_mode": mode, "cache__precision_threshold": 0.8, "cache__recall_threshold": 0.6}
    asker = Caller(make_run, **limits)
    asker.ask(ASKED)
    assert asker.ask(f"Could you please tell me {ASKED.lower()}").metadata.cached is polite
    fresh = Caller(make_run, **limits)
    fresh.ask(ASKED)
    assert fresh.ask("When do unused days of leave expires?").metadata.cached is reworded
    assert fresh.ask("When do 12 unused days of leave expire?").metadata.cached is False
    assert fresh.told()["differs_in"] == "numbers"


def test_without_an_embedder_only_the_very_same_words_are_recognised(make_run: Callable[..., Run]) -> None:
    asker = Caller(make_run)
    asker.ask(ASKED)
    down = ScriptedEmbedder(Options(fail="down"))
    assert asker.ask(ASKED, embedder=down).metadata.cached
    other = asker.ask(f"Please tell me {ASKED}", embedder=down)
    assert not other.metadata.cached
    assert [note.stage for note in other.degraded] == ["query_embedding"]
    assert len(asker.cache.entries) == 1


@pytest.mark.parametrize(
    ("fail", "stage", "in_the_answer"),
    [("look", "cache_lookup", True), ("keep", "cache_saving", False), ("slow", "cache_saving", False)],
)
def test_a_cache_that_fails_costs_no_answer(
    make_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, fail: str, stage: str, in_the_answer: bool
) -> None:
    monkeypatch.setattr(module, "SAVE_TIMEOUT_S", 0.05)
    asker = Caller(make_run, MemoryCache(fail, slow=fail == "slow"))
    result = asker.ask(ASKED)
    assert result.sources
    assert [note.stage for note in asker.runs[0].degraded] == [stage]
    assert bool(result.degraded) is in_the_answer


def test_a_rewritten_question_is_looked_up_but_not_saved(
    make_run: Callable[..., Run],
) -> None:
    class Rewriting(ScriptedLLM):
        async def write(self, prompt: Any) -> Any:
            self._options = Options(answers=("When does unused leave expire in Bern?",) if not prompt.sources else ())
            async for piece in super().write(prompt):
                yield piece

    asker = Caller(make_run)
    model = Rewriting(Options())
    said = (
        Exchange("When does unused leave expire in Chur?", "When does unused leave expire in Chur?", "On 31 March."),
    )
    follow_up = Question("And in Bern?", conversation=said)
    first = asker.ask(follow_up, llm=model)
    assert (first.metadata.cached, asker.cache.entries) == (False, [])
    asker.ask("When does unused leave expire in Bern?", llm=model)
    again = asker.ask(follow_up, llm=model)
    assert again.metadata.cached
    assert again.metadata.rewritten_query == "When does unused leave expire in Bern?"
    alone = asker.ask(Question("When does unused leave expire in Bern?", conversation=said), llm=model)
    assert not alone.metadata.cached  # it may lean on what was said in a way that nobody noticed


def test_extractive_answers_are_cached_in_conversations(make_run: Callable[..., Run]) -> None:
    asker = Caller(make_run)
    embedder = ScriptedEmbedder(Options())
    run = make_run(TEXTS, dict(RANKS), dict(RANKS), embedder=embedder)
    chooser = Extractive(embedder)
    run.kit = replace(run.kit, cache=asker.cache, llm=chooser, extractive=chooser)
    said = (Exchange("When does the canteen open?", "When does the canteen open?", "At noon."),)
    asyncio.run(answer(run, Question(ASKED, conversation=said)))
    assert [entry.question for entry in asker.cache.entries] == [ASKED]


def test_a_guessed_question_is_neither_looked_up_nor_saved(make_run: Callable[..., Run]) -> None:
    asker = Caller(make_run)
    run = make_run(TEXTS, dict(RANKS), dict(RANKS))
    run.kit = replace(run.kit, cache=asker.cache)
    asyncio.run(answer(run, Question(ASKED, standalone="When do days expire?", guessed=True)))
    assert "cache_lookup" not in {span.name for span in run.spans}
    assert asker.cache.entries == []
