import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest

from pincite.core.query.plan import Plan
from pincite.core.query.prompt import Prompt, StreamPart
from pincite.core.query.question import Question
from pincite.core.run import Run
from pincite.errors import ProviderError
from pincite.query.pipeline import query_expansion
from pincite.query.prompt.helper_call import Bounds
from pincite.query.retrieve import query_expansion as stage
from pincite.query.retrieve.query_expansion import clean_lines, expands
from pincite.query.understand.analysis import query_analysis

VARIATIONS = "1. How high is the tower?\n2. What is the height of the building?\n3. tower elevation\n4. one too many"
GENERAL = "More general question: How tall are towers?"
SUPPOSED = "Passage: Trust is\nbuilt slowly."
ALL_ON = {"rag__query_expansion_enabled": True, "rag__hyde_enabled": True, "rag__step_back_enabled": True}


class Model:
    """Answers by prompt, records the prompts, and counts concurrent calls."""

    name, window = "gpt-4o", 8192

    def __init__(self, *, fails: str = "", delay_s: float = 0.0, says: str | None = None) -> None:
        self.prompts: list[str] = []
        self.now = self.most = 0
        self._fails, self._delay_s, self._says = fails, delay_s, says

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        shown = prompt.messages[0].content
        self.prompts.append(shown)
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(self._delay_s)
        self.now -= 1
        if self._fails and self._fails in shown:
            raise ProviderError("connection refused")
        by_ending = {"Other words:": VARIATIONS, "Passage:": SUPPOSED, "More general question:": GENERAL}
        yield StreamPart(
            self._says if self._says is not None else next(by_ending[end] for end in by_ending if shown.endswith(end))
        )


def expanded(run: Run, question: Question) -> Plan:
    async def go() -> Plan:
        return await run.step(query_expansion, await query_analysis(run, question))

    return asyncio.run(go())


def test_expansion_is_off_by_default(make_run: Callable[..., Run]) -> None:
    model = Model()
    plan = expanded(make_run(llm=model), Question("How tall is the tower in Bern?"))
    assert (plan.extra, model.prompts, plan.many) == ((), [], False)


def test_each_setting_makes_one_call_and_all_run_concurrently(make_run: Callable[..., Run]) -> None:
    model = Model(delay_s=0.01)
    plan = expanded(make_run(llm=model, **ALL_ON), Question("What is trust?"))
    assert (len(model.prompts), model.most) == (3, 3)
    assert plan.extra == (
        "How tall are towers?",
        "Trust is built slowly.",
        "How high is the tower?",
        "What is the height of the building?",
        "tower elevation",
    )
    by_text = {text: [search.via for search in plan.searches if search.text == text] for text in plan.searched}
    assert by_text["Trust is built slowly."] == ["dense"]
    assert by_text["How tall are towers?"] == ["dense", "lexical"]
    assert plan.many
    assert plan.queries == ("What is trust?",)  # passages are judged by what was asked


@pytest.mark.parametrize("text", ["What do you think about trust?", "Who was Ada Byron?", "What is E-1042?"])
def test_hyde_runs_only_for_short_questions_without_entities(make_run: Callable[..., Run], text: str) -> None:
    model = Model()
    assert expanded(make_run(llm=model, rag__hyde_enabled=True), Question(text)).extra == ()
    assert model.prompts == []


def test_fusion_switches_all_on_and_searches_the_parts_first(make_run: Callable[..., Run]) -> None:
    asked = Question("Who was older, Ada Byron or Karl Lindner?", strategy="fusion")
    plan = expanded(make_run(llm=Model()), asked)
    assert plan.extra == (
        "Who was older, Ada Byron",
        "Who was older, Karl Lindner",
        "How tall are towers?",
        "How high is the tower?",
        "What is the height of the building?",
        "tower elevation",
    )


