"""Questions written by a model."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from pincite.core.query.prompt import Prompt, StreamPart
from pincite.errors import ProviderBusy
from pincite.evaluate.questions import llm_questions
from pincite.evaluate.questions.llm_questions import WrittenQuestions, is_usable, write_questions
from tests.evaluate.questions.test_rule_questions import GERMAN, passage


class Writer:
    """A model that writes, or fails with, what it is told, one after the other."""

    name, window = "writer", 8192

    def __init__(self, *answers: str | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[Prompt] = []

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        self.asked.append(prompt)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        for part in answer:
            yield StreamPart(part)


def written(llm: Writer, count: int, passages: int = 1) -> WrittenQuestions:
    library = [passage(number=number) for number in range(passages)]
    return asyncio.run(write_questions(llm, library, count, 0, lambda _number: None))


def test_one_call_a_passage_and_the_question_points_at_it() -> None:
    llm = Writer('<think>hm</think>\n\n"What does the refractometer measure?"\nIt measures light.')
    result = written(llm, 5)
    [question] = result.questions
    assert (question.text, question.kind) == ("What does the refractometer measure?", "written")
    assert question.place == passage().place
    assert len(llm.asked) == 1
    assert "Brewery Handbook" in llm.asked[0].messages[0].content
    assert result.notes == ()


def test_no_more_calls_than_questions_were_wanted() -> None:
    llm = Writer("What does the refractometer measure?")
    assert len(written(llm, 3, passages=10).questions) == 1  # all are alike
    assert len(llm.asked) == 3


def test_a_call_that_fails_is_passed_over_and_told() -> None:
    result = written(Writer(ProviderBusy("the server is busy"), "Who repaired the copper boiler?"), 2, passages=2)
    assert [one.text for one in result.questions] == ["Who repaired the copper boiler?"]
    assert result.notes == ("1 calls of the model failed; the last: the server is busy",)


def test_generation_stops_after_consecutive_failures() -> None:
    llm = Writer(ProviderBusy("down"))
    result = written(llm, 100, passages=100)
    assert len(llm.asked) == llm_questions.MAX_CONSECUTIVE_FAILURES
    assert result.questions == ()


def test_a_model_that_takes_too_long_is_a_failed_call(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(Writer):
        async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
            await asyncio.Event().wait()
            yield StreamPart("never")

    monkeypatch.setattr(llm_questions, "CALL_TIMEOUT_S", 0.05)
    assert "longer than" in written(Slow("x"), 1).notes[0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The refractometer measures light.",
        "What does the passage say about the boiler?",
        "Was misst das Gerät, und wer hat den boiler repariert?",
        "Why is the sky blue?",
        "Who " + "boiler " * 60 + "?",
    ],
)
def test_what_is_no_question_about_the_passage_in_its_language_is_not_used(text: str) -> None:
    assert not is_usable(text, passage())


def test_a_german_passage_takes_a_german_question() -> None:
    assert is_usable("Was wird im Sudhaus gekocht?", passage(GERMAN, language="de"))
    assert "1 of the generated questions were unusable" in written(Writer("nonsense"), 1).notes
