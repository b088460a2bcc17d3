"""Test a language model, an embedder or a reranker with a short sentence: whether it answers, and how fast."""

import asyncio
import time
from dataclasses import dataclass

from pincite.core.protocols import LLM, Discoverable, Embedder, Reranker
from pincite.core.query.prompt import Message, Prompt
from pincite.core.query.question import Sampling
from pincite.errors import ProviderError, Unavailable
from pincite.models.facts import facts_of

PROBE_TIMEOUT_S = 30.0
"""Timeout of a test."""

_PROBE_TEXT = "Answer with one word: yes."


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The result of a test; `error` is empty on success, `model` is None if its name is not known."""

    model: str | None
    latency_ms: float
    window: int | None = None
    dimensions: int | None = None
    first_token_ms: float | None = None
    error: str = ""
    code: str = ""


async def probe_llm(llm: LLM, model: str | None = None) -> ProbeResult:
    """Test a language model; `model` selects another model of the same server."""
    prompt = Prompt(
        _PROBE_TEXT, (Message("user", _PROBE_TEXT),), (), tokens=10, sampling=Sampling(model=model, max_tokens=200)
    )
    started, first, answered = time.perf_counter(), None, model or ""
    failed: Unavailable | None = None
    try:
        async with asyncio.timeout(PROBE_TIMEOUT_S):
            if isinstance(llm, Discoverable):
                await llm.discover()
            async for piece in llm.write(prompt):
                first = _elapsed_ms(started) if first is None else first
                answered = piece.model or answered
    except (Unavailable, TimeoutError) as error:
        failed = _to_unavailable(error)
    window = facts_of(model).window or llm.window if model else llm.window
    return ProbeResult(
        model=answered
        or (None if "://" in llm.name else llm.name),  # the name is the server's URL until the model is known
        latency_ms=_elapsed_ms(started),
        window=window,
        first_token_ms=first,
        error=str(failed or ""),
        code=failed.code if failed else "",
    )


async def probe_embedder(embedder: Embedder) -> ProbeResult:
    """Test an embedder with one sentence."""
    started, failed = time.perf_counter(), None
    try:
        async with asyncio.timeout(PROBE_TIMEOUT_S):
            await embedder.embed([_PROBE_TEXT], as_query=True)
    except (Unavailable, TimeoutError) as error:
        failed = _to_unavailable(error)
    return ProbeResult(
        model=embedder.name,
        latency_ms=_elapsed_ms(started),
        dimensions=embedder.dimensions,
        error=str(failed or ""),
        code=failed.code if failed else "",
    )


async def probe_reranker(reranker: Reranker) -> ProbeResult:
    """Test a reranker with one pair."""
    started, failed = time.perf_counter(), None
    try:
        async with asyncio.timeout(PROBE_TIMEOUT_S):
            await reranker.score(_PROBE_TEXT, [_PROBE_TEXT])
    except (Unavailable, TimeoutError) as error:
        failed = _to_unavailable(error)
    return ProbeResult(
        model=None, latency_ms=_elapsed_ms(started), error=str(failed or ""), code=failed.code if failed else ""
    )


def _to_unavailable(error: Unavailable | TimeoutError) -> Unavailable:
    return (
        error
        if isinstance(error, Unavailable)
        else ProviderError(f"no answer within {PROBE_TIMEOUT_S:g} s", code="timeout")
    )


def _elapsed_ms(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)
