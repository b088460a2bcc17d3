"""The JSON of single operations, as types: logins, sources, pages, replays, providers and settings."""

from collections.abc import Mapping
from typing import Any

from pincite.core.documents.document import Document
from pincite.core.query.answer import Degraded
from pincite.serialize.schemas.answers import JsonModel
from pincite.serialize.schemas.responses import EvaluationSetJson


class LoginJson(JsonModel):
    """The user who has logged in; the login itself is a cookie."""

    id: str
    role: str


class LoginWaysJson(JsonModel):
    """How users log in; `user` is the one of this browser's login, or null."""

    oidc: Any
    setup: bool
    user: dict[str, Any] | None


class LoggedOutJson(JsonModel):
    """The login has ended."""

    logged_out: bool


class ChangedJson(JsonModel):
    """Something was changed."""

    changed: bool


class SampleQuestionJson(JsonModel):
    """A question that the sample documents answer."""

    question: str
    language: str


class SamplesJson(JsonModel):
    """The sample documents, and questions that they answer."""

    documents: list[Document]
    questions: list[SampleQuestionJson]


class WordJson(JsonModel):
    """A word of a page; it has `rect`, or `ref` where the page has cells or blocks."""

    text: str
    start: int
    end: int
    ref: str | None = None
    rect: list[float] | None = None


class PageViewJson(JsonModel):
    """A page, slide, sheet or mail part with its words; offsets are those of the version's text."""

    document_id: str
    version: str
    page: int
    of: int
    kind: str
    name: str
    width: float
    height: float
    text: str
    start: int
    end: int
    words: list[WordJson]


class PlaceJson(JsonModel):
    """A place on a page."""

    page: int
    kind: str
    name: str
    start: int
    end: int
    rects: list[list[float]]
    ref: str | None


class LocationJson(JsonModel):
    """A span of a version's text and its places on the pages."""

    document_id: str
    version: str
    start: int
    end: int
    text: str
    place: str | None
    places: list[PlaceJson]


class IntervalJson(JsonModel):
    """A mean with its 95 % interval."""

    value: float
    low: float
    high: float


class TrialJson(JsonModel):
    """One side of a comparison."""

    name: str
    measures: Mapping[str, IntervalJson]
    p50_ms: float
    p95_ms: float
    notes: list[str]


class ComparisonJson(JsonModel):
    """Two indexes compared by the same questions."""

    set: str
    documents: int
    questions: int
    trials: list[TrialJson]


class DiscardedJson(JsonModel):
    """The index that was being built is discarded."""

    discarded: Any


class CancelledJobJson(JsonModel):
    """A job that was cancelled."""

    id: int
    document_id: str
    name: str
    was: str
    serving: bool
    cancelled: bool


class CancelledStreamJson(JsonModel):
    """A stream that was cancelled."""

    id: str
    cancelled: bool


class ShareRemovedJson(JsonModel):
    """A share that has ended."""

    reference: str
    removed: bool


class FeedbackJson(JsonModel):
    """A rating of an answer."""

    answer_id: str
    trace_id: str
    person: str
    rating: str
    comment: str
    created_at: str


class MovedPassageJson(JsonModel):
    """A passage before and after a replay."""

    chunk_id: str
    document_id: str
    title: str | None
    change: str
    rank_before: int | None
    rank_after: int | None
    score_before: float | None
    score_after: float | None


class BeforeAfterJson(JsonModel):
    """A value before and after."""

    before: Any
    after: Any


class ReplayJson(JsonModel):
    """What changed between a trace and its replay."""

    replay_of: str
    trace_id: str
    changed: bool
    settings: Mapping[str, BeforeAfterJson]
    passages: list[MovedPassageJson]
    answer: dict[str, Any] | None
    confidence: BeforeAfterJson
    groundedness: BeforeAfterJson
    cited: BeforeAfterJson
    model: BeforeAfterJson
    duration_ms: BeforeAfterJson
    degraded: list[Degraded]


class QuestionSetJson(EvaluationSetJson):
    """A question set with its questions."""

    items: list[dict[str, Any]]


class SourceJson(JsonModel):
    """A remote source and its last synchronisation."""

    id: str
    name: str
    kind: str
    url: str
    folder: str
    options: Mapping[str, str]
    secret_env: str
    every_minutes: int
    state: str
    error: str | None
    documents: int
    started_at: str | None
    finished_at: str | None
    created_at: str


class RefusedJson(JsonModel):
    """A file of a source that was not added."""

    name: str
    reason: str


class SourceResultJson(JsonModel):
    """The result of a synchronisation."""

    added: int
    updated: int
    unchanged: int
    removed: int
    refused: list[RefusedJson]


class StarterJson(JsonModel):
    """A question that a document answers."""

    question: str
    document_id: str
    title: str


class ModelSettingsJson(JsonModel):
    """The language model as configured; the key itself is never shown."""

    provider: str | None
    base_url: str | None
    model: str | None
    key_set: bool
    providers: Any


class ProbeJson(JsonModel):
    """The result of trying a provider; `error` has a code and a message."""

    provider: str | None
    ok: bool
    error: dict[str, Any] | None


class ProbesJson(JsonModel):
    """The results of trying all providers."""

    llm: ProbeJson
    fallback: ProbeJson
    embedding: ProbeJson
    reranker: ProbeJson


class ServerModelJson(JsonModel):
    """A model of the configured server."""

    name: str
    window: int | None


class SettingKeyJson(JsonModel):
    """What a setting accepts."""

    key: str
    description: str
    type: str
    allowed: Any
    minimum: float | None
    minimum_excluded: bool
    maximum: float | None
    choices: list[Any]
    default: Any
    acts: str
    secret: bool
    changeable: bool
    reason: str | None
    environment: list[str]


class SettingChangeJson(JsonModel):
    """A recorded change of a setting."""

    batch: int
    kind: str
    key: str
    before: Any
    after: Any
    profile: str | None
    undoes: int | None
    undone: bool
    person: str | None
    key_id: str | None
    changed_at: str


class OpenAIModelJson(JsonModel):
    """A model in the form of OpenAI's API."""

    id: str
    object: str
