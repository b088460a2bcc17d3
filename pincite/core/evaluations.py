"""What is kept of measuring search on one's own documents: questions with their places, and runs of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

QuestionKind = Literal["heading", "definition", "phrase", "cloze", "written", "marked"]
MadeBy = Literal["words", "model"]
QuestionOrigin = Literal["words", "model", "hand"]
"""Who made a set; one made by hand grows while passages are marked."""
State = Literal["running", "done", "failed", "interrupted"]
Significance = Literal["better", "worse", "within noise"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and where it lies in 95 of 100 resamples of the questions."""

    value: float
    low: float
    high: float

    @property
    def verdict(self) -> Significance:
        """What a difference says: only an interval that leaves zero out says anything."""
        return "better" if self.low > 0 else "worse" if self.high < 0 else "within noise"


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of a document's text; where somebody marked a passage, its id."""

    document_id: str
    start: int
    end: int
    chunk_id: str | None = None

    def meets(self, other: "Place") -> bool:
        """Whether the two have a character in common."""
        return self.document_id == other.document_id and self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Sampled:
    """A passage of a served version, as questions are made from it."""

    document_id: str
    version: str
    title: str
    ordinal: int
    text: str
    start: int
    end: int
    heading_path: tuple[str, ...]
    language: str
    content_type: str

    @property
    def place(self) -> Place:
        """Where it stands."""
        return Place(self.document_id, self.start, self.end)


@dataclass(frozen=True, slots=True)
class SetQuestion:
    """A question and the place that answers it; `twins` say the same elsewhere, and finding one is as good.

    `current` is false where the document has another version now, in which the place may be another.
    """

    text: str
    kind: QuestionKind
    language: str
    place: Place
    version: str
    chunk: int
    twins: tuple[Place, ...] = ()
    id: int = 0
    current: bool = True

    @property
    def places(self) -> tuple[Place, ...]:
        """Every place that counts as found."""
        return (self.place, *self.twins)


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """Questions made from one's own documents; `version` counts one's sets. Lists leave the questions out."""

    id: str
    version: int
    made_by: QuestionOrigin
    seed: int
    size: int
    created_at: datetime
    questions: tuple[SetQuestion, ...] = ()


@dataclass(frozen=True, slots=True)
class EvaluationOutcome:
    """What a run of a set brought: measures with their intervals, each question's rank (None: not found), times.

    `relevances` is what the relevance of each question's first passage was; runs of earlier releases have none.
    """

    measures: Mapping[str, Interval]
    ranks: Mapping[int, int | None]
    p50_ms: float
    p95_ms: float
    notes: tuple[str, ...] = ()
    relevances: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One run of a set with the settings of a revision; `settings` are those that were not the default.

    There is no set while its questions are still being made.
    """

    id: str
    set_id: str | None
    set_version: int | None
    state: State
    progress: float
    revision: int
    settings: Mapping[str, Any]
    started_at: datetime
    finished_at: datetime | None = None
    error: str | None = None
    outcome: EvaluationOutcome | None = None
