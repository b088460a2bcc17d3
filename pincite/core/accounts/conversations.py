"""What is kept of a conversation: sessions and their turns."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pincite.core.query.answer import Answer

Rating = Literal["up", "down"]


@dataclass(frozen=True, slots=True)
class Feedback:
    """Whether an answer helped, by whoever asked; `answer_id` is empty for others, `trace_id` leads to how it came about."""

    answer_id: str
    trace_id: str
    person: str
    rating: Rating
    comment: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class KeptTurn:
    """One exchange as it is kept: the question as asked and as understood, the answer's words and the whole answer.

    `complete` is false where the answer was cut: the model broke off, the asker left, something failed. Then
    `words` are what had been said so far, and `answer` is there only if the pipeline came to its end.
    `documents` are those the words stand on; `removed` says that one of them is no longer there. `rating` is what the
    asker said of it, `up` or `down`.
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


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation of one person; a list of sessions leaves the turns themselves out."""

    id: str
    title: str
    created_at: datetime
    updated_at: datetime
    turn_count: int
    turns: tuple[KeptTurn, ...] = ()


@dataclass(frozen=True, slots=True)
class Share:
    """What is known about a link; never the link itself, which is shown once."""

    id: str
    owner: str
    answer_id: str
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class SharedAnswer:
    """What a link shows to one reader: the question, the answer, and of its sources what this reader may read."""

    id: str
    shared_by: str
    question: str
    answer: Answer
    answered_at: datetime
    created_at: datetime
    expires_at: datetime


SHARE_LINK_PREFIX = "sh_"
"""A link begins with it; the rest are 256 random bits, which no key or login shares."""
