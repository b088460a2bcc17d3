"""The whole answer of a model, within a time limit."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from pincite.core.query.prompt import Message, Prompt, StreamPart
from pincite.errors import ProviderError
from pincite.models.whole_answer import LEAST_TEMPERATURE, lowest_temperature, whole_answer

PROMPT = Prompt("q", (Message("user", "q"),), (), 1)


class Model:
    """Writes two pieces, the second one after a pause."""

    name = "some-model"
    window = 1000

    def __init__(self, pause_s: float) -> None:
        self.pause_s = pause_s
        self.closed = False

    async def write(self, prompt: Prompt) -> AsyncIterator[StreamPart]:
        try:
            yield StreamPart(f"{prompt.question}: one, ")
            await asyncio.sleep(self.pause_s)
            yield StreamPart("two")
        finally:
            self.closed = True


def test_all_pieces_are_the_answer() -> None:
    assert asyncio.run(whole_answer(Model(0), PROMPT, 30.0)) == "q: one, two"


def test_a_slow_model_is_stopped_and_reported() -> None:
    model = Model(60)
    with pytest.raises(ProviderError, match=r"took longer than 0\.05 s"):
        asyncio.run(whole_answer(model, PROMPT, 0.05))
    assert model.closed


def test_a_model_that_cannot_decode_greedily_gets_a_higher_temperature() -> None:
    assert lowest_temperature("some-model") == 0.0
    assert lowest_temperature("qwen3:8b") == LEAST_TEMPERATURE
