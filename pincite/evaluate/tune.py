"""Find a change of settings that is better on a question set: chosen on one half of it, confirmed on the other."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pincite.config.schema import value_of
from pincite.config.settings import Settings
from pincite.core.accounts.access import LOCAL, Caller
from pincite.core.documents.document import Progress
from pincite.core.evaluations import AnswerQuestion, EvaluationSet, Interval, SetQuestion, Tested
from pincite.engine.app import AsyncPincite
from pincite.engine.live_settings import SettingsOutcome
from pincite.errors import Invalid, NotFound
from pincite.evaluate.answers import answer_all, trial_of
from pincite.evaluate.candidates import Candidate
from pincite.evaluate.compare import Judge, Trial, run_variant
from pincite.evaluate.measure import bootstrap
from pincite.evaluate.measure.metrics import judge_rank
from pincite.evaluate.questions.own_documents import SEARCH_ONLY, EvalRequest, make_set, rank_of
from pincite.evaluate.runner import Report
from pincite.evaluate.variants import UNCHANGED, Variant

MIN_QUESTIONS = 20
"""Questions that a set must have, so that each half can tell a change from noise."""
CHEAPER_FACTOR = 0.5
"""A change that is as good as the best one is preferred if it needs less than this share of its time."""

Questions = Sequence[SetQuestion] | Sequence[AnswerQuestion]


@dataclass(frozen=True, slots=True)
class TriedChange:
    """A change that was tried on the first half: its difference to the current settings, and its time per question."""

    name: str
    changes: Mapping[str, Any]
    difference: Interval
    p50_ms: float


@dataclass(frozen=True, slots=True)
class TuningProposal:
    """A change that is better on both halves; `before` and `after` are values by key and times in milliseconds."""

    name: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    chosen: Interval
    confirmed: Interval
    before_ms: float
    after_ms: float


@dataclass(frozen=True, slots=True)
class Tuning:
    """The result of tuning: the current value of the measure, what was tried, and the proposal, if any.

    `reason` says why there is no proposal; it is empty if there is one.
    """

    set_id: str
    set_version: int
    tests: Tested
    measure: str
    chosen_on: int
    confirmed_on: int
    current: Interval
    current_ms: float
    tried: tuple[TriedChange, ...]
    proposal: TuningProposal | None
    reason: str
    notes: tuple[str, ...] = ()


async def tune(
    pincite: AsyncPincite,
    questions: EvaluationSet,
    candidates: Sequence[Candidate],
    *,
    caller: Caller = LOCAL,
    report: Report,
) -> Tuning:
    """Try each change on the first half of a set, and the best one on the second half.

    A change is proposed only if its paired 95 % interval excludes zero on both halves.
    """
    settings = pincite.settings
    choosing, confirming = split(questions)
    counted = _StepReport(report, len(choosing) * (len(candidates) + 1) + 2 * len(confirming))
    baseline = Variant(UNCHANGED, settings)
    first = await _try(pincite, baseline, choosing, caller, counted)
    tried = [(one, await _try(pincite, one.variant, choosing, caller, counted)) for one in candidates]
    measure = next(iter(first.scores))
    best = _best(first, tried, measure)
    proposal, reason = None, "no change is better beyond noise"
    if best is not None:
        candidate, trial = best
        before = await _try(pincite, baseline, confirming, caller, counted)
        after = await _try(pincite, candidate.variant, confirming, caller, counted)
        confirmed = after.against(before, measure)
        if confirmed.verdict == "better":
            reason, chosen = "", trial.against(first, measure)
            proposal = _proposal(settings, candidate, chosen, confirmed, (before.p50_ms, after.p50_ms))
        else:
            reason = f"{candidate.name} is better on the first half only; the second half does not confirm it"
    return Tuning(
        questions.id,
        questions.version,
        questions.tests,
        measure,
        len(choosing),
        len(confirming),
        first.mean(measure),
        first.p50_ms,
        tuple(TriedChange(one.name, one.changes, trial.against(first, measure), trial.p50_ms) for one, trial in tried),
        proposal,
        reason,
        first.notes,
    )


async def find_set(
    pincite: AsyncPincite, set_id: str | None, *, caller: Caller = LOCAL, report: Report | None = None
) -> tuple[EvaluationSet, tuple[str, ...]]:
    """Return the named set, or the newest imported one, or the newest; also notes on what it measures.

    If there is none and `report` is given, a set is made from the documents.
    """
    stored, scope = pincite.questions.evaluations, await pincite.scope(caller)
    if set_id is None:
        set_id = next((one.id for one in await stored.list_sets(scope) if one.tests == "answers"), None)
    try:
        found = await stored.get_set(scope, set_id)
        return found, () if found.tests == "answers" else (SEARCH_ONLY,)
    except NotFound:
        if set_id is not None or report is None:
            raise
    made, notes = await make_set(pincite, EvalRequest(), caller=caller, report=report)
    return made, (SEARCH_ONLY, *notes)


async def apply(pincite: AsyncPincite, proposal: TuningProposal, *, caller: Caller = LOCAL) -> SettingsOutcome:
    """Store the proposed change for all processes, as one batch that can be undone."""
    return await pincite.admin.settings.set(proposal.after, caller)


def split(questions: EvaluationSet) -> tuple[Questions, Questions]:
    """Split a set into two halves with about the same kinds of questions, always in the same way."""
    usable: Questions = questions.asked or [one for one in questions.questions if one.current]
    if len(usable) < MIN_QUESTIONS:
        raise Invalid(
            f"tuning needs at least {MIN_QUESTIONS} questions to tell a change from noise (the set has {len(usable)})"
        )
    ordered: Any = sorted(usable, key=lambda one: (one.kind, hashlib.sha256(one.text.encode()).digest()))
    return ordered[0::2], ordered[1::2]


async def _try(pincite: AsyncPincite, variant: Variant, questions: Questions, caller: Caller, report: Report) -> Trial:
    """Run the questions with the settings of a variant."""
    asked = [one for one in questions if isinstance(one, AnswerQuestion)]
    if asked:
        answers = answer_all(pincite, asked, variant.settings, caller=caller, report=report)
        return trial_of(variant, [one async for one in answers])
    placed = [(one.text, _judge(one)) for one in questions if isinstance(one, SetQuestion)]
    return await run_variant(pincite, variant, placed, caller=caller, report=report)


def _judge(question: SetQuestion) -> Judge:
    return lambda hits: judge_rank(rank_of(question, hits))


def _best(first: Trial, tried: Sequence[tuple[Candidate, Trial]], measure: str) -> tuple[Candidate, Trial] | None:
    """The change with the largest difference beyond noise, or a much faster one that is as good; the first of equals."""
    better = [one for one in tried if one[1].against(first, measure).verdict == "better"]
    if not better:
        return None
    best = max(better, key=lambda one: one[1].against(first, measure).value)
    as_good = [one for one in better if one[1].against(best[1], measure).verdict != "worse"]
    fastest = min(as_good, key=lambda one: one[1].p50_ms)
    return fastest if _is_much_faster(fastest[1], best[1]) else best


def _is_much_faster(trial: Trial, other: Trial) -> bool:
    """Whether a trial needs less than a part of another one's time, beyond noise."""
    saved = bootstrap.difference(trial.times_ms, other.times_ms)
    return trial.p50_ms < CHEAPER_FACTOR * other.p50_ms and saved.verdict == "better"


def _proposal(
    settings: Settings, candidate: Candidate, chosen: Interval, confirmed: Interval, times: tuple[float, float]
) -> TuningProposal:
    before = {key: value_of(settings, key) for key in candidate.changes}
    return TuningProposal(candidate.name, before, candidate.changes, chosen, confirmed, *times)


class _StepReport:
    """Reports the progress of all trials together."""

    def __init__(self, report: Report, total: int) -> None:
        self._report, self._total, self._done = report, total, 0

    def __call__(self, progress: Progress) -> None:
        """Count one question."""
        self._done += 1
        self._report(Progress("asking", self._done, self._total, 0.0, of="question"))
