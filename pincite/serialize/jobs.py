"""Jobs, the queue and remote sources as JSON."""

from dataclasses import asdict

from pincite.core.documents.jobs import CancelledJob, EndedJob, PastJob, QueuedJob, QueueSummary
from pincite.core.documents.sources import SourceResult, StoredSource
from pincite.serialize.primitives import Json, iso_time


def job_json(value: QueuedJob) -> Json:
    """A job in the queue: waiting, running or held."""
    times = {name: iso_time(getattr(value, name)) for name in ("created_at", "started_at", "not_before")}
    return asdict(value) | times


def queue_json(value: QueueSummary) -> Json:
    """The summary of the queue."""
    return asdict(value)


def ended_job_json(value: EndedJob) -> Json:
    """A job that has left the queue."""
    return asdict(value)


def past_job_json(value: PastJob) -> Json:
    """A job that ended within the last day."""
    times = {name: iso_time(getattr(value, name)) for name in ("created_at", "started_at", "ended_at")}
    return asdict(value) | {"state": "ended"} | times


def cancelled_job_json(value: CancelledJob) -> Json:
    """A job that was cancelled."""
    return asdict(value) | {"cancelled": True}


def source_json(source: StoredSource) -> Json:
    """A source without its owner; credentials are not stored, only the name of their variable."""
    times = {name: iso_time(getattr(source, name)) for name in ("started_at", "finished_at", "created_at")}
    fields = asdict(source) | times | {"options": dict(source.options)}
    del fields["owner"]
    return fields


def source_result_json(result: SourceResult) -> Json:
    """The result of a synchronisation."""
    return asdict(result) | {"refused": [{"name": name, "reason": reason} for name, reason in result.refused]}
