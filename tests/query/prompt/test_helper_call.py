import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from pincite.core.query.prompt import Prompt, StreamPart, Usage
from pincite.core.query.question import Question, Sampling
from pincite.core.run import Run
from pincite.errors import ProviderError
from pincite.models.whole_answer import LEAST_TEMPERATURE
from pincite.query.prompt.helper_call import Bounds, complete, render_prompt

BOUNDS = Bounds(seconds=5, tokens=50, characters=20)


class Model:
    """Streams words and records whether it was closed."""

    def __init__(self, *words: str, name: str = "gpt-4o", window: int = 8192, delay_s: float = 0.0) -> None:
        self.name, self.window = name, window
        self._words, self._delay_s, self.closed = words, delay_s, False

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        try:
            for word in self._words:
                await asyncio.sleep(self._delay_s)
                yield StreamPart(word)
            yield StreamPart(finish_reason="stop", usage=Usage(7, 3))
        finally:
            self.closed = True


def prompt_of(run: Run, question: Question) -> Prompt | None:
    return render_prompt("expand/step-back", question, {"question": question.text}, BOUNDS, run=run)


def test_a_prompt_is_one_message_within_the_models_window(make_run: Callable[..., Run]) -> None:
    made = prompt_of(make_run(llm=Model()), Question("How tall?", sampling=Sampling("gpt-4", temperature=1.5)))
    assert made is not None
    [message] = made.messages
    assert "Question: How tall?" in message.content
    assert (made.sampling.model, made.sampling.temperature, made.sampling.max_tokens) == ("gpt-4", 0.0, 50)
    assert prompt_of(make_run(llm=Model(window=100)), Question("How tall?")) is None
    warm = prompt_of(make_run(llm=Model(name="qwen3:8b")), Question("How tall?"))
    assert warm is not None
    assert warm.sampling.temperature == LEAST_TEMPERATURE


def test_reading_stops_at_the_limit_and_closes_the_model(make_run: Callable[..., Run]) -> None:
    model = Model(*["word "] * 1000)
    run = make_run(llm=model)
    made = prompt_of(run, Question("How tall?"))
    assert made is not None
    assert asyncio.run(complete(made, BOUNDS, run=run)) == "word word word word "
    assert model.closed


def test_one_that_takes_too_long_is_an_error_that_says_so(make_run: Callable[..., Run]) -> None:
    model = Model("slow", delay_s=30)
    run = make_run(llm=model)
    made = prompt_of(run, Question("How tall?"))
    assert made is not None
    with pytest.raises(ProviderError, match=r"longer than 0\.05 s"):
        asyncio.run(complete(made, Bounds(0.05, 50, 20), run=run))
    assert model.closed


def test_the_usage_is_in_the_span_of_the_caller(make_run: Callable[..., Run]) -> None:
    run = make_run(llm=Model("yes"))

    async def stage(run: Run, made: Prompt) -> str:
        return await complete(made, BOUNDS, run=run)

    made = prompt_of(run, Question("How tall?"))
    assert made is not None
    assert asyncio.run(run.step(stage, made)) == "yes"
    assert run.spans[0].attributes["gen_ai.usage.output_tokens"] == 3
