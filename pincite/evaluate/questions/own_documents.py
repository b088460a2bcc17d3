"""Evaluate on the user's own documents: generate or import a question set, store it, and run it repeatedly."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pincite.config.profiles import find_profile, for_request
from pincite.config.settings import Settings
from pincite.config.sources import with_values
from pincite.core.accounts.access import LOCAL, Caller
from pincite.core.documents.document import Progress
from pincite.core.evaluations import Evaluation, EvaluationOutcome, EvaluationSet, Interval, MadeBy, Place, SetQuestion
from pincite.core.query.hits import Hit
from pincite.engine.app import AsyncPincite
from pincite.errors import Invalid, PinciteError, SettingsError
from pincite.evaluate.answers import JudgedAnswer, answer_all, outcome_of
from pincite.evaluate.measure import bootstrap
from pincite.evaluate.measure.answer_shares import verdict_scores
from pincite.evaluate.measure.metrics import MEASURES, judge_rank
from pincite.evaluate.questions.llm_questions import write_questions
from pincite.evaluate.questions.near_duplicates import add_duplicate_places
from pincite.evaluate.questions.rule_questions import make_questions, sample_of
from pincite.evaluate.runner import Report, ask_all, count_notes, percentile
from pincite.tracing.replay import check_changes, replayable, settings_of

SEARCH_ONLY = (
    "these questions are made from headings and sentences of your documents: they measure search only; to measure "
    "answers, write questions with expected answers (docs/evaluating.md)"
)
"""What generated questions measure."""

MAX_PASSAGES = 20_000
"""Maximum number of passages a set is made from; a larger library is sampled."""

PROGRESS_INTERVAL_S = 1.0
"""Seconds between two progress updates of a run."""


@dataclass(frozen=True, slots=True)
class EvalRequest:
    """The set to generate; without `by`, the model is used if configured, otherwise rules."""

    questions: int = 200
    seed: int = 0
    by: MadeBy | None = None


@dataclass(frozen=True, slots=True)
class RunDifference:
    """The differences between two runs of a set, over their common questions."""

    measures: dict[str, Interval]
    p50_ms: float
    questions: int


async def make_set(
    pincite: AsyncPincite, wish: EvalRequest, *, caller: Caller = LOCAL, report: Report
) -> tuple[EvaluationSet, tuple[str, ...]]:
    """Generate and store a question set from the caller's readable documents; also returns notes on failures."""
    scope = await pincite.scope(caller)
    kit = pincite.admin.kit()
    has_model = kit.llm is not kit.extractive
    if wish.by == "model" and not has_model:
        raise Invalid("no model is configured to write questions; set llm.base_url, or generate them by rules (words)")
    passages = await pincite.questions.evaluations.passages(scope, wish.seed, MAX_PASSAGES)
    sample = await asyncio.to_thread(sample_of, passages)
    by: MadeBy = wish.by or ("model" if has_model else "words")
    made: Sequence[SetQuestion]
    if by == "model":
        total = min(wish.questions, len(passages))
        written = await write_questions(
            kit.llm,
            passages,
            wish.questions,
            wish.seed,
            lambda number: report(Progress("writing", number, total, 0.0, of="question")),
        )
        made, notes = written.questions, written.notes
    else:
        made, notes = await asyncio.to_thread(make_questions, sample, wish.questions, wish.seed), ()
    if not made:
        why = f"; {notes[0]}" if notes else "; add documents with some prose first"
        raise Invalid(f"no question could be generated from {len(passages)} passages{why}")
    made = await asyncio.to_thread(add_duplicate_places, made, sample)
    return await pincite.questions.evaluations.keep_set(scope, by, wish.seed, made), notes


async def run_set(
    pincite: AsyncPincite,
    questions: EvaluationSet,
    settings: Settings,
    *,
    caller: Caller = LOCAL,
    report: Report,
    begun: Evaluation | None = None,
) -> Evaluation:
    """Run the questions of a set with these settings and store the outcome, also of a failure.

    `begun` is a run that was created before.
    """
    scope = await pincite.scope(caller)
    run = begun or await begin(pincite, questions, settings, caller=caller)
    try:
        measure = _answers_outcome if questions.tests == "answers" else _outcome
        outcome = await measure(pincite, run, questions, settings, caller, report)
    except PinciteError as error:
        await pincite.questions.evaluations.fail(scope, run.id, str(error))
        raise
    return await pincite.questions.evaluations.finish(scope, run.id, outcome)


