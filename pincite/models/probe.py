"""Try a model, an embedder or a reranker with a harmless sentence: does it answer, how fast, and if not, why."""

import asyncio
import time
from dataclasses import dataclass

from pincite.core.protocols import LLM, Discoverable, Embedder, Reranker
from pincite.core.query.prompt import Message, Prompt
from pincite.core.query.question import Sampling
from pincite.errors import ProviderError, Unavailable
from pincite.models.facts import facts_of

TRY_S = 30.0
"""Longest wait for somebody who is only being tried."""

_ASKED = "Answer with one word: yes."


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """How a try went; `error` is empty where it went well, `model` is None where nobody knows its name."""

    model: str | None
    latency_ms: float
    window: int | None = None
    dimensions: int | None = None
    first_token_ms: float | None = None
    error: str = ""
    code: str = ""


async def probe_llm(llm: LLM, model: str | None = None) -> ProbeResult:
    """Let a model say yes; `model` is another one of the same server."""
    prompt = Prompt(_ASKED, (Message("user", _ASKED),), (), tokens=10, sampling=Sampling(model=model, max_tokens=200))
    started, first, answered = time.perf_counter(), None, model or ""
    failed: Unavailable | None = None
    try:
        async with asyncio.timeout(TRY_S):
            if isinstance(llm, Discoverable):
                await llm.discover()
            async for piece in llm.write(prompt):
                first = _since(started) if first is None else first
                answered = piece.model or answered
    except (Unavailable, TimeoutError) as error:
        failed = _told(error)
    window = facts_of(model).window or llm.window if model else llm.window
    return ProbeResult(
        model=answered or (None if "://" in llm.name else llm.name),  # a server stands for its model till that is known
        latency_ms=_since(started),
        window=window,
        first_token_ms=first,
        error=str(failed or ""),
        code=failed.code if failed else "",
    )


async def probe_embedder(embedder: Embedder) -> ProbeResult:
    """Embed one sentence."""
    started, failed = time.perf_counter(), None
    try:
        async with asyncio.timeout(TRY_S):
            await embedder.embed([_ASKED], as_query=True)
    except (Unavailable, TimeoutError) as error:
        failed = _told(error)
    return ProbeResult(
        model=embedder.name,
        latency_ms=_since(started),
        dimensions=embedder.dimensions,
        error=str(failed or ""),
        code=failed.code if failed else "",
    )


async def try_reranker(reranker: Reranker) -> ProbeResult:
    """Score one pair."""
    started, failed = time.perf_counter(), None
    try:
        async with asyncio.timeout(TRY_S):
            await reranker.score(_ASKED, [_ASKED])
    except (Unavailable, TimeoutError) as error:
        failed = _told(error)
    return ProbeResult(
        model=None, latency_ms=_since(started), error=str(failed or ""), code=failed.code if failed else ""
    )


def _told(error: Unavailable | TimeoutError) -> Unavailable:
    return error if isinstance(error, Unavailable) else ProviderError(f"no answer within {TRY_S:g} s", code="timeout")


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)
