"""Stored evaluations of search and answers on a user's own documents: question sets and evaluation runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

QuestionKind = Literal["heading", "definition", "phrase", "cloze", "written", "marked"]
MadeBy = Literal["words", "model"]
QuestionOrigin = Literal["words", "model", "hand", "import"]
"""How a question set was made: by rules, by a model, by hand, or by import; a set made by hand grows with each mark."""
Tested = Literal["search", "answers"]
"""What a set measures: imported sets measure answers, all others search."""
Expectation = Literal["answer", "refuse", "conflict"]
"""The expected behaviour: an answer, a refusal, or an answer that reports a contradiction between two sources."""
AnswerVerdict = Literal["right", "partly", "wrong", "wrongly refused"]
State = Literal["running", "done", "failed", "interrupted"]
Significance = Literal["better", "worse", "within noise"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and its 95 % bootstrap confidence interval over the questions."""

    value: float
    low: float
    high: float

    @property
    def verdict(self) -> Significance:
        """Whether a difference is significant: only an interval without zero is."""
        return "better" if self.low > 0 else "worse" if self.high < 0 else "within noise"


@dataclass(frozen=True, slots=True)
class Place:
    """A span of a document's text; `chunk_id` is set where a user marked a passage."""

    document_id: str
    start: int
    end: int
    chunk_id: str | None = None

    def overlaps(self, other: "Place") -> bool:
        """Whether the two spans share a character."""
        return self.document_id == other.document_id and self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class SampledPassage:
    """A passage of a served version, from which questions are generated."""

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
        """The passage's span in its document."""
        return Place(self.document_id, self.start, self.end)


@dataclass(frozen=True, slots=True)
class SetQuestion:
    """A question and the place that answers it; `twins` are places with the same text, which count as found too.

    `current` is false when the document has a newer version, in which the place may have moved.
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
class AnswerQuestion:
    """A question and what its answer must contain.

    `gold` has groups of alternative strings: one of each group must occur. `forbidden` strings must not occur. At least
    one of the `sources` (file names) must be cited, or all with `all_sources`. `turns` are earlier questions of the
    conversation, oldest first.
    """

    id: str
    text: str
    kind: str = ""
    language: str = ""
    expect: Expectation = "answer"
    gold: tuple[tuple[str, ...], ...] = ()
    forbidden: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    all_sources: bool = False
    turns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerResult:
    """The judgement of one answer: its verdict with the reason, its length in words, its confidence and its time.

    `reason` is empty for a right answer. It contains no text of the documents.
    """

    verdict: AnswerVerdict
    reason: str
    kind: str
    language: str
    words: int
    confidence: str
    ms: float


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """A set of questions about a user's documents; `version` numbers the user's sets. Lists omit the questions.

    An imported set has `asked` instead of `questions`.
    """

    id: str
    version: int
    made_by: QuestionOrigin
    seed: int
    size: int
    created_at: datetime
    questions: tuple[SetQuestion, ...] = ()
    asked: tuple[AnswerQuestion, ...] = ()

    @property
    def tests(self) -> Tested:
        """What the set measures."""
        return "answers" if self.made_by == "import" else "search"


@dataclass(frozen=True, slots=True)
class EvaluationOutcome:
    """The result of an evaluation run: metrics with intervals, the rank of each question's place, and latencies.

    A rank of None means that the place was not found. `relevances` is the relevance of each question's first passage;
    runs of earlier releases have none. A run of an imported set has `answers` by question id instead of ranks.
    """

    measures: Mapping[str, Interval]
    ranks: Mapping[int, int | None]
    p50_ms: float
    p95_ms: float
    notes: tuple[str, ...] = ()
    relevances: Mapping[int, float] = field(default_factory=dict)
    answers: Mapping[str, AnswerResult] = field(default_factory=dict)

    @property
    def tests(self) -> Tested:
        """What the run measured."""
        return "answers" if self.answers else "search"

    @property
    def questions(self) -> int:
        """The number of questions."""
        return len(self.answers) or len(self.ranks)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One run of a question set with the settings of a revision; `settings` are those that differ from the default.

    `set_id` is None while the questions are being generated.
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


@dataclass(frozen=True, slots=True)
class StoredTuning:
    """A tuning of settings on a set; `result` is its documented JSON once it is done."""

    id: str
    set_id: str
    set_version: int
    state: State
    progress: float
    started_at: datetime
    finished_at: datetime | None = None
    error: str | None = None
    result: Mapping[str, Any] | None = None
