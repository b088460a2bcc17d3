"""Question sets and runs of them as the JSON that the documentation promises."""

from collections.abc import Sequence

from pincite.core.evaluations import Evaluation, EvaluationSet, Interval, Place, SetQuestion
from pincite.evaluate.measure.calibration import Bin, reliability
from pincite.evaluate.questions.own_documents import RunDifference, compare_runs
from pincite.evaluate.report import interval_json
from pincite.serialize.answers import Json, moment, page

__all__ = ["Json", "asked", "evaluation", "evaluation_set", "page", "question", "runs"]


def evaluation_set(value: EvaluationSet) -> Json:
    """A set without its questions."""
    return {
        "id": value.id,
        "version": value.version,
        "made_by": value.made_by,
        "seed": value.seed,
        "questions": value.size,
        "created_at": moment(value.created_at),
    }


def question(value: SetQuestion) -> Json:
    """A question and the places that answer it."""
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
        "also": [_also(one) for one in value.twins],
        "current": value.current,
    }


def _also(value: Place) -> Json:
    place = {"document_id": value.document_id, "start_char": value.start, "end_char": value.end}
    return place if value.chunk_id is None else place | {"chunk_id": value.chunk_id}


def evaluation(value: Evaluation, *, ranks: bool, before: Evaluation | None = None) -> Json:
    """A run; with the rank of each question where that is wanted, and what changed since `before`."""
    told: Json = {
        "id": value.id,
        "set_id": value.set_id,
        "set_version": value.set_version,
        "status": value.state,
        "progress": round(value.progress, 4),
        "settings_revision": value.revision,
        "settings": dict(value.settings),
        "started_at": moment(value.started_at),
        "finished_at": moment(value.finished_at),
        "error": value.error,
        "questions": None,
        "measures": None,
        "p50_ms": None,
        "p95_ms": None,
        "notes": [],
    }
    if value.outcome is not None:
        outcome = value.outcome
        told |= {
            "questions": len(outcome.ranks),
            "measures": {name: interval_json(one) for name, one in outcome.measures.items()},
            "p50_ms": outcome.p50_ms,
            "p95_ms": outcome.p95_ms,
            "notes": list(outcome.notes),
        }
        if ranks:
            told["reliability"] = [_bin(one) for one in reliability(outcome)]
            told["ranks"] = [{"question_id": one, "rank": rank} for one, rank in outcome.ranks.items()]
    if before is not None and before.outcome is not None and value.outcome is not None:
        told["against"] = {"id": before.id} | _change(compare_runs(before, value))
    return told


def asked(value: Evaluation, questions: EvaluationSet) -> list[Json]:
    """The questions of a run, each with the rank it had; those of documents removed since are gone."""
    ranks = value.outcome.ranks if value.outcome else {}
    return [question(one) | {"rank": ranks[one.id]} for one in questions.questions if one.id in ranks]


def runs(
    chosen: EvaluationSet,
    done: Sequence[tuple[str, Evaluation]],
    before: Evaluation | None,
    notes: Sequence[str],
) -> Json:
    """A set and the runs just made of it: the first against the last one before, the others against the first."""
    first = done[0][1]
    told = [
        {"name": name} | evaluation(one, ranks=False, before=before if one is first else first) for name, one in done
    ]
    return {"set": evaluation_set(chosen), "evaluations": told, "notes": list(notes)}


def _bin(value: Bin) -> Json:
    numbers = {"low": value.low, "high": value.high, "questions": value.questions}
    return numbers | {"predicted": round(value.predicted, 4), "observed": interval_json(value.observed)}


def _change(value: RunDifference) -> Json:
    return {
        "questions": value.questions,
        "measures": {name: _difference(one) for name, one in value.measures.items()},
        "p50_ms": round(value.p50_ms, 3),
    }


def _difference(value: Interval) -> Json:
    return interval_json(value) | {"verdict": value.verdict}
