"""Tunings of settings as the documented JSON."""

from pincite.core.evaluations import Interval, StoredTuning
from pincite.evaluate.report import interval_json
from pincite.evaluate.tune import TriedChange, Tuning, TuningProposal
from pincite.serialize.primitives import Json, iso_time


def tuning_json(value: Tuning) -> Json:
    """The result of a tuning: the current figures, what was tried, and the proposal."""
    return {
        "set_id": value.set_id,
        "set_version": value.set_version,
        "tests": value.tests,
        "measure": value.measure,
        "questions": {"chosen_on": value.chosen_on, "confirmed_on": value.confirmed_on},
        "current": interval_json(value.current) | {"p50_ms": round(value.current_ms, 2)},
        "tried": [_tried_json(one) for one in value.tried],
        "proposal": None if value.proposal is None else _proposal_json(value.proposal),
        "reason": value.reason,
        "notes": list(value.notes),
    }


def stored_tuning_json(value: StoredTuning) -> Json:
    """A stored tuning: its progress, and its result once it is done."""
    return {
        "id": value.id,
        "set_id": value.set_id,
        "set_version": value.set_version,
        "status": value.state,
        "progress": round(value.progress, 4),
        "started_at": iso_time(value.started_at),
        "finished_at": iso_time(value.finished_at),
        "error": value.error,
        "result": None if value.result is None else dict(value.result),
    }


def _tried_json(value: TriedChange) -> Json:
    return {
        "name": value.name,
        "settings": dict(value.changes),
        "difference": _difference_json(value.difference),
        "p50_ms": round(value.p50_ms, 2),
    }


def _proposal_json(value: TuningProposal) -> Json:
    return {
        "name": value.name,
        "before": dict(value.before),
        "after": dict(value.after),
        "chosen": _difference_json(value.chosen),
        "confirmed": _difference_json(value.confirmed),
        "p50_ms": {"before": round(value.before_ms, 2), "after": round(value.after_ms, 2)},
    }


def _difference_json(value: Interval) -> Json:
    return interval_json(value) | {"verdict": value.verdict}
