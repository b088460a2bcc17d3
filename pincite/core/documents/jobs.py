"""The queue as people see it: what waits, what is in hand, and how long it will take."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pincite.core.documents.document import Failure

JobState = Literal["running", "waiting", "held"]
"""In the hands of a worker that is alive; waiting for one; or held back until somebody starts it."""

JobWish = Literal["running", "waiting", "held", "ended"]
"""Which jobs to list: in one of these states, or gone from the queue within the last day."""

WAITED_FOR, LOAD = 0, 1
"""Whose turn comes first: what somebody waits for goes before what is part of a load."""


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """One document that is not done yet; `error` is how the last try ended, `remaining_s` a guess from its progress."""

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
    """The queue in numbers; rates are those of the last minute, None where nothing was finished in it.

    `stalled` are those among the waiting whose last try met a part that was down.
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
    """A job that is no longer in the queue, and what became of its document; `status` is None where that is gone."""

    id: int
    document_id: str
    status: str | None
    error: Failure | None


@dataclass(frozen=True, slots=True)
class PastJob:
    """A job that has ended, and how: its document is `completed`, an `error`, or was `overtaken` by a newer version."""

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
    """A job that was taken out of the queue; `serving` is whether an earlier indexing of its document still answers."""

    id: int
    document_id: str
    name: str
    was: JobState
    serving: bool
