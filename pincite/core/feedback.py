"""What somebody says of an answer they got."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

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