def test_without_a_model_the_parts_are_searched_and_what_is_missing_is_said(make_run: Callable[..., Run]) -> None:
    run = make_run()
    run.kit = replace(run.kit, llm=run.kit.extractive)
    plan = expanded(run, Question("Who was older, Ada Byron or Karl Lindner?", strategy="fusion"))
    assert plan.extra == ("Who was older, Ada Byron", "Who was older, Karl Lindner")
    assert [note.stage for note in run.degraded] == ["step_back", "query_variations"]
    assert "none is configured" in run.degraded[0].reason
    run.degraded.clear()
    assert expanded(run, Question("q")).extra == ()
    assert run.degraded == []


def test_a_failed_expansion_is_left_out_and_reported(make_run: Callable[..., Run]) -> None:
    run = make_run(llm=Model(fails="More general"), **ALL_ON)
    plan = expanded(run, Question("How tall is the tower in Bern?"))
    assert plan.extra == ("How high is the tower?", "What is the height of the building?", "tower elevation")
    assert [(note.stage, note.reason) for note in run.degraded] == [("step_back", "connection refused")]


def test_a_model_that_takes_too_long_is_not_waited_for(
    make_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage, "VARIATIONS_BOUNDS", Bounds(0.05, 200, 1200))
    run = make_run(llm=Model(delay_s=30), rag__query_expansion_enabled=True)
    assert expanded(run, Question("How tall is the tower in Bern?")).extra == ()
    assert [note.stage for note in run.degraded] == ["query_variations"]
    assert "longer than 0.05 s" in run.degraded[0].reason


def test_every_query_that_was_asked_for_is_searched(make_run: Callable[..., Run]) -> None:
    asked = Question("When does parental leave end, and who leads Helios?", strategy="fusion")
    model = Model()
    plan = expanded(make_run(llm=model, rag__max_queries=3), asked)
    parts = ("When does parental leave end", "who leads Helios")
    written = (
        "How tall are towers?",
        "How high is the tower?",
        "What is the height of the building?",
        "tower elevation",
    )
    assert plan.searched == (asked.text, *parts, *written)
    assert len(model.prompts) == 2
    two = expanded(make_run(llm=Model(), rag__max_queries=2), asked)
    assert two.searched == (asked.text, parts[0], *written)


def test_where_the_queries_of_the_caller_are_all_nothing_is_added(make_run: Callable[..., Run]) -> None:
    for most, question in ((1, Question("What is trust?")), (2, Question("a", also=("b",), many=True))):
        run = make_run(llm=Model(), rag__max_queries=most, **ALL_ON)
        plan = asyncio.run(query_analysis(run, question))
        assert not expands(plan, run.settings.rag)


@pytest.mark.parametrize(
    ("says", "kept"),
    [
        ("", []),
        ("I'm sorry, I cannot do that.", []),
        (
            'Sure! Here are three:\n- one thing\n* "another thing"\n\n3) ` a third `',
            ["one thing", "another thing", "a third"],
        ),
        ("x" * 400, []),
        ("??\n\x00!!", []),
        ("<think>hm</think>\nQuestion 2: what else", ["what else"]),
    ],
)
def test_what_a_model_writes_is_cleaned(says: str, kept: list[str]) -> None:
    assert list(clean_lines(says)) == kept


def test_repeats_of_the_question_and_of_each_other_are_not_searched_twice(make_run: Callable[..., Run]) -> None:
    model = Model(says="How tall is the TOWER in Bern\nhow tall is the tower, in Bern?\nHeight\nheight!")
    plan = expanded(make_run(llm=model, rag__query_expansion_enabled=True), Question("How tall is the tower in Bern?"))
    assert plan.extra == ("Height",)


def test_a_question_too_long_for_the_window_is_not_expanded(make_run: Callable[..., Run]) -> None:
    model = Model()
    model.window = 300
    run = make_run(llm=model, rag__query_expansion_enabled=True)
    assert expanded(run, Question("word " * 200)).extra == ()
    assert model.prompts == []
    assert [note.stage for note in run.degraded] == ["query_variations"]


def test_lexical_search_alone_supposes_nothing(make_run: Callable[..., Run]) -> None:
    model = Model()
    asked: Any = Question("What is trust?", strategy="lexical_only")
    assert expanded(make_run(llm=model, rag__hyde_enabled=True), asked).extra == ()
