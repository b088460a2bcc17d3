"""The semantic cache: an answer is given again where the same person asks the same and nothing they may read has changed."""

import asyncio
import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from pincite import __version__
from pincite.config.branches.retrieval import Cache
from pincite.core.protocols import Alike, ToKeep
from pincite.core.query.answer import Answer, Degraded
from pincite.core.query.fixed_answers import NO_ANSWER
from pincite.core.query.plan import Plan
from pincite.core.run import Run
from pincite.errors import PinciteError, Unavailable
from pincite.query.cache.same_question import Difference, difference
from pincite.query.ground.ground import incomplete_reason
from pincite.query.prompt.templates import custom_prompts
from pincite.query.understand.level import missing_features
from pincite.text.terms import question_language

MAX_CACHED_TEMPERATURE = 0.7
"""Whoever asks for a higher temperature asks for something else each time."""
SAVE_TIMEOUT_S = 2.0
"""Nobody waits longer for an answer to be kept."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """What the cache said: where an answer may be kept, in which state of the documents, and the answer it had."""

    key: bytes = b""
    state: str | None = None
    answer: Answer | None = None


NO_LOOKUP = Lookup()


def may_use_cache(run: Run, plan: Plan) -> bool:
    """Whether an answer may come from the cache.

    Not in modes that look further than one search, nor where the question was guessed, several texts are searched, another index or another time is meant, or anything
    was unusual so far: what a warning says would be lost. In a conversation a model sees what was said before; there
    only a question that it made whole itself means the same elsewhere.
    """
    question, settings = plan.question, run.settings
    warmth = question.sampling.temperature if question.sampling.temperature is not None else settings.llm.temperature
    plain = (
        plan.retrieves
        and question.mode == "chat"
        and not (question.fresh or question.guessed or question.also or question.many)
    )
    now = question.filters.as_of is None and question.filters.index is None
    whole = not _uses_conversation(run, plan) or question.standalone is not None
    usual = not _is_temporary(run.degraded, run) and not run.warnings and (warmth or 0.0) <= MAX_CACHED_TEMPERATURE
    return run.kit.cache is not None and settings.cache.enabled and plain and now and whole and usual


def _uses_conversation(run: Run, plan: Plan) -> bool:
    """Whether what was said before is part of what the answer is made of; sentences are chosen without it."""
    return bool(plan.question.conversation) and run.kit.llm is not run.kit.extractive


async def cache_lookup(run: Run, plan: Plan) -> Lookup:
    """An answer to the same question, if there is one; nothing is embedded where there is nothing to compare with."""
    cache, key = run.kit.cache, _cache_key(run, plan)
    assert cache is not None
    looked = await cache.look(run.scope, key, plan.text)
    run.observe(hit=False, known=looked.same is not None or looked.others)
    if looked.same is not None and (kept := await cache.read(run.scope, looked.same)):
        return Lookup(key, looked.state, _as_new_answer(run, plan, kept, Alike(looked.same, plan.text, 1.0)))
    if (
        looked.others
        and (near := await _find_same_question(run, plan, key))
        and (kept := await cache.read(run.scope, near.id))
    ):
        return Lookup(key, looked.state, _as_new_answer(run, plan, kept, near))
    return Lookup(key, looked.state)


async def _find_same_question(run: Run, plan: Plan, key: bytes) -> Alike | None:
    """The most similar kept question that asks the same; why the nearest of the others does not is told in the trace."""
    cache, limits = run.kit.cache, run.settings.cache
    assert cache is not None
    try:
        [vector] = await run.embed([plan.text])
    except Unavailable:
        return None  # whoever searches by it will say so
    for number, one in enumerate(await cache.alike(run.scope, key, vector, similarity_threshold(limits))):
        apart = question_difference(plan.text, one, limits)
        if apart is None:
            return one
        if number == 0:
            run.observe(nearest=round(one.similarity, 4), differs_in=apart)
    return None


def similarity_threshold(limits: Cache) -> float:
    """The cosine below which two questions are not compared any further."""
    return limits.precision_threshold if limits.threshold_mode == "precision" else limits.recall_threshold


def question_difference(asked: str, kept: Alike, limits: Cache) -> Difference | None:
    """In what a kept question is another one, or nothing; how similar it is says how closely its words are read."""
    loose = limits.threshold_mode == "recall" and kept.similarity >= limits.precision_threshold
    return difference(asked, kept.question, other_forms=loose)


def _as_new_answer(run: Run, plan: Plan, kept: Answer, hit: Alike) -> Answer:
    """A kept answer as this request's own; the trace tells where it is from, and what it stands on."""
    how = "the same words" if hit.question == plan.text else f"a question {hit.similarity:.2f} alike, its words checked"
    run.observe(
        hit=True, similarity=round(hit.similarity, 4), same_words=hit.question == plan.text,
        from_trace=kept.metadata.trace_id, hits=[[source.chunk_id, source.score] for source in kept.sources],
    )  # fmt: skip
    metadata = replace(
        kept.metadata, trace_id=run.id, cached=True, usage=None, durations_ms=run.durations(),
        rewritten_query=plan.question.standalone, corrected_query=plan.question.corrected,
        plan=(*plan.reasons, f"answered before: {how}"),
    )  # fmt: skip
    return replace(kept, id=run.answer_id, session_id=None, metadata=metadata)


