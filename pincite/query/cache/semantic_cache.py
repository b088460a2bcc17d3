"""The semantic answer cache, per caller; an entry is valid while the caller's readable documents are unchanged."""

import asyncio
import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from pincite import __version__
from pincite.config.branches.retrieval import Cache
from pincite.core.protocols import CacheEntry, SimilarQuestion
from pincite.core.query.answer import PROFILE_STAGE, Answer, Degraded
from pincite.core.query.plan import Plan
from pincite.core.query.prompt import NO_ANSWER
from pincite.core.run import Run
from pincite.errors import PinciteError, Unavailable
from pincite.query.cache.same_question import Difference, difference
from pincite.query.ground.ground import incomplete_reason
from pincite.query.prompt.templates import custom_prompts
from pincite.query.retrieve.engines import is_not_built
from pincite.text.terms import question_language

MAX_CACHED_TEMPERATURE = 0.7
"""Answers at a higher temperature are not cached: they are meant to vary."""
SAVE_TIMEOUT_S = 2.0
"""Timeout for saving an answer, in seconds."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """The result of a cache lookup: the key for saving, the state of the documents, and the cached answer, if any."""

    key: bytes = b""
    state: str | None = None
    answer: Answer | None = None


NO_LOOKUP = Lookup()


def may_use_cache(run: Run, plan: Plan) -> bool:
    """Whether an answer may come from the cache.

    Only the mode `chat` is cached, with one query that was not guessed and is the question itself, on the current index and the current documents.
    A run with warnings or degradations is not cached, since these would be lost. In a conversation, only a question
    with a standalone form is cached: otherwise the model's answer depends on the history.
    """
    question, settings = plan.question, run.settings
    temperature = (
        question.sampling.temperature if question.sampling.temperature is not None else settings.llm.temperature
    )
    is_plain_chat = (
        plan.retrieves
        and question.mode == "chat"
        and not (question.fresh or question.guessed or question.also or question.many or question.query)
    )
    is_current = question.filters.as_of is None and question.filters.index is None
    complete = not _uses_conversation(run, plan) or question.standalone is not None
    is_undisturbed = (
        not _is_temporary(run.degraded) and not run.warnings and (temperature or 0.0) <= MAX_CACHED_TEMPERATURE
    )
    return (
        run.kit.cache is not None
        and settings.cache.enabled
        and is_plain_chat
        and is_current
        and complete
        and is_undisturbed
    )


def _uses_conversation(run: Run, plan: Plan) -> bool:
    """Whether the answer depends on the conversation; extractive answers do not."""
    return bool(plan.question.conversation) and run.kit.llm is not run.kit.extractive


async def cache_lookup(run: Run, plan: Plan) -> Lookup:
    """The cached answer to the same question, if any; the question is embedded only where entries can match."""
    cache, key = run.kit.cache, _cache_key(run, plan)
    assert cache is not None
    found = await cache.look_up(run.scope, key, plan.text)
    run.observe(hit=False, known=found.same is not None or found.others)
    if found.same is not None and (cached := await cache.read(run.scope, found.same)):
        return Lookup(key, found.state, _as_new_answer(run, plan, cached, SimilarQuestion(found.same, plan.text, 1.0)))
    if (
        found.others
        and (similar := await _find_same_question(run, plan, key))
        and (cached := await cache.read(run.scope, similar.id))
    ):
        return Lookup(key, found.state, _as_new_answer(run, plan, cached, similar))
    return Lookup(key, found.state)


async def _find_same_question(run: Run, plan: Plan, key: bytes) -> SimilarQuestion | None:
    """The most similar cached question that asks the same; the trace says how the most similar one differs."""
    cache, limits = run.kit.cache, run.settings.cache
    assert cache is not None
    try:
        [vector] = await run.embed_queries([plan.text])
    except Unavailable:
        return None  # the search reports it
    for number, one in enumerate(await cache.similar(run.scope, key, vector, similarity_threshold(limits))):
        differing_in = question_difference(plan.text, one, limits)
        if differing_in is None:
            return one
        if number == 0:
            run.observe(nearest=round(one.similarity, 4), differs_in=differing_in)
    return None


def similarity_threshold(limits: Cache) -> float:
    """Minimum cosine of cached questions that are compared."""
    return limits.precision_threshold if limits.threshold_mode == "precision" else limits.recall_threshold


def question_difference(asked: str, cached: SimilarQuestion, limits: Cache) -> Difference | None:
    """The difference from a cached question, or None; a very similar one may differ in word forms (mode `recall`)."""
    loose = limits.threshold_mode == "recall" and cached.similarity >= limits.precision_threshold
    return difference(asked, cached.question, other_forms=loose)


def _as_new_answer(run: Run, plan: Plan, cached: Answer, hit: SimilarQuestion) -> Answer:
    """A cached answer with the ids and metadata of this run; the trace records its origin and its sources."""
    how = (
        "the same words"
        if hit.question == plan.text
        else f"a similar question ({hit.similarity:.2f}), its words compared"
    )
    run.observe(
        hit=True,
        similarity=round(hit.similarity, 4),
        same_words=hit.question == plan.text,
        from_trace=cached.metadata.trace_id,
        hits=[[source.chunk_id, source.score] for source in cached.sources],
    )
    metadata = replace(
        cached.metadata,
        trace_id=run.id,
        cached=True,
        usage=None,
        durations_ms=run.durations(),
        rewritten_query=plan.question.standalone,
        corrected_query=plan.question.corrected,
        plan=(*plan.reasons, f"answer from the cache: {how}"),
    )
    return replace(cached, id=run.answer_id, session_id=None, metadata=metadata)


async def cache_saving(run: Run, plan: Plan, answer: Answer, lookup: Lookup) -> None:
    """Save an answer in the cache; a failure does not fail the answer, and is only in the trace."""
    run.observe(kept=False)
    if not _is_cacheable(run, plan, answer) or run.deadline - time.monotonic() < SAVE_TIMEOUT_S:
        return
    assert run.kit.cache is not None
    assert lookup.state is not None
    try:
        async with asyncio.timeout(SAVE_TIMEOUT_S):
            [vector] = await run.embed_queries([plan.text])
            entry = CacheEntry(lookup.key, lookup.state, plan.text, vector, replace(answer, session_id=None))
            run.observe(kept=await run.kit.cache.save(run.scope, entry, run.settings.cache))
    except TimeoutError:
        run.degrade("cache_saving", "the answer was not cached: the database took too long")
    except PinciteError as error:
        run.degrade("cache_saving", f"the answer was not cached: {error}")


def _is_cacheable(run: Run, plan: Plan, answer: Answer) -> bool:
    """Whether an answer may be cached: complete, with sources, without warnings, independent of the conversation."""
    reason = answer.metadata.finish_reason
    complete = incomplete_reason(reason) is None and reason != NO_ANSWER
    unusual = answer.warnings or _is_temporary(answer.degraded)
    return complete and bool(answer.sources) and not (unusual or _uses_conversation(run, plan))


def _is_temporary(notes: Sequence[Degraded]) -> bool:
    """Whether a degradation is temporary; what a level or a profile lacks here is not: settings decide about it."""
    return any(not is_not_built(note) and note.stage != PROFILE_STAGE for note in notes)


def _cache_key(run: Run, plan: Plan) -> bytes:
    """A hash of everything that an answer depends on, except the question's text and the documents.

    It contains all settings: an irrelevant one costs a cache miss, a missing one would return a wrong answer.
    """
    question = plan.question
    inputs = {
        "pincite": __version__,
        "settings": run.settings.model_dump(mode="json"),
        "prompts": custom_prompts(run.settings.data),
        "embedder": run.kit.embedder.name,
        "model": run.model_of(question),
        "filters": asdict(question.filters),
        "sampling": asdict(question.sampling),
        "top_k": plan.top_k,
        "min_score": question.min_score,
        "alpha": question.alpha,
        "strategy": plan.strategy,
        "levels": plan.levels,
        "intent": plan.intent,
        "language": question_language(plan.text),
    }
    return hashlib.sha256(json.dumps(inputs, sort_keys=True, default=str).encode()).digest()
