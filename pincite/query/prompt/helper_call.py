"""A short call to the model beside the answer it writes: bounded in time and length, and told in the trace."""

import asyncio
import time
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass

from pincite.core.query.prompt import Draft, Message, Prompt, StreamPart
from pincite.core.query.question import Question, Sampling
from pincite.core.run import Run
from pincite.core.traces import asked, written
from pincite.errors import ProviderError
from pincite.models.facts import facts_of
from pincite.query.prompt.budget import TOKENS_PER_MESSAGE, tokenizer
from pincite.query.prompt.templates import Prompts

NON_GREEDY_TEMPERATURE = 0.7
"""Temperature for models that must not decode greedily."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long a call may take, and how much of what comes is read."""

    seconds: float
    tokens: int
    characters: int


def render_prompt(
    name: str, question: Question, fills: Mapping[str, str], bounds: Bounds, *, run: Run
) -> Prompt | None:
    """One of the prompts, filled, as the only message; None where it does not fit into the model's window."""
    facts, count = facts_of(run.model_of(question)), tokenizer(run.settings.chunking.tokenizer).count
    shown = Prompts.of(run).get(name).fill(**fills)
    tokens = count(shown) + TOKENS_PER_MESSAGE
    if tokens > run.kit.llm.window - bounds.tokens:
        return None
    sampling = Sampling(
        question.sampling.model, 0.0 if facts.greedy else NON_GREEDY_TEMPERATURE, max_tokens=bounds.tokens
    )
    return Prompt(question.text, (Message("user", shown),), (), tokens, sampling)


async def complete(prompt: Prompt, bounds: Bounds, *, run: Run) -> str:
    """What the model says to a prompt; `ProviderError` where it takes too long."""
    llm, begun, first_ms = run.kit.llm, time.monotonic(), None
    text, last, usage = "", StreamPart(), None
    run.observe(**asked(run.provider_of(llm), prompt, llm.name))
    try:
        async with asyncio.timeout(bounds.seconds), aclosing(llm.write(prompt)) as pieces:  # type: ignore[type-var]
            async for piece in pieces:
                if piece.text and first_ms is None:
                    first_ms = (time.monotonic() - begun) * 1000
                text += piece.text
                usage = piece.usage or usage
                last = piece if piece.finish_reason else last
                if len(text) > bounds.characters:
                    break
    except TimeoutError:
        raise ProviderError(f"the model took longer than {bounds.seconds:g} s; it was done without") from None
    run.spend(usage)
    run.observe(**written(Draft(text, last.model or llm.name, last.finish_reason, usage), first_ms))
    return text[: bounds.characters]
