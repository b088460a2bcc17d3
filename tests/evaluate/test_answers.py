"""Questions with expected answers are asked and judged."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pincite.config.settings import Settings
from pincite.config.sources import with_values
from pincite.core.traces import TraceFilter
from pincite.engine.app import AsyncPincite
from pincite.evaluate.answers import answer_all, compare_answers, given_answer, outcome_of
from pincite.evaluate.questions.answer_sets import load_answer_set, parse_questions
from pincite.evaluate.variants import read_variants
from pincite.providers.scripted import Options, ScriptedLLM
from tests.builders import answering
from tests.evaluate.makers import ANSWER_ROWS, write_answer_set

SCRIPTED = Settings.model_validate({"embedding": {"provider": "scripted"}, "ingest": {"workers": 1}})


def silent(_progress: object) -> None:
    """Nobody listens."""


@pytest.fixture
def asked(open_pincite: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """Runs something on a library with the documents of the set."""

    def run(test: Callable[[AsyncPincite], Any]) -> Any:
        async def main() -> Any:
            async with open_pincite() as pincite:
                for path in load_answer_set(write_answer_set(tmp_path / "set")).files.values():
                    await pincite.add(path)
                return await test(pincite)

        return asyncio.run(main())

    return run


def test_each_answer_is_judged_timed_and_kept_without_its_text(asked: Callable[..., Any]) -> None:
    async def test(pincite: AsyncPincite) -> None:
        asking = answer_all(pincite, parse_questions(ANSWER_ROWS), pincite.settings, report=silent)
        answers = [one async for one in asking]
        verdicts = {one.question.id: one.result.verdict for one in answers}
        assert verdicts == {
            "a1": "right", "a2": "partly", "a3": "right", "a4": "right", "a5": "wrongly refused",
        }  # fmt: skip
        assert all(one.result.ms > 0 and one.result.words > 0 for one in answers)
        assert answers[1].result.reason == "1 of 2 expected parts"
        outcome = outcome_of(answers)
        assert outcome.measures["right"].value == 0.6
        assert (outcome.tests, outcome.questions) == ("answers", 5)
        assert "blue cup" not in repr(outcome)
        traces, _ = await pincite.questions.traces.list(await pincite.scope(), TraceFilter(limit=50))
        assert {one.kind for one in traces} == {"ingest", "evaluation"}

    asked(test)


def test_the_level_of_the_settings_applies(asked: Callable[..., Any]) -> None:
    async def test(pincite: AsyncPincite) -> None:
        settings = with_values(pincite.settings, {"answers.level": "basic"})
        answer = await pincite.ask("When is the cat fed?", settings=settings)
        assert (answer.intelligence_level, answer.strategy) == ("basic", "dense_only")

    asked(test)


def test_a_model_that_invents_without_a_source_does_not_refuse(asked: Callable[..., Any]) -> None:
    async def test(pincite: AsyncPincite) -> None:
        [question] = parse_questions([{"q": "When is the cat fed?", "expect": "refuse"}])
        for text, verdict in (("It eats twelve fish a day.", "wrong"), ("The sources do not mention it.", "right")):
            with answering(pincite, ScriptedLLM(Options(answers=(text,)))):
                [one] = [one async for one in answer_all(pincite, [question], pincite.settings, report=silent)]
            assert one.result.verdict == verdict

    asked(test)


def test_a_question_that_the_guard_refuses_is_wrong(asked: Callable[..., Any]) -> None:
    async def test(pincite: AsyncPincite) -> None:
        settings = with_values(pincite.settings, {"guard.max_query_chars": 10})
        [question] = parse_questions(ANSWER_ROWS[:1])
        [one] = [one async for one in answer_all(pincite, [question], settings, report=silent)]
        assert (one.result.verdict, one.text) == ("wrong", "")
        assert "without an answer" in one.notes[0]

    asked(test)


def test_citation_marks_are_not_judged(asked: Callable[..., Any]) -> None:
    async def test(pincite: AsyncPincite) -> None:
        answer = await pincite.ask("When is the cat fed?")
        given = given_answer(answer)
        assert "[Source" in answer.text
        assert "[Source" not in given.text
        assert set(given.cited) == {"cat.md"}
        assert not given.refused

    asked(test)


@pytest.mark.slow
def test_configurations_are_compared_in_a_temporary_library(tmp_path: Path) -> None:
    questions = load_answer_set(write_answer_set(tmp_path / "set"))
    variants = read_variants(["rag.top_k=1"], SCRIPTED, {})
    found = asyncio.run(compare_answers(questions, variants, keep=None, report=silent))
    assert [trial.name for trial in found.comparison.trials] == ["as it is", "rag.top_k=1"]
    assert found.comparison.measures == ("right", "partly", "wrong", "wrongly refused")
    assert (found.comparison.documents, found.comparison.questions) == (3, 5)
    assert found.comparison.trials[1].against(found.comparison.trials[0], "right").verdict == "within noise"
    assert [len(one.groups) for one in found.summaries] == [7, 7]