async def begin(
    pincite: AsyncPincite, questions: EvaluationSet | None, settings: Settings, *, caller: Caller = LOCAL
) -> Evaluation:
    """Create a run, possibly before its set is generated; the caller then runs it."""
    if questions is not None and not questions.asked and not any(one.current for one in questions.questions):
        raise Invalid("all documents of the set have changed since it was created; create a new set (renew)")
    scope, set_id = await pincite.scope(caller), questions.id if questions else None
    return await pincite.questions.evaluations.begin(scope, set_id, settings.revision, settings_of(settings))


async def _outcome(
    pincite: AsyncPincite,
    run: Evaluation,
    questions: EvaluationSet,
    settings: Settings,
    caller: Caller,
    report: Report,
) -> EvaluationOutcome:
    asked = [one for one in questions.questions if one.current]
    ranks: dict[int, int | None] = {}
    relevances: dict[int, float] = {}
    times: list[float] = []
    said: list[str] = []
    told = time.monotonic()
    texts, waiting = [one.text for one in asked], iter(asked)
    async for response in ask_all(pincite, texts, settings, caller=caller, report=report):
        question = next(waiting)
        ranks[question.id] = rank_of(question, response.hits)
        if response.hits:
            relevances[question.id] = round(response.hits[0].relevance, 4)
        times.append(response.ms)
        said.extend(response.notes)
        if time.monotonic() - told > PROGRESS_INTERVAL_S:
            told = time.monotonic()
            await pincite.questions.evaluations.advance(await pincite.scope(caller), run.id, len(ranks) / len(asked))
    left_out = len(questions.questions) - len(asked)
    stale = (f"{left_out} questions are about older versions and were skipped; --renew creates a new set",)
    measures = {name: bootstrap.mean(values) for name, values in scores(list(ranks.values())).items()}
    notes = (*(stale if left_out else ()), *count_notes(said))
    p50, p95 = (round(percentile(times, share), 3) for share in (0.5, 0.95))
    return EvaluationOutcome(measures, ranks, p50, p95, notes, relevances)


async def _answers_outcome(
    pincite: AsyncPincite,
    run: Evaluation,
    questions: EvaluationSet,
    settings: Settings,
    caller: Caller,
    report: Report,
) -> EvaluationOutcome:
    judged: list[JudgedAnswer] = []
    told = time.monotonic()
    async for one in answer_all(pincite, questions.asked, settings, caller=caller, report=report):
        judged.append(one)
        if time.monotonic() - told > PROGRESS_INTERVAL_S:
            told = time.monotonic()
            done = len(judged) / len(questions.asked)
            await pincite.questions.evaluations.advance(await pincite.scope(caller), run.id, done)
    return outcome_of(judged)


def settings_to_try(base: Settings, changes: Mapping[str, Any], profile: str | None = None) -> Settings:
    """Return the settings with a profile and then these changes; only settings that act on a query."""
    check_changes(changes, "an evaluation")
    values = for_request(find_profile(profile), base).values if profile is not None else {}
    usable = {key: value for key, value in values.items() if key in replayable()}
    try:
        return with_values(base, {**usable, **changes})
    except SettingsError as error:
        raise Invalid(str(error)) from None


def rank_of(question: SetQuestion, hits: Sequence[Hit]) -> int | None:
    """Return the rank of the first relevant passage, or None."""
    for rank, hit in enumerate(hits, start=1):
        chunk = hit.chunk
        place = Place(chunk.document_id, chunk.start_char, chunk.end_char)
        if any(place.overlaps(right) for right in question.places):
            return rank
    return None


def scores(ranks: Sequence[int | None]) -> dict[str, list[float]]:
    """Return each metric as a list over the questions."""
    judged = [judge_rank(rank) for rank in ranks]
    return {name: [one[name] for one in judged] for name in MEASURES}


def compare_runs(before: Evaluation, after: Evaluation) -> RunDifference:
    """Compare two runs of a set on their common questions."""
    was, now = before.outcome, after.outcome
    assert was is not None
    assert now is not None
    if now.answers:
        both = [question for question in now.answers if question in was.answers]
        old, new = (verdict_scores([outcome.answers[question] for question in both]) for outcome in (was, now))
        return _difference(old, new, now.p50_ms - was.p50_ms, len(both))
    ranked = [question for question in now.ranks if question in was.ranks]
    first, second = (scores([outcome.ranks[question] for question in ranked]) for outcome in (was, now))
    return _difference(first, second, now.p50_ms - was.p50_ms, len(ranked))


def _difference(
    old: Mapping[str, Sequence[float]], new: Mapping[str, Sequence[float]], ms: float, questions: int
) -> RunDifference:
    return RunDifference({name: bootstrap.difference(old[name], new[name]) for name in new}, ms, questions)
