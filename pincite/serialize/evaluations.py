"""Question sets and their evaluation runs as the documented JSON."""

from collections.abc import Sequence

from pincite.core.evaluations import (
    AnswerQuestion,
    AnswerResult,
    Evaluation,
    EvaluationSet,
    Interval,
    Place,
    SetQuestion,
)
from pincite.evaluate.answers import AnswerComparison
from pincite.evaluate.measure.answer_shares import AnswerSummary, summarise
from pincite.evaluate.measure.calibration import Bin, reliability
from pincite.evaluate.questions.own_documents import RunDifference, compare_runs
from pincite.evaluate.report import comparison_json, interval_json
from pincite.serialize.primitives import Json, iso_time


def evaluation_set_json(value: EvaluationSet) -> Json:
    """A question set, without its questions."""
    return {
        "id": value.id,
        "version": value.version,
        "made_by": value.made_by,
        "tests": value.tests,
        "seed": value.seed,
        "questions": value.size,
        "created_at": iso_time(value.created_at),
    }


def set_items_json(value: EvaluationSet) -> list[Json]:
    """The questions of a set."""
    return [*map(set_question_json, value.questions), *map(answer_question_json, value.asked)]


def answer_question_json(value: AnswerQuestion) -> Json:
    """A question of an imported set and what its answer must contain."""
    return {
        "id": value.id,
        "text": value.text,
        "kind": value.kind,
        "language": value.language,
        "expect": value.expect,
        "gold": [list(group) for group in value.gold],
        "forbidden": list(value.forbidden),
        "sources": list(value.sources),
        "all_sources": value.all_sources,
        "turns": list(value.turns),
    }


def set_question_json(value: SetQuestion) -> Json:
    """A question of a set and the places that answer it."""
    place = value.place
    return {
        "id": value.id,
        "text": value.text,
        "kind": value.kind,
        "language": value.language,
        "document_id": place.document_id,
        "version": value.version,
        "chunk_id": f"{place.document_id}.{value.version}.{value.chunk}",
        "start_char": place.start,
        "end_char": place.end,
        "also": [_place_json(one) for one in value.twins],
        "current": value.current,
    }


def _place_json(value: Place) -> Json:
    place = {"document_id": value.document_id, "start_char": value.start, "end_char": value.end}
    return place if value.chunk_id is None else place | {"chunk_id": value.chunk_id}


def evaluation_json(value: Evaluation, *, ranks: bool, before: Evaluation | None = None) -> Json:
    """A run; `ranks` adds the rank of each question, `before` the change since that run."""
    fields: Json = {
        "id": value.id,
        "set_id": value.set_id,
        "set_version": value.set_version,
        "status": value.state,
        "progress": round(value.progress, 4),
        "settings_revision": value.revision,
        "settings": dict(value.settings),
        "started_at": iso_time(value.started_at),
        "finished_at": iso_time(value.finished_at),
        "error": value.error,
        "tests": None,
        "questions": None,
        "measures": None,
        "p50_ms": None,
        "p95_ms": None,
        "notes": [],
    }
    if value.outcome is not None:
        outcome = value.outcome
        fields |= {
            "tests": outcome.tests,
            "questions": outcome.questions,
            "measures": {name: interval_json(one) for name, one in outcome.measures.items()},
            "p50_ms": outcome.p50_ms,
            "p95_ms": outcome.p95_ms,
            "notes": list(outcome.notes),
        }
        if outcome.answers:
            fields["answers"] = answer_summary_json(summarise(list(outcome.answers.values())))
        if ranks and outcome.answers:
            fields["results"] = [_result_json(one, result) for one, result in outcome.answers.items()]
        elif ranks:
            fields["reliability"] = [_bin_json(one) for one in reliability(outcome)]
            fields["ranks"] = [{"question_id": one, "rank": rank} for one, rank in outcome.ranks.items()]
    if before is not None and before.outcome is not None and value.outcome is not None:
        fields["against"] = {"id": before.id} | _change_json(compare_runs(before, value))
    return fields


def asked_questions_json(value: Evaluation, questions: EvaluationSet) -> list[Json]:
    """The questions of a run with their ranks or results; questions of documents removed since the run are missing."""
    ranks = value.outcome.ranks if value.outcome else {}
    answers = value.outcome.answers if value.outcome else {}
    return [
        *(set_question_json(one) | {"rank": ranks[one.id]} for one in questions.questions if one.id in ranks),
        *(
            answer_question_json(one) | _result_json(one.id, answers[one.id])
            for one in questions.asked
            if one.id in answers
        ),
    ]


def answer_summary_json(value: AnswerSummary) -> Json:
    """The shares of the verdicts by group, the answer lengths, and the shares by confidence."""
    return {
        "groups": [
            {"by": one.by, "name": one.name, "questions": one.questions}
            | {verdict: interval_json(share) for verdict, share in one.shares.items()}
            for one in value.groups
        ],
        "words": {"median": value.median_words, "p90": value.p90_words},
        "confidence": [
            {"level": one.level, "questions": one.questions, "right": interval_json(one.right)}
            for one in value.confidence
        ],
    }


def answer_comparison_json(value: AnswerComparison) -> Json:
    """The comparison of configurations, with the shares and the results of each."""
    fields = comparison_json(value.comparison)
    for trial, summary, answers in zip(fields["trials"], value.summaries, value.answers, strict=True):
        trial["answers"] = answer_summary_json(summary)
        trial["results"] = [_result_json(one.question.id, one.result) for one in answers]
    return fields


def _result_json(question_id: str, value: AnswerResult) -> Json:
    return {
        "question_id": question_id,
        "verdict": value.verdict,
        "reason": value.reason,
        "words": value.words,
        "confidence": value.confidence,
        "ms": value.ms,
    }


def runs_json(
    chosen: EvaluationSet,
    done: Sequence[tuple[str, Evaluation]],
    before: Evaluation | None,
    notes: Sequence[str],
) -> Json:
    """A set and its new runs: the first is compared with the previous run, the others with the first."""
    first = done[0][1]
    evaluations = [
        {"name": name} | evaluation_json(one, ranks=False, before=before if one is first else first)
        for name, one in done
    ]
    return {"set": evaluation_set_json(chosen), "evaluations": evaluations, "notes": list(notes)}


def _bin_json(value: Bin) -> Json:
    numbers = {"low": value.low, "high": value.high, "questions": value.questions}
    return numbers | {"predicted": round(value.predicted, 4), "observed": interval_json(value.observed)}


def _change_json(value: RunDifference) -> Json:
    return {
        "questions": value.questions,
        "measures": {name: _difference_json(one) for name, one in value.measures.items()},
        "p50_ms": round(value.p50_ms, 3),
    }


def _difference_json(value: Interval) -> Json:
    return interval_json(value) | {"verdict": value.verdict}
