"""A short call of the model beside the answer itself, limited in time and length and recorded in the trace."""

import asyncio
import time
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from pincite.core.query.prompt import Draft, Message, Prompt, StreamPart
from pincite.core.query.question import Question, Sampling
from pincite.core.run import Run
from pincite.core.traces import llm_request_attributes, llm_response_attributes
from pincite.errors import ProviderError
from pincite.models.whole_answer import lowest_temperature
from pincite.query.prompt.budget import TOKENS_PER_MESSAGE, tokenizer, window_of
from pincite.query.prompt.templates import Prompts


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a call: timeout, tokens to generate, characters that are read."""

    seconds: float
    tokens: int
    characters: int


def render_prompt(
    name: str,
    question: Question,
    fills: Mapping[str, str],
    bounds: Bounds,
    *,
    run: Run,
    schema: Mapping[str, Any] | None = None,
) -> Prompt | None:
    """A prompt of one message from a template; None where it does not fit into the context window."""
    count = tokenizer(run.settings.chunking.tokenizer).count
    shown = Prompts.of(run).get(name).fill(**fills)
    tokens = count(shown) + TOKENS_PER_MESSAGE
    if tokens > window_of(run, question) - bounds.tokens:
        return None
    temperature = lowest_temperature(run.model_of(question))
    sampling = Sampling(question.sampling.model, temperature, max_tokens=bounds.tokens)
    return Prompt(question.text, (Message("user", shown),), (), tokens, sampling, schema=schema)


async def complete(prompt: Prompt, bounds: Bounds, *, run: Run) -> str:
    """The model's output for a prompt; `ProviderError` after the timeout."""
    llm, begun, first_ms = run.kit.llm, time.monotonic(), None
    text, last, usage = "", StreamPart(), None
    run.observe(**llm_request_attributes(run.provider_of(llm), prompt, llm.name))
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
        raise ProviderError(f"the model took longer than {bounds.seconds:g} s; this step was left out") from None
    run.spend(usage)
    run.observe(**llm_response_attributes(Draft(text, last.model or llm.name, last.finish_reason, usage), first_ms))
    return text[: bounds.characters]
