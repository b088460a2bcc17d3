"""Answers shared by link, as their owner and whoever opens the link see them."""

from dataclasses import dataclass
from datetime import datetime

from pincite.core.answers import Answer


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
