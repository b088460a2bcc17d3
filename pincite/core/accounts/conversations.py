"""Stored conversations: sessions, turns, feedback and share links."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pincite.core.query.answer import Answer

Rating = Literal["up", "down"]


@dataclass(frozen=True, slots=True)
class Feedback:
    """A user's rating of an answer; `answer_id` is empty for other users, `trace_id` is the trace of the answer."""

    answer_id: str
    trace_id: str
    person: str
    rating: Rating
    comment: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class KeptTurn:
    """One stored exchange: the question as asked and as a standalone question, the answer's text, and the answer.

    `complete` is false when the answer was cut off: the model stopped, the client disconnected, or an error occurred.
    `words` is then the text up to that point, and `answer` is set only if the pipeline finished. `documents` are the
    documents the text is based on; `removed` says that one of them was removed. `rating` is the user's feedback.
    `replaces` is the trace id of the turn that gives way to a new one, with all later turns.
    """

    question: str
    standalone: str
    words: str
    answer: Answer | None
    complete: bool
    trace_id: str
    documents: tuple[str, ...] = ()
    removed: bool = False
    created_at: datetime | None = None
    rating: Rating | None = None
    replaces: str | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation of one user; lists of sessions omit the turns."""

    id: str
    title: str
    created_at: datetime
    updated_at: datetime
    turn_count: int
    turns: tuple[KeptTurn, ...] = ()


@dataclass(frozen=True, slots=True)
class Share:
    """The properties of a share link; the link itself is shown once and not stored."""

    id: str
    owner: str
    answer_id: str
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class SharedAnswer:
    """A shared answer for one reader: question, answer, and those of its sources that the reader may read."""

    id: str
    shared_by: str
    question: str
    answer: Answer
    answered_at: datetime
    created_at: datetime
    expires_at: datetime


SHARE_LINK_PREFIX = "sh_"
"""The prefix of a share link's token; 256 random bits follow."""
