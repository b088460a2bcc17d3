"""The whole answer of a language model to a prompt, for steps that cannot use a part of it."""

import asyncio
from contextlib import aclosing

from pincite.core.protocols import LLM
from pincite.core.query.prompt import Prompt
from pincite.errors import ProviderError
from pincite.models.facts import facts_of

LEAST_TEMPERATURE = 0.7
"""Temperature for models that do not support greedy decoding."""


def lowest_temperature(model: str) -> float:
    """The lowest temperature at which a model can be asked."""
    return 0.0 if facts_of(model).greedy else LEAST_TEMPERATURE


async def whole_answer(llm: LLM, prompt: Prompt, limit_s: float) -> str:
    """The model's answer to a prompt; `ProviderError` after the time limit."""
    answer = ""
    try:
        async with asyncio.timeout(limit_s), aclosing(llm.write(prompt)) as pieces:  # type: ignore[type-var]
            async for piece in pieces:
                answer += piece.text
    except TimeoutError:
        raise ProviderError(f"the model took longer than {limit_s:g} s") from None
    return answer
