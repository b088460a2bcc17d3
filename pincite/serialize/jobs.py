"""The queue as JSON."""

from dataclasses import asdict

from pincite.core.documents.jobs import CancelledJob, EndedJob, PastJob, QueuedJob, QueueSummary
from pincite.serialize.answers import Json, moment


def job(value: QueuedJob) -> Json:
    """A document that waits to be processed, or is."""
    times = {name: moment(getattr(value, name)) for name in ("created_at", "started_at", "not_before")}
    return asdict(value) | times


def queue(value: QueueSummary) -> Json:
    """The queue in numbers."""
    return asdict(value)


def ended_job(value: EndedJob) -> Json:
    """A job that is in the queue no more."""
    return asdict(value)


def past_job(value: PastJob) -> Json:
    """A job of the last day that has ended."""
    times = {name: moment(getattr(value, name)) for name in ("created_at", "started_at", "ended_at")}
    return asdict(value) | {"state": "ended"} | times


def cancelled_job(value: CancelledJob) -> Json:
    """A job that was taken out of the queue."""
    return asdict(value) | {"cancelled": True}
