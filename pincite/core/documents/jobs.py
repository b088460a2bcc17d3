"""The job queue as users see it: waiting, running and ended jobs, and the estimated time left."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pincite.core.documents.document import Failure

JobState = Literal["running", "waiting", "held"]
"""Claimed by a live worker; waiting for a worker; or held back until a user starts it."""

JobFilter = Literal["running", "waiting", "held", "ended"]
"""Which jobs to list: those in a state, or those that ended within the last day."""

INTERACTIVE_PRIORITY, BULK_PRIORITY = 0, 1
"""Priorities of jobs, lowest first: a file a user waits for is processed before files of a bulk upload."""


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """A document in the queue; `error` is the last attempt's error, `remaining_s` an estimate from the progress."""

    id: int
    document_id: str
    name: str
    folder: str
    version: str
    state: JobState
    stage: str | None
    progress: float
    priority: int
    attempts: int
    error: Failure | None
    worker: str | None
    created_at: datetime
    started_at: datetime | None
    not_before: datetime | None
    remaining_s: float | None


@dataclass(frozen=True, slots=True)
class QueueSummary:
    """The queue in numbers; rates are those of the last minute, None if no job finished in it.

    `stalled` counts the waiting jobs whose last attempt failed because a component was down.
    """

    running: int
    waiting: int
    held: int
    stalled: int
    documents_per_s: float | None
    passages_per_s: float | None
    remaining_s: float | None


@dataclass(frozen=True, slots=True)
class EndedJob:
    """A job that left the queue, and the status of its document; None if the document was removed."""

    id: int
    document_id: str
    status: str | None
    error: Failure | None


@dataclass(frozen=True, slots=True)
class PastJob:
    """A job that ended; `status` is `completed`, `error`, or `overtaken` (by a newer version)."""

    id: int
    document_id: str
    name: str
    folder: str
    version: str
    status: str
    error: Failure | None
    attempts: int
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime


@dataclass(frozen=True, slots=True)
class CancelledJob:
    """A cancelled job; `serving` is whether an earlier index of its document is still searched."""

    id: int
    document_id: str
    name: str
    was: JobState
    serving: bool