async def cache_saving(run: Run, plan: Plan, answer: Answer, lookup: Lookup) -> None:
    """Keep an answer for the next time; a failure here never fails it, and comes too late to be told in it."""
    run.observe(kept=False)
    if not _is_cacheable(run, plan, answer) or run.deadline - time.monotonic() < SAVE_TIMEOUT_S:
        return
    assert run.kit.cache is not None
    assert lookup.state is not None
    try:
        async with asyncio.timeout(SAVE_TIMEOUT_S):
            [vector] = await run.embed([plan.text])
            entry = ToKeep(lookup.key, lookup.state, plan.text, vector, replace(answer, session_id=None))
            run.observe(kept=await run.kit.cache.keep(run.scope, entry, run.settings.cache))
    except TimeoutError:
        run.degrade("cache_saving", "the answer was not kept: the database takes its time")
    except PinciteError as error:
        run.degrade("cache_saving", f"the answer was not kept: {error}")


def _is_cacheable(run: Run, plan: Plan, answer: Answer) -> bool:
    """Only what is whole, stands on sources, came about as it should and owes nothing to a conversation is given again."""
    reason = answer.metadata.finish_reason
    whole = incomplete_reason(reason) is None and reason != NO_ANSWER
    unusual = answer.warnings or _is_temporary(answer.degraded, run)
    return whole and bool(answer.sources) and not (unusual or _uses_conversation(run, plan))


def _is_temporary(notes: Sequence[Degraded], run: Run) -> bool:
    """Whether something is missing that may be there the next time; what a level always lacks is not."""
    return not set(notes) <= set(missing_features(run.settings.answers.level))


def _cache_key(run: Run, plan: Plan) -> bytes:
    """Everything but the question's words and the documents that decides about an answer.

    All settings are in it: one that does not matter costs an answer made twice, one forgotten would give a wrong one.
    """
    question = plan.question
    decides = {
        "pincite": __version__, "settings": run.settings.model_dump(mode="json"), "prompts": custom_prompts(run.settings.data),
        "embedder": run.kit.embedder.name, "model": run.model_of(question), "filters": asdict(question.filters),
        "sampling": asdict(question.sampling), "top_k": plan.top_k, "min_score": question.min_score, "alpha": question.alpha,
        "strategy": plan.strategy, "levels": plan.levels, "intent": plan.intent, "language": question_language(plan.text),
    }  # fmt: skip
    return hashlib.sha256(json.dumps(decides, sort_keys=True, default=str).encode()).digest()
